"""Rules and dashboards ask for metrics that there are."""

from __future__ import annotations

import re

import pytest
import yaml

from rt4chart_collector.core.instruments import INSTRUMENTS, Instrument, InstrumentKind
from rt4chart_collector.notify.prometheus_rules import rule_file
from rt4chart_collector.notify.prometheus_rules import rules as route_rules
from tests.deploy.files import DEPLOY, read_yaml, targets

SUFFIXES = {
    InstrumentKind.COUNTER: ("",),
    InstrumentKind.GAUGE: ("",),
    InstrumentKind.HISTOGRAM: ("_bucket", "_sum", "_count"),
}
NAME = re.compile(r"\brt4chart_[a-z_]+")


def rules() -> list[dict[str, object]]:
    """All alert rules."""
    files = [read_yaml(DEPLOY / "prometheus" / name) for name in ("rules.yml", "routes.yml")]
    return [one for file in files for group in file["groups"] for one in group["rules"]]


def names(metric: Instrument) -> list[str]:
    """What Prometheus calls its series."""
    return [metric.prometheus_name + suffix for suffix in SUFFIXES[metric.kind]]


def test_every_metric_that_is_asked_for_is_told() -> None:
    """Of the service's own; another name would be a panel without data or an alert that sleeps."""
    told = {name for metric in INSTRUMENTS for name in names(metric)}
    asked = [str(one["expr"]) for one in rules()]
    asked += [one["expr"] for _, _, one in targets("prometheus")]

    found = {name for text in asked for name in NAME.findall(text)}

    assert found
    assert found - told == set()


def test_labels_that_are_asked_for_are_told() -> None:
    """Of these metrics, in `by (…)` and in braces; `instance`, `job`, `le` are Prometheus'."""
    told = {label for metric in INSTRUMENTS for label in metric.labels} | {"instance", "job", "le"}
    asked = [str(one["expr"]) for one in rules()]
    asked += [one["expr"] for _, _, one in targets("prometheus")]
    ours = [text for text in asked if NAME.search(text)]

    found = {
        label.strip()
        for text in ours
        for group in re.findall(r"by \(([^)]*)\)", text)
        for label in group.split(",")
    } | {label for text in ours for label in re.findall(r"[{,]\s*(\w+)=", text)}

    assert found - told == set()


def test_every_alert_says_what_to_do() -> None:
    """A severity, a summary and an action."""
    assert rules()
    for one in rules():
        assert set(one) <= {"alert", "expr", "for", "keep_firing_for", "labels", "annotations"}
        labels, annotations = one["labels"], one["annotations"]
        assert isinstance(labels, dict)
        assert isinstance(annotations, dict)
        assert labels["severity"] in ("warning", "critical"), one["alert"]
        assert set(annotations) == {"summary", "action"}, one["alert"]


def test_a_refused_token_is_told_where_it_shows() -> None:
    """A target that answers 401 is there, and down: the alert on absence says nothing of it."""
    advice = {str(one["alert"]): str(one["annotations"]) for one in rules()}

    assert [name for name, text in advice.items() if "401" in text] == ["Rt4chartDown"]


def test_pauses_alert_by_themselves() -> None:
    """Lag counts nothing that comes while a partition is paused, so one alert leaves it out."""
    asked = [str(one["expr"]) for one in rules() if "kafka_paused_partitions" in str(one["expr"])]

    assert len(asked) == 1
    assert "rt4chart_kafka_lag" not in asked[0]


def test_the_rules_on_routes_are_those_that_the_command_prints() -> None:
    """`rt4chart alerts rules` wrote the file; Prometheus is told to read it."""
    assert (DEPLOY / "prometheus/routes.yml").read_text() == rule_file()
    assert (
        "/etc/prometheus/routes.yml"
        in read_yaml(DEPLOY / "prometheus/prometheus.yml")["rule_files"]
    )


@pytest.mark.parametrize("threshold", [None, 0.15])
def test_the_printed_rules_are_those_that_were_meant(threshold: float | None) -> None:
    """Read as YAML they have each field as it was; a threshold adds a rule."""
    (group,) = yaml.safe_load(rule_file(threshold=threshold))["groups"]

    assert [
        (
            *(one["alert"], one["expr"], one["labels"]["severity"], one["annotations"]),
            *(one.get("for", ""), one.get("keep_firing_for", "")),
        )
        for one in group["rules"]
    ] == [
        (
            *(one.name, one.expr, one.severity, {"summary": one.summary, "action": one.action}),
            *(one.lasts, one.keeps),
        )
        for one in route_rules(threshold=threshold)
    ]


def test_alerts_have_names_of_their_own() -> None:
    """Alertmanager groups by them."""
    found = [one["alert"] for one in rules()]

    assert len(set(found)) == len(found)
