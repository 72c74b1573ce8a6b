"""Chunk attribution and chunk utilisation: which passages support at least one claim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from otel_rt4chart.verify.core.model import Claim, Finding, Passage
from otel_rt4chart.verify.findings.failure_kinds import FindingName


def supporting_passages(claims: Sequence[Claim]) -> frozenset[str]:
    """The ids of the passages that support a claim."""
    return frozenset(
        evidence.passage_id
        for claim in claims
        for evidence in claim.evidence
        if evidence.relation == "supports"
    )


def attribution(claims: Sequence[Claim], passages: Sequence[Passage]) -> Iterator[Finding]:
    """Both findings, for every answer; without passages, utilisation has no value."""
    supporting = supporting_passages(claims)
    ids = tuple(dict.fromkeys(passage.id for passage in passages))
    used = tuple(name for name in ids if name in supporting)
    yield Finding(
        FindingName.CHUNK_ATTRIBUTION,
        f"{len(used)} of {len(ids)} passages support a claim",
        passage_ids=used,
    )
    yield Finding(
        FindingName.CHUNK_UTILISATION,
        "the share of passages that support a claim",
        value=len(used) / len(ids) if ids else None,
    )
