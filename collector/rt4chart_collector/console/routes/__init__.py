"""The overview and the pages of routes."""
