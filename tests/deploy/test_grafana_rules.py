"""Grafana's alert rules: their queries run on the store and find what is wrong."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from otel_rt4chart.spans.model.verdict import Verdict
from otel_rt4chart.verify.core.model import Label
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from tests.deploy.files import DEPLOY, grafana_rules, read_yaml
from tests.rt4chart_collector.records import SECOND, verdict
from tests.rt4chart_collector.store.answers.monitored import insert_monitoring

HOUR = 3600 * SECOND
NOW = time.time_ns()
RULES = {rule["uid"].removeprefix("rt4chart-"): rule for rule in grafana_rules()}
FIRES: dict[str, Callable[[float, float], bool]] = {
    "gt": lambda value, bound: value > bound,
    "lt": lambda value, bound: value < bound,
}


def answers(count: int, *, ago_ns: int, labels: tuple[Label, ...]) -> list[Verdict]:
    """So many answers of that time, with these claims each."""
    first = ago_ns // SECOND
    start = NOW - ago_ns
    return [verdict(first + n, labels, start_ns=start) for n in range(1, count + 1)]


def firing(client: Client, rule: dict[str, Any]) -> list[dict[str, str]]:
    """The labels of what the rule finds wrong, as Grafana tells them: text columns are labels."""
    ask, judge = rule["data"]
    (condition,) = judge["model"]["conditions"]
    (bound,) = condition["evaluator"]["params"]
    fires = FIRES[condition["evaluator"]["type"]]
    found: list[dict[str, str]] = []
    for row in client.query(ask["model"]["rawSql"]).named_results():
        (value,) = [one for one in row.values() if isinstance(one, float)]
        if fires(value, bound):
            found.append({name: one for name, one in row.items() if isinstance(one, str)})
    return found


def test_an_empty_database_alarms_nobody(client: Client) -> None:
    """And is no error."""
    assert [firing(client, rule) for rule in RULES.values()] == [[]] * len(RULES)


def test_a_route_that_pages_is_named(client: Client) -> None:
    """By the last thing that the detector found."""
    (about, *_) = answers(1, ago_ns=600 * SECOND, labels=(Label.BASELESS,))
    insert_monitoring(client, about)

    (found,) = firing(client, RULES["route-drift"])

    assert (found["service"], found["route"]) == ("shop", "support")


def test_a_route_of_undecided_claims_is_named(client: Client) -> None:
    """From a number of claims on of which a share can be told."""
    labels = (Label.UNDECIDED, Label.ENTAILED)
    insert_verdicts(client, answers(20, ago_ns=600 * SECOND, labels=labels))
    assert firing(client, RULES["undecided"]) == []

    insert_verdicts(client, answers(20, ago_ns=1200 * SECOND, labels=labels))

    (found,) = firing(client, RULES["undecided"])
    assert (found["service"], found["route"]) == ("shop", "support")


def test_a_service_that_fell_silent_is_named(client: Client) -> None:
    """One that had answers in that hour a week ago and has none now."""
    before = answers(25, ago_ns=168 * HOUR + 600 * SECOND, labels=(Label.ENTAILED,))
    insert_verdicts(client, before)
    assert firing(client, RULES["no-data"]) == [{"service": "shop"}]

    insert_verdicts(client, answers(1, ago_ns=600 * SECOND, labels=(Label.ENTAILED,)))

    assert firing(client, RULES["no-data"]) == []


@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_whole(name: str) -> None:
    """It asks our database, judges what it is told, and says what to do."""
    rule = RULES[name]
    sources = read_yaml(DEPLOY / "grafana/provisioning/datasources/rt4chart.yaml")["datasources"]
    ask, judge = rule["data"]

    assert ask["datasourceUid"] in {one["uid"] for one in sources}
    assert judge["datasourceUid"] == "__expr__"
    assert (judge["model"]["type"], judge["model"]["expression"]) == ("threshold", ask["refId"])
    assert rule["condition"] == judge["refId"] == judge["model"]["refId"]
    assert rule["labels"]["severity"] in ("warning", "critical")
    assert set(rule["annotations"]) == {"summary", "action"}
    assert rule["noDataState"] in ("OK", "KeepLast")
    assert len(rule["uid"]) <= 40


def test_nothing_is_taken_for_a_variable() -> None:
    """Grafana replaces $NAME in the files that it is provisioned from."""
    path = DEPLOY / "grafana/provisioning/alerting/rt4chart.yaml"

    assert "$" not in path.read_text()
