"""Rates per route, and what they are computed from."""
