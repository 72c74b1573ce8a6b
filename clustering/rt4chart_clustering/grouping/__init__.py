"""Grouping of failures into issues: assignment, clustering, identity, proposals."""
