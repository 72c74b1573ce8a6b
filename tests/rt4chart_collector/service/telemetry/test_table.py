"""The metrics: what is documented is what is shown, and /status says the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from otel_rt4chart.core.errors import StoreError
from otel_rt4chart.verify import RulesJudge, Verifier
from rt4chart_collector.core.counters import Counters
from rt4chart_collector.service.status import Status
from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.spans import insert_spans
from rt4chart_collector.telemetry.figures import RouteFigures
from rt4chart_collector.telemetry.metric import Kind
from rt4chart_collector.telemetry.prometheus import exposition
from rt4chart_collector.telemetry.table import TABLE
from tests.rt4chart_collector.pipeline.line import BAD, GOOD, Line, spans_from
from tests.rt4chart_collector.telemetry.asked import samples

PAGE = Path(__file__).parents[4] / "docs/operations.md"
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
    return exposition(status.figures())[0].decode()


def test_page_lists_what_is_shown(line: Line) -> None:
    """Each metric with its kind, labels and meaning, in the order of the exposition."""
    documented = ROW.findall(PAGE.read_text())

    families = {
        family.name: family for family in text_string_to_metric_families(shown(line.status))
    }
    listed = []
    for metric in TABLE:
        family = families[metric.prometheus_name]
        total = "_total" if family.type == "counter" else ""
        labels = ", ".join(f"`{label}`" for label in metric.labels) or "–"
        listed.append((f"{family.name}{total}", family.type, labels, family.documentation))
        for sample in family.samples:
            assert set(sample.labels) - {"le"} == set(metric.labels)
    assert documented == listed
    assert len(families) == len(TABLE)


def test_names_follow_the_conventions() -> None:
    """A prefix, lower case, base units; none twice."""
    names = [metric.prometheus_name for metric in TABLE]

    assert all(re.fullmatch(SHAPE, name) for name in names)
    assert len(set(names)) == len(names)
    assert not [name for name in names if re.search(r"_(ms|mib|kb|minutes|total)(_|$)", name)]
    assert {one.unit for one in TABLE if one.kind is Kind.HISTOGRAM} == {"s"}


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
    line.worker._giving_up.set()
    with pytest.raises(StoreError):
        line.after(0)
    line.client.command("RENAME TABLE elsewhere TO rt4chart_claims")

    found = samples(shown(line.status))
    assert found["rt4chart_store_insert_failures_total", (("kind", "verdicts"),)] == 1
    assert found["rt4chart_store_insert_failures_total", (("kind", "spans"),)] == 0


def test_no_label_has_a_value_of_the_users(client: Client) -> None:
    """A hundred routes make no more series than one."""
    one, many = (Line(client, Verifier(RulesJudge())) for _ in range(2))
    one.send(1)
    for number in range(2, 30):
        many.send(number, route=f"route-{number}")

    assert samples(shown(one.status)).keys() == samples(shown(many.status)).keys()
    assert "route-" not in shown(many.status)


def test_routes_are_those_of_the_monitor(client: Client) -> None:
    """What it does not know of a route is not told."""
    known = RouteFigures(
        "shop",
        "support",
        claims=400,
        rate=0.06,
        undecided=0.02,
        evidence={"any": 4.0, "page": -1.5},
        thresholds={"warn": 3.5, "page": 9.1},
        detectable=0.03,
    )
    status = Status(Counters(), routes=lambda: [known, RouteFigures("shop", "new", claims=0)])

    found = samples(shown(status))

    support = (("route", "support"), ("service", "shop"))
    assert found["rt4chart_route_hallucination_rate", support] == 0.06
    assert found["rt4chart_route_undecided_ratio", support] == 0.02
    assert found["rt4chart_route_min_detectable_rise", support] == 0.03
    for name, level, value in (
        ("log_evidence", "any", 4.0),
        ("log_evidence", "page", -1.5),
        ("threshold", "warn", 3.5),
        ("threshold", "page", 9.1),
    ):
        assert found[f"rt4chart_route_drift_{name}", (("level", level), *support)] == value
    new = [name for name, labels in found if ("route", "new") in labels]
    assert new == ["rt4chart_route_claims"]
