"""The facts about an alert as its page shows them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt4chart_collector.console.alerts.alert_details import alert_details
from rt4chart_collector.core.alerts.facts import (
    AttributeValue,
    DriftEvidence,
    DriftFacts,
    GrowingIssueFacts,
    UnfaithfulAnswer,
)
from rt4chart_collector.core.alerts.stored_facts import facts_from_json
from tests.rt4chart_collector.notify.world import MINUTE, START

CHANGED = (
    AttributeValue("model", "m-2", first_seen_ns=START - 300 * MINUTE),
    AttributeValue("release", "2.4.0", first_seen_ns=START - MINUTE),
)


@pytest.mark.parametrize(
    ("log", "threshold", "said"),
    [
        (18.54, 11.01, "The evidence is 1,863 times the threshold"),
        (90.0, 11.01, "The evidence is more than a million times the threshold"),
        (11.02, 11.01, "The evidence is just at the threshold"),
        (0.12, 0.1, "12.0%, and 10.0% alerts; this rule does not consider chance"),
    ],
)
def test_the_page_says_how_certain_a_rise_is(log: float, threshold: float, said: str) -> None:
    """With chance where the rule considers it."""
    certainty = alert_details(DriftFacts(evidence=DriftEvidence(log, threshold))).certainty

    assert certainty.endswith(said)
    assert ("less than once a month" in certainty) == (threshold > 1)


def test_answers_with_the_same_claim_are_one_row() -> None:
    """With their number; the worst of them is linked."""
    answers = [
        *(UnfaithfulAnswer(trace_id=str(n), span_id="s", claim="Free  for ever.") for n in "012"),
        UnfaithfulAnswer(trace_id="9", span_id="s"),
        UnfaithfulAnswer(trace_id="8", span_id="s", claim_index=2),
        UnfaithfulAnswer(trace_id="7"),
    ]
    worst = alert_details(DriftFacts(worst_answers=tuple(answers))).worst

    assert [(one.url, one.answers) for one in worst] == [
        ("/answers/0/s", 3),
        ("/answers/9/s", 1),
        ("/answers/8/s#claim-2", 1),
        ("/answers?q=7", 1),
    ]


def test_the_change_nearest_the_rise_is_first() -> None:
    """Whatever moved most."""
    details = alert_details(DriftFacts(since_ns=START, changed=CHANGED))

    assert [change.new.attribute for change in details.changes] == ["release", "model"]


def test_figures_have_names_that_say_what_was_counted() -> None:
    """Those of a growing issue, after its title."""
    facts = GrowingIssueFacts(
        issue="7",
        title="Number differs",
        since_ns=START,
        failures_today=24.0,
        seen_today=12,
        failures_a_day_before=2.125,
        claims_today_over_before=1.5,
    )

    assert alert_details(facts).others == (
        ("title", "Number differs"),
        ("failures in the last 24 h", "24"),
        ("verified failures in the last 24 h", "12"),
        ("failures a day before that", "2.12"),
        ("claims in the last 24 h, over those of a day before", "1.5"),
    )


@given(st.dictionaries(st.sampled_from(["share_before", "share_after", "first_seen", "value"]),
                       st.none() | st.text() | st.floats() | st.integers()))  # fmt: skip
def test_any_stored_change_can_be_shown(row: dict[str, object]) -> None:
    """What another program wrote does not break the page."""
    rows = [row, 3, {"attribute": "release", "value": "2", "share_after": 1.0}]
    stored = {"since": "2030-03-17T17:46:40Z", "changed": rows}

    assert len(alert_details(facts_from_json("route_drift", stored)).changes) == 2
