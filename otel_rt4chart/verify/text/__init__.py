"""Text with exact offsets: sentences, graphemes, citations, JSON and tables."""
