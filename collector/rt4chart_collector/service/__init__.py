"""Processes: their wiring from settings to shutdown."""
