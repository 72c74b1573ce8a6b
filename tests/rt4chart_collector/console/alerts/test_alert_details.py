"""The facts about an alert as its page shows them."""

from __future__ import annotations

import pytest

from rt4chart_collector.console.alerts.alert_details import alert_details
from rt4chart_collector.core.alerts.facts import (
    DriftEvidence,
    DriftFacts,
    GrowingIssueFacts,
    UnfaithfulAnswer,
)


@pytest.mark.parametrize(
    ("log", "threshold", "said"),
    [
        (18.54, 11.01, "1,863 times the threshold of an alert"),
        (90.0, 11.01, "more than a million times the threshold of an alert"),
        (11.02, 11.01, "just at the threshold of an alert"),
        (0.12, 0.1, "12.0%, and 10.0% alerts; this rule does not consider chance"),
    ],
)
def test_the_page_says_how_certain_a_rise_is(log: float, threshold: float, said: str) -> None:
    """As its multiple of the threshold, where the rule considers chance."""
    certainty = alert_details(DriftFacts(evidence=DriftEvidence(log, threshold))).certainty

    assert certainty.endswith(said)


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


def test_figures_have_names_that_say_what_was_counted() -> None:
    """Those of a growing issue, after its title."""
    facts = GrowingIssueFacts(
        issue="7",
        title="Number differs",
        since_ns=0,
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
