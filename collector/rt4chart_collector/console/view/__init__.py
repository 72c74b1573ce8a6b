"""What all pages share: tables, charts, formats, URLs."""
