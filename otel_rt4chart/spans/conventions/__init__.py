"""The tables of every convention: which attribute says what."""
