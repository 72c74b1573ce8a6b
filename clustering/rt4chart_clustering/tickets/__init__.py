"""Tickets in other systems: one for each issue and system; we never close them."""
