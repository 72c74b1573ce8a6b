"""The report on a period, as one self-contained HTML file."""
