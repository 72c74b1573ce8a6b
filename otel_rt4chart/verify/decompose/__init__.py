"""Answers into claims by rule, and the checks on any decomposition."""
