"""The evidence of a rise in words: none, some or strong."""

from __future__ import annotations

from rt4chart_collector.core.alerts.facts import DriftEvidence

# By the state of a route's detector; any other state is none.
EVIDENCE_WORDS = {"": "none", "warn": "some", "page": "strong"}
EVIDENCE_HINTS = {
    "": "the rate is as usual, as far as can be told",
    "warn": "chance alone produces as much at most once a week",
    "page": "chance alone produces as much less than once a month on all routes together",
}


def evidence_kind(state: str) -> str:
    """The key of the words for a detector's state."""
    return state if state in EVIDENCE_WORDS else ""


def alert_evidence(evidence: DriftEvidence | None) -> str:
    """The key of the words for an alert's own evidence, which reached its threshold."""
    return "page" if evidence is not None and evidence.log >= evidence.threshold else ""
