"""The console's pages of issues, their map, and eval sets."""
