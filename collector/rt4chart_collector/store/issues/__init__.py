"""Failures, issues and eval sets."""
