"""`rt4chart alerts`."""
