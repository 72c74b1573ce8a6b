"""Facts about alerts as JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.core.alerts.alert import Rule
from rt4chart_collector.core.alerts.facts import (
    AlertFacts,
    AttributeValue,
    BacklogFacts,
    CorrectedRateFacts,
    DriftEvidence,
    DriftFacts,
    FailureGrowth,
    GrowingIssueFacts,
    IssueFacts,
    IssueShare,
    JudgeDriftFacts,
    JudgeFacts,
    MeasuredRate,
    NewIssueFacts,
    NoDataFacts,
    NoteFacts,
    PointsRange,
    QualityChange,
    RiseParts,
    UndecidedFacts,
    UnfaithfulAnswer,
)
from rt4chart_collector.core.alerts.stored_facts import FACTS, facts_from_json, facts_to_json

START = 1_900_000_000 * 10**9
AT = "2030-03-17T17:46:40Z"
DRIFT = DriftFacts(
    since_ns=START,
    before=MeasuredRate(rate=0.06, low=0.05, high=0.07, claims=8000, answers=1600, from_ns=START),
    after=MeasuredRate(rate=0.12, low=0.09, high=0.15, claims=400, answers=80),
    changed=(AttributeValue("release", "2.4.0", 0.0, 1.0, START),),
    issues=(FailureGrowth("00ab", "", 0.5, 9.0),),
    documents=(FailureGrowth("kb/1", None, 1.0, 8.0),),
    worst_answers=(
        UnfaithfulAnswer(
            trace_id="a",
            span_id="b",
            unfaithful=3,
            decided=4,
            label="baseless",
            claim_index=2,
            claim="It is free.",
        ),
    ),
    evidence=DriftEvidence(14.0, 9.1),
    verifier="v",
    parts=RiseParts(
        points=0.06,
        mix=PointsRange(0.04, 0.03, 0.05),
        quality=PointsRange(0.02, 0.01, 0.03),
        kinds=(AttributeValue("kind of question", "why", 0.1, 0.5),),
    ),
)
ISSUE: dict[str, object] = {"issue": "00ab", "title": "A", "since": AT}
GROWTH = {"failures_today": 24.0, "seen_today": 12, "failures_a_day_before": 2.5}
CASES: list[tuple[Rule, AlertFacts, dict[str, object]]] = [
    (
        Rule.ROUTE_DRIFT,
        DRIFT,
        {
            "measure": "unfaithful",
            "since": AT,
            "before": {
                "rate": 0.06,
                "low": 0.05,
                "high": 0.07,
                "claims": 8000,
                "answers": 1600,
                "from": AT,
            },
            "after": {"rate": 0.12, "low": 0.09, "high": 0.15, "claims": 400, "answers": 80},
            "changed": [
                {
                    "attribute": "release",
                    "value": "2.4.0",
                    "share_before": 0.0,
                    "share_after": 1.0,
                    "first_seen": AT,
                }
            ],
            "issues": [
                {
                    "id": "00ab",
                    "title": "",
                    "failures_an_hour_before": 0.5,
                    "failures_an_hour_after": 9.0,
                }
            ],
            "documents": [
                {"id": "kb/1", "failures_an_hour_before": 1.0, "failures_an_hour_after": 8.0}
            ],
            "worst_answers": [
                {
                    "trace_id": "a",
                    "span_id": "b",
                    "unfaithful": 3,
                    "decided": 4,
                    "label": "baseless",
                    "claim_index": 2,
                    "claim": "It is free.",
                    "misleading": 0,
                    "status": "",
                }
            ],
            "evidence": {"log": 14.0, "threshold": 9.1},
            "verifier": "v",
            "parts": {
                "points": 0.06,
                "mix": {"points": 0.04, "low": 0.03, "high": 0.05},
                "quality": {"points": 0.02, "low": 0.01, "high": 0.03},
                "time": 0.0,
                "kinds": [
                    {
                        "attribute": "kind of question",
                        "value": "why",
                        "share_before": 0.1,
                        "share_after": 0.5,
                    }
                ],
            },
        },
    ),
    (
        Rule.MISLEADING_DRIFT,
        DriftFacts(
            measure=Measure.MISLEADING,
            since_ns=START,
            worst_answers=(
                UnfaithfulAnswer(
                    trace_id="a",
                    span_id="b",
                    decided=4,
                    label="entailed",
                    claim_index=1,
                    claim="It covers imaging.",
                    misleading=2,
                    status="cherry_picked",
                ),
            ),
        ),
        {
            "measure": "misleading",
            "since": AT,
            "changed": [],
            "issues": [],
            "documents": [],
            "worst_answers": [
                {
                    "trace_id": "a",
                    "span_id": "b",
                    "unfaithful": 0,
                    "decided": 4,
                    "label": "entailed",
                    "claim_index": 1,
                    "claim": "It covers imaging.",
                    "misleading": 2,
                    "status": "cherry_picked",
                }
            ],
            "verifier": "",
        },
    ),
    (
        Rule.NEW_ISSUE,
        NewIssueFacts(
            issue="00ab",
            title="A",
            since_ns=START + 5,
            largest=(IssueShare(issue="1", title="B", service="s", route="r", share=0.5),),
        ),
        {
            **ISSUE,
            "issues": 1,
            "largest": [{"issue": "1", "title": "B", "service": "s", "route": "r", "share": 0.5}],
        },
    ),
    (Rule.REGRESSED_ISSUE, IssueFacts(issue="00ab", title="A", since_ns=START), ISSUE),
    (
        Rule.GROWING_ISSUE,
        GrowingIssueFacts(
            issue="00ab",
            title="A",
            since_ns=START,
            failures_today=24.0,
            seen_today=12,
            failures_a_day_before=2.5,
            claims_today_over_before=1.0,
        ),
        {**ISSUE, **GROWTH, "claims_today_over_before": 1.0},
    ),
    (
        Rule.UNDECIDED,
        UndecidedFacts(undecided_share=0.5, undecided=40, claims=80),
        {"undecided_share": 0.5, "undecided": 40, "claims": 80},
    ),
    (
        Rule.JUDGE_FAILING,
        JudgeFacts(verifier="v", failed_share=0.25, failed=5, answers=20, paused="timeout"),
        {"verifier": "v", "failed_share": 0.25, "failed": 5, "answers": 20, "paused": "timeout"},
    ),
    (
        Rule.JUDGE_DRIFT,
        JudgeDriftFacts(
            verifier="v",
            changes=(
                QualityChange(
                    "recall",
                    MeasuredRate(rate=0.5, low=0.4, high=0.6),
                    MeasuredRate(rate=0.25, low=0.2, high=0.3),
                ),
            ),
            labels_before=60,
            labels_after=50,
            rate_before=MeasuredRate(rate=0.125, claims=60),
        ),
        {
            "verifier": "v",
            "changes": [
                {
                    "name": "recall",
                    "before": {"rate": 0.5, "low": 0.4, "high": 0.6, "claims": 0, "answers": 0},
                    "after": {"rate": 0.25, "low": 0.2, "high": 0.3, "claims": 0, "answers": 0},
                }
            ],
            "labels_before": 60,
            "labels_after": 50,
            "rate_before": {"rate": 0.125, "claims": 60, "answers": 0},
        },
    ),
    (
        Rule.CORRECTED_RATE,
        CorrectedRateFacts(limit=0.05, rate=MeasuredRate(rate=0.125, claims=60), verifier="v"),
        {
            "limit": 0.05,
            "rate": {"rate": 0.125, "claims": 60, "answers": 0},
            "covered": 1.0,
            "verifier": "v",
        },
    ),
    (
        Rule.BACKLOG,
        BacklogFacts(waiting=2, dead_last_hour=1, verifier="v, w"),
        {"waiting": 2, "dead_last_hour": 1, "verifier": "v, w"},
    ),
    (
        Rule.NO_DATA,
        NoDataFacts(expected_answers=30, last_answer_ns=None),
        {"expected_answers": 30, "last_answer": None},
    ),
    (Rule.TEST, NoteFacts(what="This is a test."), {"what": "This is a test."}),
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
KEYS = sorted({key for _, _, stored in CASES for key in stored})


@pytest.mark.parametrize(("rule", "facts", "stored"), CASES, ids=[one[0] for one in CASES])
def test_facts_are_the_same_after_they_were_stored(
    rule: Rule, facts: AlertFacts, stored: dict[str, object]
) -> None:
    """Under the keys that are stored since version 0.1.0."""
    assert facts_to_json(facts) == stored
    assert facts_from_json(rule, json.loads(json.dumps(stored))) == facts
    assert {case[0] for case in CASES} == set(FACTS) == set(Rule)


def test_unknown_facts_are_kept() -> None:
    """Beside those that are known, for a rule of a newer version, and for no facts at all."""
    stored = {"waiting": 2, "dead_last_hour": 1, "verifier": "v", "oldest": {"s": 30}}
    facts = facts_from_json("backlog", stored)

    assert facts == BacklogFacts(
        waiting=2, dead_last_hour=1, verifier="v", unknown={"oldest": {"s": 30}}
    )
    assert facts_to_json(facts) == stored
    assert facts_from_json("newer", stored) == AlertFacts(unknown=stored)
    assert facts_from_json("backlog", {}) == AlertFacts()


def test_malformed_facts_count_as_missing() -> None:
    """Rows of another form are left out; without a fact that is needed, all are unknown."""
    drift = {"before": 7, "since": "soon", "changed": [3, {"value": 9, "share_after": 1}]}
    backlog = {"waiting": "many", "dead_last_hour": 1, "verifier": "v"}

    assert facts_from_json("route_drift", drift) == DriftFacts(
        changed=(AttributeValue(share_after=1.0),)
    )
    assert facts_from_json("backlog", backlog) == AlertFacts(unknown=backlog)


@given(st.sampled_from(Rule), st.dictionaries(st.sampled_from(KEYS), JSON))
def test_any_stored_facts_can_be_read(rule: Rule, stored: dict[str, object]) -> None:
    """And written again, to what is read as the same."""
    facts = facts_from_json(rule, stored)

    assert isinstance(facts, AlertFacts)
    assert json.dumps(facts_to_json(facts))
