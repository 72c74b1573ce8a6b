"""Rows of one verifier's claims with the verdicts of another."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.rates.population import stratum_of
from rt4chart_collector.store.labels.current_claims import CurrentClaim, CurrentClaims
from rt4chart_collector.store.labels.drawn_claims import ClaimVerdictRow, claim_hash

VERDICTS = st.tuples(
    st.sampled_from((Label.ENTAILED, Label.BASELESS, Label.UNDECIDED)), st.floats(0, 1)
)


def row_of(number: int, label: Label, confidence: float) -> ClaimVerdictRow:
    """A drawn claim of the former verifier."""
    return ClaimVerdictRow(
        start_ns=1,
        trace_id="t",
        span_id="s",
        service="shop",
        route="support",
        verifier="old/1",
        claim=number,
        text_hash=claim_hash(f"Claim {number}."),
        judge_label=label,
        confidence=confidence,
        weight=4.0,
        draw="d",
        stratum=stratum_of(label),
        rank=0.5,
        rate=0.1,
        probability=0.25,
    )


def current(row: ClaimVerdictRow) -> CurrentClaim:
    """The claim of the row with its verdict."""
    return CurrentClaim(
        row.trace_id, row.span_id, row.claim, row.text_hash, row.judge_label, row.confidence
    )


@settings(deadline=None, max_examples=30)
@given(st.lists(VERDICTS, min_size=1, max_size=6))
def test_the_same_claims_under_another_name_change_the_name_alone(
    verdicts: list[tuple[Label, float]],
) -> None:
    """Verdict, stratum, weight and probability stay."""
    rows = [row_of(at, *verdict) for at, verdict in enumerate(verdicts)]
    claims = CurrentClaims("new/1", map(current, rows), {("t", "s"): 4.0})

    assert [claims.with_verdict(row) for row in rows] == [
        replace(row, verifier="new/1") for row in rows
    ]


@settings(deadline=None, max_examples=30)
@given(VERDICTS, VERDICTS, st.integers(0, 9), st.floats(1, 100))
def test_a_claim_is_found_by_its_text_and_has_the_new_verdict(
    old: tuple[Label, float], new: tuple[Label, float], number: int, weight: float
) -> None:
    """Its probability is that of the draw; its answer is in both samples with the lower rate."""
    row = row_of(3, *old)
    moved = replace(row_of(number, *new), text_hash=row.text_hash)
    claims = CurrentClaims("new/1", [current(moved)], {("t", "s"): weight})

    assert claims.with_verdict(row) == replace(
        row,
        verifier="new/1",
        claim=number,
        judge_label=new[0],
        confidence=new[1],
        stratum=stratum_of(new[0]),
        weight=max(weight, 4.0),
    )


def test_another_text_is_another_claim() -> None:
    """Also with the same number in the same answer; the answer counts as judged."""
    row = row_of(0, Label.ENTAILED, 0.9)
    other = replace(row, text_hash=claim_hash("Another claim."))
    claims = CurrentClaims("new/1", [current(other)], {("t", "s"): 4.0})

    assert claims.with_verdict(row) is None
    assert claims.is_judged(row)
    assert not claims.is_judged(replace(row, span_id="unknown"))
