"""Defaults and names that the command line shows, known without an import of the code."""

from __future__ import annotations

# The fewest failures that make an issue.
MIN_SIZE = 5
# The failures of an issue whose evidence is searched for.
EXPLAINED_FAILURES = 10_000
# The limits of the model that explains an issue.
MAX_TURNS = 30
MAX_TOKENS = 200_000
TICKET_SYSTEMS = ("github", "linear", "jira", "slack", "pagerduty", "webhook")
