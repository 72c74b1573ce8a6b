"""A message says what is wrong in lines that every service can show."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rt4chart_collector.alerts.alert import Alert
from rt4chart_collector.alerts.due import What
from rt4chart_collector.alerts.message import lasted
from tests.rt4chart_collector.alerts.made import ALERT, told
from tests.rt4chart_collector.alerts.world import HOUR, MINUTE, START

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=7)
        | st.dictionaries(st.sampled_from(["rate", "low", "high", "x_before", "at_ns"]), inner)
    ),
    max_leaves=12,
)


def test_a_message_has_rates_with_their_intervals_and_numbers() -> None:
    """Each fact on a line, then the link."""
    assert told().body.split("\n") == [
        "service: shop",
        "route: billing",
        "since: 2030-03-17T17:46:40Z",
        "before: 6.1% (5.5% to 6.7%), 8000 claims in 1600 answers",
        "after: 12.0% (9.0% to 15.0%), 400 claims in 80 answers",
        "issues: 00000000000000ab, Number differs, claims 12",
        f"worst answers: trace id {'a' * 32}, unfaithful 3",
        f"https://rt4chart.example/alerts/{ALERT.id}",
    ]


def test_what_users_were_told_stays_in_the_house() -> None:
    """Unless the settings allow it to leave."""
    assert "free for ever" not in told().body
    assert "claim It is free for ever." in told(with_texts=True).body


def test_the_first_line_says_what_became_of_it() -> None:
    """How bad, or who took it on, or how long it lasted."""
    title = "Answers of shop billing got worse"

    assert [told(what=what).headline for what in What] == [
        f"critical: {title}",
        f"now critical: {title}",
        f"still critical after 1 h 0 min: {title}",
        f"acknowledged by ann: {title}",
        f"resolved after 1 h 0 min: {title}",
    ]


def test_before_and_after_stand_together() -> None:
    """With shares in percent, and names that say nothing left out."""
    changed = [{"attribute": "model", "value": "m-2", "share_before": 0.0, "share_after": 1.0}]
    alert = Alert("route_drift", "error", facts={"changed": changed}, starts_ns=START)

    assert dict(told(alert).lines)["changed"] == "model, m-2, share 0.0% → 100.0%"


@pytest.mark.parametrize(
    ("at_ns", "shown"),
    [
        (START, "2030-03-17T17:46:40Z"),
        (-1, "1970-01-01T00:00:00Z"),
        (10**40, "9999-12-31T23:59:59Z"),
    ],
)
def test_times_are_told_in_utc(at_ns: int, shown: str) -> None:
    """Also those that no calendar has: a fact is no reason to tell nobody."""
    message = told(Alert("no_data", "error", facts={"last_ns": at_ns}, starts_ns=at_ns))

    assert dict(message.lines) == {"since": shown, "last ns": shown}


def test_spans_are_told_in_two_units() -> None:
    """Days and hours, hours and minutes, minutes."""
    spans = (0, 59 * MINUTE, 90 * MINUTE, 49 * HOUR)

    assert [lasted(START, START + span) for span in spans] == [
        *("0 min", "59 min", "1 h 30 min", "2 d 1 h")
    ]


@settings(max_examples=60)
@given(st.dictionaries(st.text(), JSON, max_size=25), st.text())
def test_any_facts_make_bounded_printable_lines(facts: dict[str, object], title: str) -> None:
    """Whatever they hold: a fact is no way to write a second line, or a long one."""
    message = told(Alert("backlog", "info", title=title, facts=facts, starts_ns=START))

    assert len(message.lines) <= 24
    for text in (message.headline, *(part for pair in message.lines for part in pair)):
        assert text.isprintable()
        assert len(text) <= 520
