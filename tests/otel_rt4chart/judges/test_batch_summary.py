from __future__ import annotations

from dataclasses import replace

import pytest

from otel_rt4chart.judges.batch import MAX_FAILURES_IN_A_ROW, BatchSummary, undecided_lines
from otel_rt4chart.verify.core.evidence import and_join
from otel_rt4chart.verify.core.model import (
    Action,
    Advice,
    AnswerRange,
    CheckPlan,
    Claim,
    ClaimStatus,
    Label,
    Report,
)
from otel_rt4chart.verify.core.rates import Measure
from otel_rt4chart.verify.findings.statuses import with_statuses

E, C, B, U, N = (
    Label.ENTAILED,
    Label.CONTRADICTED,
    Label.BASELESS,
    Label.UNDECIDED,
    Label.NOT_A_CLAIM,
)


def report(*labels: Label, by: str = "openai/m/1", reason: str = "m: no reply") -> Report:
    """A report with claims of these labels, decided by that judge."""
    claims = tuple(
        Claim("x", label, label, 1.0, "decompose" if label is N else by, "attribute",
              AnswerRange(0, 1), 0, reason=reason if label is U else "")
        for label in labels
    )  # fmt: skip
    return Report(and_join(labels), with_statuses(claims, (), CheckPlan()), by)


def summary(*reports: Report) -> BatchSummary:
    """The count of these reports."""
    counted = BatchSummary()
    for one in reports:
        counted.add(one)
    return counted


def test_the_summary_has_labels_rate_interval_and_reasons() -> None:
    """Shares are of all claims, the rate is of the decided; what is no claim counts nowhere."""
    lines = list(summary(report(E, E, C, N), report(E, B, U), report()).lines())

    assert lines[0] == (
        "6 claims: 3 entailed (50%), 1 contradicted (17%), 1 baseless (17%), 1 undecided (17%)"
    )
    assert lines[1].startswith("unfaithful rate 40.0% of 5 decided claims (95% interval ")
    assert lines[2].startswith("misleading rate 0.0% of 5 decided claims (95% interval 0.0% to ")
    assert lines[3:] == ["undecided: 1 × m: no reply"]


def test_the_rates_count_their_own_claims_alone() -> None:
    """Of four decided claims one is contradicted and another leaves out a qualifier."""
    told = report(E, E, E, C)
    dropped = replace(told.claims[0], status=ClaimStatus.QUALIFIER_DROPPED)
    told = replace(told, claims=(dropped, *told.claims[1:]), advice=Advice(Action.REVISE))

    counted = summary(told)

    assert {one: counted.rate(one).value for one in Measure} == {
        Measure.UNFAITHFUL: 0.25,
        Measure.MISLEADING: 0.25,
        Measure.EITHER: 0.5,
    }
    assert "answers: 0 accept, 1 revise, 0 escalate" in counted.lines()


def test_frequent_reasons_come_first_and_rare_ones_together() -> None:
    """They are untrusted: no control character reaches the terminal."""
    counted = summary(
        report(U, U, U, reason="often\x1b[2J"),
        report(U, U, reason="less"),
        *(report(U, reason=f"rare {n}") for n in range(3)),
    )

    assert list(undecided_lines(counted.reasons)) == [
        "undecided: 3 × often [2J",
        "undecided: 2 × less",
        "undecided: 1 × rare 0",
        "undecided: 2 × other reasons",
    ]


@pytest.mark.parametrize(("labels", "warns"), [((E, U), False), ((E, U, U), True), ((), False)])
def test_more_undecided_than_decided_is_a_warning(labels: tuple[Label, ...], warns: bool) -> None:
    """A rate of few of the claims is easily misread."""
    assert any(line.startswith("warning:") for line in summary(report(*labels)).lines()) is warns


def test_a_judge_that_fails_for_answers_in_a_row_is_hopeless() -> None:
    """One word from it, and it is not; an answer without claims says nothing about it."""
    failed = [report(U)] * (MAX_FAILURES_IN_A_ROW - 1)

    assert not summary(*failed).is_hopeless
    assert not summary(*failed, report(U, E), report(U)).is_hopeless
    assert summary(*failed, report(N), report(U)).is_hopeless


@pytest.mark.parametrize(
    ("reason", "by"),
    [
        ("over_budget: 1 calls an answer", "openai/m/1"),
        ("votes without a majority: entailed, baseless", "openai/m/1"),
        ("language: passage p1 is not in English (French)", "rules/13"),
        ("no_context", "link"),
    ],
)
def test_an_undecided_claim_may_be_nobodys_failure(reason: str, by: str) -> None:
    """Then there is no reason to stop."""
    assert not summary(*[report(U, by=by, reason=reason)] * 2 * MAX_FAILURES_IN_A_ROW).is_hopeless


def test_a_judge_that_never_decides_is_silent() -> None:
    """What the local judge decided beside it does not count; who was not asked is not silent."""
    assert summary(report(U), report(E, by="rules/13")).is_silent
    assert not summary(report(U), report(E)).is_silent
    assert not summary(report(U, by="rules/13")).is_silent
