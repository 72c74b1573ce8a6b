"""Ways to a page: the palette, and saved views."""
