"""A claim's evidence, from the nested columns of its row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otel_rt4chart.verify.core.model import Evidence

# The aliases under which a SELECT gives the nested columns, in the order of Evidence's fields.
ALIASES = ("DocId", "EvidenceStart", "EvidenceEnd", "EvidenceText", "Relation")


def evidence_from_row(row: Mapping[str, Any]) -> tuple[Evidence, ...]:
    """The evidence in the order in which the judge named it."""
    return tuple(Evidence(*cells) for cells in zip(*(row[name] for name in ALIASES), strict=True))
