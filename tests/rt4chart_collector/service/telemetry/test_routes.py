"""What operators ask: who is answered, and with what."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.core.tokens import Purpose
from rt4chart_collector.service.health import QUEUE_FULL, STORE_UNREACHABLE, Health
from rt4chart_collector.service.http_routes import operations_app
from rt4chart_collector.service.status import Status
from tests.rt4chart_collector.telemetry.asked import get, samples
from tests.tokens import guard_with

TOKEN = "s3cret"  # noqa: S105 - of this test


def test_figures_ask_for_the_token_and_health_does_not() -> None:
    """Who asks whether it lives learns nothing else."""
    app = operations_app(Status(ServiceMetrics()), guard_with(read=TOKEN))

    for path in ("/metrics", "/status"):
        refused = get(app, path, "wrong")
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
        assert "RT4CHART_READ_TOKEN" in refused.text
        assert TOKEN not in refused.text
        assert get(app, path, TOKEN).status_code == 200
    assert get(app, "/healthz").text == "ok\n"
    assert get(app, "/readyz").json() == {"ready": True}
    assert get(app, "/nothing").status_code == 404


@pytest.mark.parametrize(
    ("host", "client", "code"),
    [
        ("localhost:4318", "127.0.0.1", 200),
        ("127.0.0.1:4318", "127.0.0.1", 200),
        ("[::1]:4318", "::1", 200),
        ("rt4chart:4318", "172.18.0.3", 200),
        ("rt4chart.internal:4318", "10.0.0.7", 200),
        ("evil.example:4318", "127.0.0.1", 401),
        ("evil.example", "::1", 401),
    ],
)
def test_a_foreign_name_of_this_machine_reads_nothing_without_a_token(
    host: str, client: str, code: int
) -> None:
    """A page of a stranger may give itself this address; a token closes that as well."""
    for tokens in (guard_with(), guard_with(read=TOKEN)):
        app = operations_app(Status(ServiceMetrics()), tokens)
        with TestClient(app, client=(client, 50_000)) as browser:
            header = {"host": host, "authorization": f"Bearer {TOKEN}"}
            found = [browser.get(path, headers=header) for path in ("/metrics", "/status")]
        expected = 200 if tokens.is_set(Purpose.READ) else code
        assert [one.status_code for one in found] == [expected, expected]


def test_readiness_says_the_first_reason_alone() -> None:
    """503 while any holds, and 200 again when none does."""
    health, away = Health(), [True]
    app = operations_app(Status(ServiceMetrics(), health=health), guard_with())
    health.add_check(QUEUE_FULL, lambda: True)
    health.add_check(STORE_UNREACHABLE, lambda: away[0])

    first = get(app, "/readyz")
    away[0] = False
    second = get(app, "/readyz")
    health.add_check(QUEUE_FULL, lambda: False)
    third = get(app, "/readyz")
    health.stop()
    last = get(app, "/readyz")

    assert [one.status_code for one in (first, second, third, last)] == [503, 503, 200, 503]
    assert first.json() == {"ready": False, "reason": "store_unreachable"}
    assert second.json() == {"ready": False, "reason": "queue_full"}
    assert last.json() == {"ready": False, "reason": "stopping"}


def test_thread_of_another_part_has_a_reason_too() -> None:
    """It stands behind the known ones, and in the metrics."""
    health = Health()
    health.report_death("store watch")
    status = Status(ServiceMetrics(), health=health)

    shown = samples(get(operations_app(status, guard_with()), "/metrics").text)

    assert health.reasons == ("store_watch_dead",)
    assert shown["rt4chart_unready", (("reason", "store_watch_dead"),)] == 1
    assert shown["rt4chart_unready", (("reason", "stopping"),)] == 0


@pytest.mark.parametrize(
    ("accept", "kind", "end"),
    [
        ("", "text/plain; version=", ""),
        ("text/plain", "text/plain; version=", ""),
        ("application/openmetrics-text; version=1.0.0", "application/openmetrics-text", "# EOF\n"),
    ],
)
def test_scraper_is_answered_in_its_format(accept: str, kind: str, end: str) -> None:
    """OpenMetrics where it asks for that, else Prometheus' own."""
    answer = get(operations_app(Status(ServiceMetrics()), guard_with()), "/metrics", accept=accept)

    assert answer.headers["content-type"].startswith(kind)
    assert answer.text.endswith(end)
    assert "\nrt4chart_spans_stored_total 0.0\n" in answer.text


def test_readiness_names_tables_with_damaged_parts() -> None:
    """Spans are stored all the same: the service stays ready, and says it while it is not."""
    health = Health()
    app = operations_app(Status(ServiceMetrics(), health=health), guard_with())
    health.watch_damage(lambda: {"rt4chart_claims": 2, "otel_traces": 1})

    ready = get(app, "/readyz")
    health.add_check(QUEUE_FULL, lambda: True)
    unready = get(app, "/readyz")

    named = {"damaged": ["otel_traces", "rt4chart_claims"]}
    assert (ready.status_code, ready.json()) == (200, {"ready": True, **named})
    assert unready.json() == {"ready": False, "reason": "queue_full", **named}
