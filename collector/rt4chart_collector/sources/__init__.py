"""Spans from a log that keeps them until they are dealt with, beside those that clients send."""
