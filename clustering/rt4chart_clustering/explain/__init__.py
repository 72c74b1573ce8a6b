"""Explains issues: where the evidence was lost, and a model's finding."""
