"""Failures into issues: assignment, clustering, identity, proposals."""
