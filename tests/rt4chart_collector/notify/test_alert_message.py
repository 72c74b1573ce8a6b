"""A message says what is wrong in lines that every service can show."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rt4chart_collector.core.alerts.alert import Alert, Rule
from rt4chart_collector.core.alerts.facts import GrowingIssueFacts, NoDataFacts
from rt4chart_collector.core.alerts.state import AlertEventKind, AlertState
from rt4chart_collector.core.alerts.stored_facts import facts_from_json
from rt4chart_collector.core.times import lasted
from rt4chart_collector.notify.alert_message import alert_message
from rt4chart_collector.notify.channels.message import MessageKind
from rt4chart_collector.notify.next_step import NEXT
from rt4chart_collector.notify.prometheus_rules import rules
from tests.rt4chart_collector.notify.channels.made import ALERT, FACTS, told
from tests.rt4chart_collector.notify.world import DAY, HOUR, MINUTE, START

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=7)
        | st.dictionaries(st.sampled_from(["rate", "low", "id", "value", "first_seen"]), inner)
    ),
    max_leaves=12,
)
NAMES = st.text() | st.sampled_from(["before", "changed", "issues", "since", "waiting", "what"])


def test_a_message_has_rates_with_their_intervals_and_numbers() -> None:
    """Each fact on a line, then the link."""
    assert told().body.split("\n") == [
        "service: shop",
        "route: billing",
        "unfaithful claims: 6.1% (5.5% to 6.7%), 8000 claims in 1600 answers → "
        "12.0% (9.0% to 15.0%), 400 claims in 80 answers",
        "since: 2030-03-17T17:46:40Z, 1 h 0 min ago",
        "issues that grew: Number differs",
        f"next: {NEXT[Rule.ROUTE_DRIFT]}",
        f"3 of 4 claims unfaithful: https://rt4chart.example/answers/{'a' * 32}/{'b' * 16}#claim-2",
        f"https://rt4chart.example/alerts/{ALERT.id}",
    ]


def test_a_message_says_which_part_of_a_rise_is_another_mix_of_questions() -> None:
    """Each part with its interval, the kinds that changed, and the time where it matters."""
    parts = {
        "points": 0.061,
        "mix": {"points": 0.04, "low": 0.031, "high": 0.049},
        "quality": {"points": 0.015, "low": 0.004, "high": 0.026},
        "time": 0.006,
        "kinds": [{"value": "why", "share_before": 0.1, "share_after": 0.5}],
    }
    known = facts_from_json("route_drift", {**FACTS, "parts": parts})
    alert = Alert("route_drift", "error", "shop", "billing", 0, "More", known, START)

    assert (
        "of the rise: of +6.1 points, +4.0 (+3.1 to +4.9) are another mix of questions "
        "(why 10% → 50%), +0.6 the time, and +1.5 (+0.4 to +2.6) are quality"
    ) in told(alert).body.split("\n")


def test_a_rise_of_misleading_claims_says_so_in_every_line() -> None:
    """The rate, the answers by what is wrong with them, and a field for those who read fields."""
    answer = {
        "trace_id": "a" * 32,
        "span_id": "b" * 16,
        "claim_index": 0,
        "decided": 4,
        "misleading": 2,
        "label": "entailed",
        "status": "cherry_picked",
    }
    stored = {**FACTS, "measure": "misleading", "issues": [], "worst_answers": [answer]}
    facts = facts_from_json("misleading_drift", stored)
    alert = Alert("misleading_drift", "error", "shop", "billing", 0, "More mislead", facts, START)

    message = told(alert)

    assert message.body.split("\n") == [
        "service: shop",
        "route: billing",
        "misleading claims: 6.1% (5.5% to 6.7%), 8000 claims in 1600 answers → "
        "12.0% (9.0% to 15.0%), 400 claims in 80 answers",
        "since: 2030-03-17T17:46:40Z, 1 h 0 min ago",
        f"next: {NEXT[Rule.MISLEADING_DRIFT]}",
        "cherry-picked, 2 of 4 claims misleading: "
        f"https://rt4chart.example/answers/{'a' * 32}/{'b' * 16}#claim-0",
        f"https://rt4chart.example/alerts/{alert.id}",
    ]
    assert (message.extra["measure"], message.category) == ("misleading", "misleading_drift")
    assert message.labels["alertname"] == "Rt4chartMisleadingDrift"
    assert message.subject != told().subject


def test_what_users_were_told_stays_in_the_house() -> None:
    """Unless the settings allow it to leave."""
    assert "free for ever" not in told().body
    assert "“It is free for ever.”" in told(with_texts=True).body


def test_unknown_facts_stay_in_the_house_too() -> None:
    """They may contain what users were told."""
    facts = NoDataFacts(expected_answers=3, last_answer_ns=None, unknown={"quote": ["So free."]})
    alert = Alert("no_data", "error", facts=facts)

    assert "So free." not in told(alert).body
    assert dict(told(alert, with_texts=True).facts)["quote"] == "['So free.']"


def test_the_first_line_says_what_became_of_it() -> None:
    """How bad, or who took it on, or how long it lasted."""
    title = "Answers of shop billing got worse"

    assert [told(what=what).headline for what in list(MessageKind)[:5]] == [
        f"critical: {title}",
        f"now critical: {title}",
        f"still critical after 1 h 0 min: {title}",
        f"acknowledged by ann: {title}",
        f"resolved after 1 h 0 min: {title}",
    ]


def test_the_change_nearest_the_rise_is_told() -> None:
    """What came for what, when, and which other attributes changed."""
    rows = [
        ("model", "m-2", 0.0, 1.0, "2030-03-17T12:00:00Z"),
        ("release", "2.4.0", 0.0, 1.0, "2030-03-17T17:45:00Z"),
        ("release", "2.3.0", 1.0, 0.0, "2030-03-16T17:45:00Z"),
    ]
    names = ("attribute", "value", "share_before", "share_after", "first_seen")
    changed = [dict(zip(names, row, strict=True)) for row in rows]
    stored = {"since": "2030-03-17T17:46:40Z", "changed": changed}
    facts = facts_from_json("route_drift", stored)

    assert dict(told(Alert("route_drift", "error", facts=facts)).facts)["changed"] == (
        "release 2.3.0 → 2.4.0 at 2030-03-17T17:45:00Z (0% → 100% of the answers); also model"
    )


def test_an_issue_is_told_once_and_growing_has_no_beginning() -> None:
    """Its figures are of the last 24 hours, which is no moment in which anything began."""
    facts = GrowingIssueFacts(
        issue=f"{7:016x}",
        title="A",
        since_ns=START - DAY,
        failures_today=24.0,
        seen_today=24,
        failures_a_day_before=2.123456,
        claims_today_over_before=1.0,
    )
    lines = told(Alert("growing_issue", "warning", "", "", 7, "A grows", facts, START - DAY)).facts

    assert lines == (
        ("failures in the last 24 h", "24, 2.1 a day before that"),
        ("fired", "2030-03-17T17:46:40Z, 1 h 0 min ago"),
        ("issue", f"{7:016x}"),
        ("next", NEXT[Rule.GROWING_ISSUE]),
    )


def test_three_answers_are_told_and_none_twice() -> None:
    """One for each claim; as trace ids where no console is named."""
    rows = [{"trace_id": str(one), "claim": str(min(one, 4)), "unfaithful": 1} for one in range(9)]
    facts = facts_from_json("route_drift", {"worst_answers": [rows[0], *rows, 3]})
    alert = Alert("route_drift", "error", facts=facts)

    assert [one.url[-2:] for one in told(alert).links] == ["=0", "=1", "=2"]
    state = AlertState(alert, AlertEventKind.FIRED, fired_ns=START)
    told_of = dict(alert_message(state, MessageKind.FIRED, "", START).facts)
    assert told_of["worst answers"].count("trace ") == 3


@pytest.mark.parametrize("rule", Rule)
def test_every_rule_says_what_to_do(rule: Rule) -> None:
    """In the words of the rules for Prometheus, where there is one."""
    assert dict(told(Alert(rule, "error")).facts)["next"] == NEXT[rule]
    assert {one.action for one in rules()} & set(NEXT.values()) == {
        *(NEXT[Rule.ROUTE_DRIFT], NEXT[Rule.MISLEADING_DRIFT]),
        *(NEXT[Rule.UNDECIDED], NEXT[Rule.NO_DATA]),
    }


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
    facts = NoDataFacts(expected_answers=30, last_answer_ns=at_ns)
    message = told(Alert("no_data", "error", facts=facts, starts_ns=at_ns))

    assert dict(message.facts)["last answer"] == shown
    assert dict(message.facts)["since"].startswith(f"{shown}, ")


def test_spans_are_told_in_two_units() -> None:
    """Days and hours, hours and minutes, minutes."""
    spans = (0, 59 * MINUTE, 90 * MINUTE, 49 * HOUR)

    assert [lasted(START, START + span) for span in spans] == [
        *("0 min", "59 min", "1 h 30 min", "2 d 1 h")
    ]


@settings(max_examples=60)
@given(st.sampled_from(Rule), st.dictionaries(NAMES, JSON, max_size=25), st.text())
def test_any_facts_make_bounded_printable_lines(
    rule: Rule, stored: dict[str, object], title: str
) -> None:
    """Whatever is stored: a fact cannot add a second line, or a long one."""
    facts = facts_from_json(rule, stored)
    alert = Alert(rule, "info", title=title, facts=facts, starts_ns=START)
    message = told(alert, with_texts=True)

    assert len(message.facts) <= 30
    for text in (message.headline, *(part for pair in message.facts for part in pair)):
        assert text.isprintable()
        assert len(text) <= 520


def test_a_message_names_the_tenant() -> None:
    """For receivers that pass it on; without a tenant there is no such label."""
    message = told(replace(ALERT, service="~acme/shop"))

    assert (message.labels["tenant"], message.extra["tenant"]) == ("acme", "acme")
    assert message.service == "~acme/shop"
    assert "tenant" not in told().labels
    assert "tenant" not in told().extra
