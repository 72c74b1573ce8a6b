"""Eval sets: failures that a person has approved as cases, so that they do not come back."""
