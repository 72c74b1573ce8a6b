"""An alert's facts as its page shows them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt4chart_collector.console.alerts.alert_facts import alert_facts

CHANGED = [
    {"attribute": "model", "value": "m-2", "first_seen": "2030-03-17T12:00:00Z"},
    {"attribute": "release", "value": "2.4.0", "first_seen": "2030-03-17T17:45:00Z"},
]


@pytest.mark.parametrize(
    ("log", "threshold", "said"),
    [
        (18.54, 11.01, "the evidence is 1,863 times what pages"),
        (90.0, 11.01, "the evidence is more than a million times what pages"),
        (11.02, 11.01, "the evidence is just what pages"),
        (0.12, 0.1, "12.0 %, and 10.0 % alarms; that asks nothing of chance"),
    ],
)
def test_how_sure_a_rise_is_stands_in_words(log: float, threshold: float, said: str) -> None:
    """With chance where the rule asks for it."""
    sure = alert_facts({"evidence": {"log": log, "threshold": threshold}}).sure

    assert sure.endswith(said)
    assert ("by chance less than once a month" in sure) == (threshold > 1)


def test_answers_that_claim_the_same_are_one() -> None:
    """With their number; the worst of them is linked."""
    rows = [{"trace_id": str(n), "span_id": "s", "claim": "Free  for ever."} for n in range(3)]
    rows += [{"trace_id": "9", "span_id": "s", "claim": ""}, {"trace_id": "8", "span_id": "s"}]
    worst = alert_facts({"worst_answers": rows}).worst

    assert [(one.url, one.answers) for one in worst] == [
        *(("/answers/0/s", 3), ("/answers/9/s", 1), ("/answers/8/s", 1))
    ]


def test_the_change_nearest_the_rise_is_first() -> None:
    """Whatever moved most."""
    facts = alert_facts({"since": "2030-03-17T17:46:40Z", "changed": CHANGED})

    assert [one.attribute for one in facts.changed] == ["release", "model"]


@given(st.dictionaries(st.sampled_from(["share_before", "share_after", "first_seen", "value"]),
                       st.none() | st.text() | st.floats() | st.integers()))  # fmt: skip
def test_any_change_can_be_shown(row: dict[str, object]) -> None:
    """What another program wrote is no reason to show no page."""
    facts = alert_facts({"since": "2030-03-17T17:46:40Z", "changed": [row, 3, *CHANGED]})

    assert len(facts.changed) in (2, 3)
