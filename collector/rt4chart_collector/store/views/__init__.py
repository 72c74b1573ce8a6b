"""Views of the console that people saved."""
