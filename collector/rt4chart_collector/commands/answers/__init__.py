"""Commands that show single answers."""
