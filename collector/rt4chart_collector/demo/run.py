"""The main path of the demo: run the service and an application, then read the database."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

from rich.progress import Progress

from otel_rt4chart.core.errors import SettingsError
from rt4chart_collector.demo.labels import LabelAgreement, read_labels
from rt4chart_collector.demo.people import (
    corrected_lines,
    label_drawn_claims,
    people_by_route,
)
from rt4chart_collector.demo.processes import (
    run_application,
    run_json_command,
    service,
    wait_until_decided,
)
from rt4chart_collector.demo.result import (
    DemoResult,
    IssueLine,
    pick_example,
    rank_agreement,
    route_line,
    total_of,
)
from rt4chart_collector.store.answers.answers import verified_answers
from rt4chart_collector.store.engine.connect import connect
from rt4chart_collector.store.rates.claim_rates import route_sums

DATA = Path(__file__).parent / "data"
MARKER = ".rt4chart-demo"
ISSUES_SHOWN = 5


def run(folder: Path, *, limit: int, bars: Progress) -> DemoResult:
    """Run the pipeline on a new database in `folder`; `limit` 0 means every answer.

    Raises RT4ChartError with what to do, SettingsError for a folder with other files.
    """
    dsn = f"chdb://{empty_database_folder(folder)}"
    asking = bars.add_task("application answers", total=None)
    verifying = bars.add_task("service verifies", total=None)
    with service(dsn, folder / "service.log") as endpoint:
        sent = run_application(
            endpoint, DATA, limit, lambda n, of: bars.update(asking, completed=n, total=of)
        )
        wait_until_decided(
            endpoint, sent, lambda n, of: bars.update(verifying, completed=n, total=of)
        )
    grouping = bars.add_task("grouping failures", total=1)
    run_json_command("cluster", "--dsn", dsn, "--json")
    label_claims(dsn)
    result = read_result(dsn)
    bars.update(grouping, completed=1)
    return result


def empty_database_folder(folder: Path) -> Path:
    """A path for a new database; only the database of an earlier demo is deleted."""
    marker = folder / MARKER
    if folder.exists() and any(folder.iterdir()) and not marker.exists():
        raise SettingsError(
            f"--folder: expected an empty folder or an earlier demo's, {folder} has other files"
        )
    folder.mkdir(parents=True, exist_ok=True)
    marker.touch()
    database = folder.resolve() / "db"
    shutil.rmtree(database, ignore_errors=True)
    return database


def label_claims(dsn: str) -> None:
    """Draw claims for labels, and label them as the data set does."""
    with connect(dsn) as client:
        stored = verified_answers(client)
        label_drawn_claims(client, read_labels(DATA), stored, now_ns=time.time_ns())


def read_result(dsn: str) -> DemoResult:
    """The results in the database, compared with the human labels."""
    issues = [
        run_json_command("issues", str(issue["id"]), "--dsn", dsn, "--json")
        for issue in run_json_command("issues", "--dsn", dsn, "--json")[:ISSUES_SHOWN]
    ]
    labels = read_labels(DATA)
    with connect(dsn) as client:
        sums = route_sums(client)
        stored = verified_answers(client)
        corrected = corrected_lines(client, stored, labels)
    people = people_by_route(stored, labels)
    known = people.get("", LabelAgreement())
    lines = tuple(route_line(line, people.get(line.route, LabelAgreement())) for line in sums)
    return DemoResult(
        routes=lines,
        total=route_line(total_of(sums), known),
        agreement=known,
        issues=tuple(issue_line(issue) for issue in issues),
        example=pick_example(stored),
        dsn=dsn,
        rank_correlation=rank_agreement((line.rate, line.people) for line in lines),
        corrected=corrected,
        corrected_rank_correlation=rank_agreement(
            (line.corrected, line.people) for line in corrected
        ),
    )


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
