"""Lists of answers that people choose and search."""
