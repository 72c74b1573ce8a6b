"""Answers of two releases, for the tests of what is compared."""

from __future__ import annotations

from dataclasses import replace

from otel_rt4chart.spans.model.verdict import Verdict
from otel_rt4chart.verify.core.model import (
    AnswerRange,
    ClaimStatus,
    Clash,
    Exchange,
    Label,
    Passage,
)
from tests.rt4chart_collector.records import NOON, SECOND, verdict

HOUR = 3600 * SECOND
GOOD, BAD, DENIED = Label.ENTAILED, Label.BASELESS, Label.CONTRADICTED
OLD, NEW = "2.3.0", "2.4.0"
RIGHT, WRONG = "The trial lasts 14 days.", "The trial lasts 30 days."


def answered(
    number: int,
    release: str,
    label: Label = GOOD,
    *,
    question: str = "",
    route: str = "support",
    start_ns: int = NOON,
    model: str = "m-1",
) -> Verdict:
    """One answer of one claim; a contradicted one says 30 days instead of 14."""
    answer = WRONG if label is DENIED else RIGHT
    one = verdict(number, [label], route=route, start_ns=start_ns, sample_rate=1.0)
    assert one.report is not None
    (claim,) = one.report.claims
    claim = replace(
        claim,
        text=answer,
        answer_range=AnswerRange(0, len(answer)),
        clashes=(Clash("number", "30 days", "14 days"),) if label is DENIED else (),
        status=ClaimStatus.SUPPORTED if label is GOOD else claim.status,
    )
    exchange = Exchange(question or f"How long is trial {number}?", (Passage("p1", RIGHT),), answer)
    return replace(
        one,
        candidate=replace(one.candidate, exchange=exchange, release=release, model=model),
        report=replace(one.report, claims=(claim,)),
    )


def bad_release() -> list[Verdict]:
    """120 answers of each release: 2 wrong in the old one, 40 in the new one."""
    return [
        answered(
            1000 * side + number,
            release,
            DENIED if number < wrong else GOOD,
            start_ns=NOON - (2 - side) * HOUR,
        )
        for side, (release, wrong) in enumerate([(OLD, 2), (NEW, 40)])
        for number in range(120)
    ]
