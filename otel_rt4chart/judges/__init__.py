"""Judges by name, the verifier around them, and what their failures mean."""
