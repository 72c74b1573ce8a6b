"""Alerts: what is wrong, what happened to it, and who is told."""
