"""Filters as people write them."""
