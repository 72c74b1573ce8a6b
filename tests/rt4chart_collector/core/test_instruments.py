"""The metrics: what is documented is what is shown, and /status says the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from otel_rt4chart.verify import RulesJudge, Verifier
from rt4chart_collector.core.instruments import (
    INSTRUMENTS,
    SPANS_STORED,
    Instrument,
    InstrumentKind,
)
from rt4chart_collector.service.status import Status
from rt4chart_collector.store.answers.spans import insert_spans
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.pipeline.line import BAD, GOOD, Line, spans_from
from tests.rt4chart_collector.telemetry.asked import samples

PAGE = Path(__file__).parents[3] / "docs/reference/metrics.md"
ROW = re.compile(r"^\| `(rt4chart_\w+)` \| (\w+) \| (.+?) \| (.+) \|$", re.MULTILINE)
SHAPE = r"rt4chart(_[a-z]+)+"


@pytest.fixture
def line(client: Client) -> Line:
    """A service that has verified two answers."""
    made = Line(client, Verifier(RulesJudge()))
    made.send(1, answer=GOOD)
    made.send(2, answer=BAD)
    return made


def shown(status: Status) -> str:
    """The exposition."""
    return status.metrics.exposition()[0].decode()


def row_of(metric: Instrument) -> tuple[str, str, str, str]:
    """The line of the documentation's table."""
    labels = ", ".join(f"`{label}`" for label in metric.labels) or "–"
    return metric.prometheus_name, metric.kind, labels, metric.description


def test_page_lists_the_table() -> None:
    """Each metric with its kind, labels and meaning, in order."""
    documented = ROW.findall(PAGE.read_text())

    expected = [row_of(metric) for metric in INSTRUMENTS]
    rows = "\n".join("| `{}` | {} | {} | {} |".format(*row) for row in expected)
    assert documented == expected, f"the table of docs/reference/metrics.md should be:\n{rows}"


# Shown by a worker of Kafka, by the monitor, for a database with damage, after grouping, and after
# the first trail.
GROUPED = tuple(f"rt4chart_grouping_{name}" for name in ("duration", "last_run", "waiting"))
ELSEWHERE = (
    "rt4chart_criteria",
    "rt4chart_kafka",
    "rt4chart_monitor_routes",
    "rt4chart_route_",
    "rt4chart_store_damaged",
    "rt4chart_trail_d",
    *GROUPED,
)


def test_what_is_shown_is_as_the_table_says(line: Line) -> None:
    """Name, kind, labels and help of each family; what no part reports is not there."""
    table = {metric.prometheus_name: row_of(metric) for metric in INSTRUMENTS}
    families = list(text_string_to_metric_families(shown(line.status)))

    found = {}
    for family in families:
        name = f"{family.name}_total" if family.type == "counter" else family.name
        labels = tuple(dict.fromkeys(label for one in family.samples for label in one.labels))
        assert set(labels) - {"le"} == set(re.findall(r"\w+", table[name][2]))
        found[name] = (name, family.type, table[name][2], family.documentation)
    missing = {name for name in table if not name.startswith(ELSEWHERE)}
    assert found == {name: table[name] for name in found}
    counted = ("requests", "failures", "tokens_refused")
    assert missing - set(found) == {f"rt4chart_{name}_total" for name in counted}


def test_names_follow_the_conventions() -> None:
    """A prefix, lower case, base units; none twice."""
    names = [metric.prometheus_name for metric in INSTRUMENTS]

    assert SPANS_STORED in INSTRUMENTS
    assert all(re.fullmatch(SHAPE, name) for name in names)
    assert len(set(names)) == len(names)
    assert not [name for name in names if re.search(r"_(ms|mib|kb|minutes)(_|$)", name)]
    histograms = [one for one in INSTRUMENTS if one.kind is InstrumentKind.HISTOGRAM]
    assert {one.unit for one in histograms} == {"s"}
    for metric in INSTRUMENTS:
        is_counter = metric.kind is InstrumentKind.COUNTER
        assert metric.prometheus_name.endswith("_total") == is_counter
        assert "_total" not in metric.name


def test_status_and_metrics_say_the_same(line: Line) -> None:
    """Answers, labels, spans and queues, from one reading each."""
    told, found = line.status(), samples(shown(line.status))

    assert told["decisions"] == {"verified": 2}
    assert found["rt4chart_answers_total", (("decision", "verified"),)] == 2
    assert found["rt4chart_answers_total", (("decision", "error"),)] == 0
    assert told["labels"] == {"contradicted": 1, "entailed": 1}
    for label in ("contradicted", "entailed"):
        assert found["rt4chart_verified_answers_total", (("label", label),)] == 1
        assert found["rt4chart_claims_total", (("label", label),)] == 1
    statuses = {"contradicted": 1, "supported": 1, "cherry_picked": 0}
    for status, number in statuses.items():
        assert found["rt4chart_claim_statuses_total", (("status", status),)] == number
    assert found["rt4chart_spans_stored_total", ()] == told["spans_stored"] == 6
    assert found["rt4chart_open_traces", ()] == told["traces_open"]
    assert found["rt4chart_work_queue_traces", ()] == told["traces_waiting"] == 0
    assert found["rt4chart_work_queue_limit", ()] == 999
    assert found["rt4chart_dead_letters", (("reason", "too_long"),)] == 0


def test_times_are_those_of_the_answers(line: Line) -> None:
    """One verification and one lag for each answer; the lag is that of the test's own clock."""
    found = samples(shown(line.status))
    judge = (("judge", Verifier(RulesJudge()).judge.id),)

    assert found["rt4chart_verification_duration_seconds_count", judge] == 2
    assert found["rt4chart_verdict_lag_seconds_count", ()] == 2
    lag = found["rt4chart_verdict_lag_seconds_sum", ()] / 2
    assert 50 < lag < 70
    assert found["rt4chart_verdict_lag_seconds_bucket", (("le", "30.0"),)] == 0
    assert found["rt4chart_verdict_lag_seconds_bucket", (("le", "+Inf"),)] == 2
    assert found["rt4chart_store_insert_duration_seconds_count", (("kind", "verdicts"),)] == 2


def test_failed_insert_is_counted(line: Line) -> None:
    """By what was to be inserted."""
    line.client.command("RENAME TABLE rt4chart_claims TO elsewhere")
    insert_spans(line.client, spans_from(3))
    line.assembler.accept(spans_from(3))
    line.giving_up.set()
    line.after(0)
    line.client.command("RENAME TABLE elsewhere TO rt4chart_claims")

    found = samples(shown(line.status))
    assert found["rt4chart_store_insert_failures_total", (("kind", "verdicts"),)] == 1
    assert found["rt4chart_store_insert_failures_total", (("kind", "spans"),)] == 0


def test_no_label_has_a_value_of_the_users(client: Client) -> None:
    """Six routes make no more series than one."""
    one, many = (Line(client, Verifier(RulesJudge())) for _ in range(2))
    one.send(1)
    for number in range(2, 8):
        many.send(number, route=f"route-{number}")

    assert samples(shown(one.status)).keys() == samples(shown(many.status)).keys()
    assert "route-" not in shown(many.status)
