"""Builds judges by name, runs them over many answers, and classifies their failures."""
