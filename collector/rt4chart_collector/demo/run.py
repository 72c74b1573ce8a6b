"""The main path of the demo: fill a new database, then read what it shows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from rt4chart_collector.core.settings import AlertSettings, MonitorSettings
from rt4chart_collector.demo.application import (
    PUBLIC,
    agreement_by_kind,
    empty_database_folder,
    group_failures,
    helpdesk_answers,
    helpdesk_routes,
    judged_answers,
    load_helpdesk,
    load_public_rows,
)
from rt4chart_collector.demo.helpdesk import SERVICE
from rt4chart_collector.demo.incident import find_incident, no_incident_error, right_failure
from rt4chart_collector.demo.labels import DATA, LabelAgreement, read_labels
from rt4chart_collector.demo.people import corrected_lines, label_claims, people_by_route
from rt4chart_collector.demo.processes import (
    run_application,
    run_json_command,
    service,
    wait_until_decided,
)
from rt4chart_collector.demo.progress import DemoProgress
from rt4chart_collector.demo.result import (
    ApplicationResult,
    DemoResult,
    IssueLine,
    pick_example,
    rank_agreement,
    route_line,
    total_of,
)
from rt4chart_collector.detect.monitor.monitor import Monitor
from rt4chart_collector.notify.alerting import Alerting
from rt4chart_collector.store.answers.answers import verified_answers
from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.rates.claim_rates import route_sums

ISSUES_SHOWN = 5
LIVE = "rag-app"


def run(folder: Path, progress: DemoProgress) -> DemoResult:
    """Load both services into a new database in `folder`, and read it.

    Raises RT4ChartError with what to do, SettingsError for a folder with other files.
    """
    dsn = f"chdb://{empty_database_folder(folder)}"
    judged = judged_answers(progress)
    with connect(dsn) as client:
        load_helpdesk(client, judged, progress)
    group_failures(dsn, progress)
    with connect(dsn) as client:
        load_public_rows(client, judged, progress)
        watched = progress.step("watching the routes")
        run_monitor_once(client)
        incident = find_incident(client)
        watched(1, 1)
    if incident is None:
        raise no_incident_error()
    step = progress.step("reading the result")
    result = read_result(dsn, PUBLIC)
    with connect(dsn) as client:
        stored = helpdesk_answers(client)
        routes = helpdesk_routes(client, stored)
    right = [one for one in stored if right_failure(one) is not None]
    traces = {one.trace_id for one in right}
    step(1, 1)
    return replace(
        result,
        issues=read_issues(dsn, SERVICE, traces),
        example=pick_example(right),
        application=ApplicationResult(incident, routes, agreement_by_kind(judged.reports)),
    )


def run_monitor_once(client: Client) -> None:
    """One round of the monitor, without messages to the user's targets."""
    monitor = Monitor(client, MonitorSettings(), Alerting(AlertSettings()))
    monitor.run_round()
    # Stopped before it runs, it only gives its lease back to the service that comes next.
    monitor.stop()
    monitor.run()


def run_live(folder: Path, progress: DemoProgress, *, limit: int) -> DemoResult:
    """Send the public rows over OTLP to a running service; `limit` 0 means every answer."""
    dsn = f"chdb://{empty_database_folder(folder)}"
    asking, verifying = progress.step("application answers"), progress.step("service verifies")
    with service(dsn, folder / "service.log") as endpoint:
        sent = run_application(endpoint, DATA, limit, asking)
        wait_until_decided(endpoint, sent, verifying)
    grouping = progress.step("grouping failures")
    run_json_command("cluster", "--dsn", dsn, "--json")
    with connect(dsn) as client:
        label_claims(client, LIVE)
    grouping(1, 1)
    return replace(read_result(dsn, LIVE), issues=read_issues(dsn, LIVE))


def read_result(dsn: str, name: str) -> DemoResult:
    """The rates of the service with the public rows, compared with the human labels."""
    labels = read_labels(DATA)
    with connect(dsn) as client:
        sums = [line for line in route_sums(client) if line.service == name]
        stored = [one for one in verified_answers(client) if one.service == name]
        corrected = corrected_lines(client, stored, labels)
    people = people_by_route(stored, labels)
    known = people.get("", LabelAgreement())
    lines = tuple(route_line(line, people.get(line.route, LabelAgreement())) for line in sums)
    return DemoResult(
        routes=lines,
        total=route_line(total_of(sums), known),
        agreement=known,
        issues=(),
        example=pick_example(stored),
        dsn=dsn,
        rank_correlation=rank_agreement((line.rate, line.people) for line in lines),
        corrected=corrected,
        corrected_rank_correlation=rank_agreement(
            (line.corrected, line.people) for line in corrected
        ),
    )


def read_issues(
    dsn: str, name: str, traces: Collection[str] | None = None
) -> tuple[IssueLine, ...]:
    """The first issues of the service, each with its first example, in one of these traces."""
    listed = run_json_command("issues", "--dsn", dsn, "--json")
    found = []
    for issue in [one for one in listed if one["service"] == name][:ISSUES_SHOWN]:
        shown = run_json_command("issues", str(issue["id"]), "--dsn", dsn, "--json")
        examples = [one for one in shown["examples"] if traces is None or one["trace_id"] in traces]
        if examples:
            found.append(issue_line(shown | {"examples": examples}))
    return tuple(found)


def issue_line(issue: dict[str, Any]) -> IssueLine:
    """An issue with its first example, from what `rt4chart issues ID --json` prints."""
    first = issue["examples"][0]
    evidence = [row["text"] for row in first["evidence"]]
    return IssueLine(
        id=str(issue["id"]),
        title=issue["title"],
        claims=issue["claims"],
        claim=first["claim"],
        sentence=evidence[0] if evidence else first["nearest"],
        is_evidence=bool(evidence),
        claimed=tuple(first["differs"]["claimed"]),
        found=tuple(first["differs"]["found"]),
    )
