"""The gateway's choice of traces is the convention tables'."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace

from otel_rt4chart.spans.conventions.ottl import RAG_KINDS, event_condition, span_condition
from otel_rt4chart.spans.reading.reader import read_span
from rt4chart_collector.store.engine.connect import CLUSTER_SETTINGS
from tests.deploy.files import DEPLOY, read_yaml
from tests.otel_rt4chart.spans.conventions.golden.all import GOLDEN

GATEWAY = DEPLOY / "otelcol/gateway.yaml"


def keys_pattern() -> re.Pattern[str]:
    """The condition's regular expression; its syntax is the same in Go's and Python's."""
    found = re.search(r'"(.*)"\)$', span_condition())
    assert found
    return re.compile(found[1].replace('\\"', '"'))


def is_told(keys: object) -> bool:
    """What the condition says of a span with these keys."""
    assert isinstance(keys, list | tuple)
    return keys_pattern().search("[" + ",".join(f'"{key}"' for key in keys) + "]") is not None


def test_gateway_has_the_condition_of_the_tables() -> None:
    """Else: `python -m otel_rt4chart.spans.conventions.ottl`, and paste it there."""
    policy = read_yaml(GATEWAY)["processors"]["tail_sampling/rag"]["policies"][0]

    assert policy["ottl_condition"]["span"] == [span_condition()]
    assert policy["ottl_condition"]["spanevent"] == [event_condition()]


def test_module_prints_both() -> None:
    """One a line."""
    done = subprocess.run(
        [sys.executable, "-m", "otel_rt4chart.spans.conventions.ottl"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.splitlines() == [span_condition(), event_condition()]


def test_golden_spans_are_told() -> None:
    """Each of a kind that matters, of every convention, unless its name alone tells the kind."""
    missed = [
        one.name
        for one in GOLDEN
        if read_span(replace(one.record, name="")).kind in RAG_KINDS
        and not is_told(tuple(one.attributes))
        and not any(f'"{event}"' in event_condition() for event, _ in one.events)
    ]

    assert missed == []


def test_other_spans_are_not() -> None:
    """A request over HTTP, a query of a database, a page view, and keys that only begin alike."""
    assert not is_told(["http.request.method", "url.full", "server.address"])
    assert not is_told(["db.system.name", "db.query.text"])
    assert not is_told(["session.id", "user.id", "input.value"])
    assert not is_told(["openinference.span.kinds", "x.rt4chart.route", "rerankers"])
    assert is_told(["rt4chart.route"])


def test_gateway_inserts_as_this_package_does() -> None:
    """On a cluster, what left its queue is stored on the shards."""
    name = "distributed_foreground_insert"
    parameters = read_yaml(GATEWAY)["exporters"]["clickhouse"]["connection_params"]

    assert parameters[name] == CLUSTER_SETTINGS[name] == "1"
