"""Triage of issues: actions, ranking, severity, filters and families."""
