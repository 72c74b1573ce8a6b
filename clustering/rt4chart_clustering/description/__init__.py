"""Descriptions of failures: fingerprint, text and vector, and the titles of issues."""
