"""Eval sets: failures that a person has approved as test cases."""
