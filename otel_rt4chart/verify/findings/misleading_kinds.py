"""The kind of a misleading claim: what its status says, told apart by what is left out."""

from __future__ import annotations

from collections.abc import Sequence

from otel_rt4chart.verify.core.model import ClaimStatus, Finding
from otel_rt4chart.verify.findings.dropped_qualifiers import restrictions
from otel_rt4chart.verify.findings.failure_kinds import (
    KIND_OF_DROPPED,
    FailureKind,
    FindingName,
)
from otel_rt4chart.verify.language.cues import cues

# Bound the time that one failure takes: alignment grows with the product of the lengths.
TEXT_LENGTH = 2_000
TEXTS = 8


def misleading_kind(
    status: ClaimStatus, sources: Sequence[str], findings: Sequence[Finding]
) -> FailureKind:
    """The kind that a status stands for, told apart by the restriction that is left out."""
    if status is ClaimStatus.CHERRY_PICKED:
        return _cherry_picked_kind(sources, findings)
    if status is ClaimStatus.QUALIFIER_DROPPED:
        named = [one.kind for one in findings if one.name == FindingName.DROPPED_QUALIFIER]
        written = [one.kind for text in sources for one in restrictions(text[:TEXT_LENGTH])]
        found = (KIND_OF_DROPPED.get(one, FailureKind.QUALIFIER) for one in named or written)
        return next(found, FailureKind.QUALIFIER)
    return _KIND_OF_STATUS.get(status, FailureKind.OTHER)


_KIND_OF_STATUS = {
    ClaimStatus.STALE: FailureKind.STALE,
    ClaimStatus.RESTATES_PREMISE: FailureKind.ECHO,
    ClaimStatus.MISCITED: FailureKind.BAD_CITATION,
}


def _cherry_picked_kind(sources: Sequence[str], findings: Sequence[Finding]) -> FailureKind:
    """An exclusion is one by its words, too: to a judge it is a contradiction like others."""
    picked = [one for one in findings if one.name == FindingName.CHERRY_PICKED]
    named = {one.kind for one in picked}
    texts = [one.text for finding in picked for one in finding.evidence] or sources
    if "exclusion" in named or is_exclusion(texts):
        return FailureKind.CHERRY_PICKED_EXCLUSION
    if named - {"contradiction", ""} or (not named and any(map(restrictions, texts))):
        return FailureKind.CHERRY_PICKED_LIMIT
    return FailureKind.CHERRY_PICKED_CONTRADICTION


def is_exclusion(texts: Sequence[str]) -> bool:
    """True if one of the texts has words that exclude something."""
    return any(any(cues(text[:TEXT_LENGTH], "exclusion")) for text in texts[:TEXTS])


def is_sycophantic(status: ClaimStatus, findings: Sequence[Finding]) -> bool:
    """True if a claim is in the answer because the question has it."""
    return status is ClaimStatus.RESTATES_PREMISE or any(
        one.name == FindingName.SYCOPHANTIC for one in findings
    )
