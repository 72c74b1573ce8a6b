"""What can be said of an answer beside its labels."""

from __future__ import annotations

from collections.abc import Sequence

from otel_rt4chart.verify.model import Claim, Finding, Passage


def find(claims: Sequence[Claim], passages: Sequence[Passage]) -> tuple[Finding, ...]:
    """Chunk attribution and chunk utilisation: which passages support at least one claim."""
    supporting = {
        evidence.passage_id
        for claim in claims
        for evidence in claim.evidence
        if evidence.relation == "supports"
    }
    ids = tuple(dict.fromkeys(passage.id for passage in passages))
    used = tuple(name for name in ids if name in supporting)
    share = len(used) / len(ids) if ids else None
    return (
        Finding("chunk_attribution", f"{len(used)} of {len(ids)} passages support a claim",
                passage_ids=used),
        Finding("chunk_utilisation", "the share of passages that support a claim", value=share),
    )  # fmt: skip
