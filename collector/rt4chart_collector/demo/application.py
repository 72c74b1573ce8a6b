"""The demo's two services: verdicts on their answers, both in a database, what it shows."""

from __future__ import annotations

import shutil
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from otel_rt4chart.bench.dataset import read_rows
from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.judges.build import build_verifier, judge_id
from otel_rt4chart.verify.core.model import Label
from rt4chart_collector.demo.helpdesk import SERVICE, Outcome, read_helpdesk
from rt4chart_collector.demo.incident import written
from rt4chart_collector.demo.labels import DATA, LabelAgreement, read_labels
from rt4chart_collector.demo.loading import RecordedRequest, load_requests
from rt4chart_collector.demo.people import label_claims
from rt4chart_collector.demo.processes import run_json_command
from rt4chart_collector.demo.progress import DemoProgress
from rt4chart_collector.demo.result import KindLine, RouteLine, route_line
from rt4chart_collector.demo.traffic import GOOD_RELEASE, plan_traffic
from rt4chart_collector.demo.verdict_cache import (
    Reports,
    exchange_key,
    read_verdicts,
    verify_all,
    write_verdicts,
)
from rt4chart_collector.store.answers.answers import StoredAnswer, verified_answers
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.rates.claim_rates import route_sums
from rt4chart_collector.store.schema.migrate import migrate

JUDGE = "local"
MARKER = ".rt4chart-demo"
PUBLIC, PUBLIC_DAYS, DAY_S = "public-rows", 3.0, 86_400.0


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


def load_helpdesk(client: Client, judged: JudgedAnswers, progress: DemoProgress) -> None:
    """Store two weeks of the help desk's answers in a new database, to which it migrates."""
    loaded = progress.step("loading the help desk")
    migrate(client)
    load_requests(client, helpdesk_requests(judged.reports), judged.judge, judged.reports, loaded)


def load_public_rows(client: Client, judged: JudgedAnswers, progress: DemoProgress) -> None:
    """Store the public rows' answers, and label some of their claims."""
    loaded = progress.step("loading public rows")
    load_requests(client, _public_requests(), judged.judge, judged.reports, loaded)
    label_claims(client, PUBLIC)


def group_failures(dsn: str, progress: DemoProgress) -> None:
    """Group the failures that are stored.

    Before the public rows come: people call some of their failures right, so they are no issues.
    """
    grouped = progress.step("grouping failures")
    run_json_command("cluster", "--dsn", dsn, "--json")
    grouped(1, 1)


@dataclass(frozen=True, slots=True)
class JudgedAnswers:
    """The judge's id, and its report on every answer of both services by its key."""

    judge: str
    reports: Reports


def judged_answers(progress: DemoProgress, *, is_renewed: bool = False) -> JudgedAnswers:
    """The judge's reports on every answer; the bundled ones unless `is_renewed`."""
    step = progress.step("verdicts")
    judge = judge_id(JUDGE)
    known = {} if is_renewed else read_verdicts(judge)
    if not known and not is_renewed:
        progress.note(
            f"The bundled verdicts are not those of {judge}: verifying all answers, "
            "which takes minutes."
        )
    exchanges = [one.exchange() for one in read_helpdesk().values()]
    exchanges += [row.exchange for row in read_rows(DATA)]
    return JudgedAnswers(judge, verify_all(exchanges, lambda: build_verifier(JUDGE), known, step))


def renew_verdicts(progress: DemoProgress) -> None:
    """Verify every answer again, and write the bundled verdicts."""
    judged = judged_answers(progress, is_renewed=True)
    write_verdicts(judged.judge, judged.reports)


def outcomes(reports: Reports) -> dict[str, Outcome]:
    """How the verdicts on each written answer compare with its truth."""
    return {
        name: one.outcome(reports[exchange_key(one.exchange())].claims)
        for name, one in read_helpdesk().items()
    }


def agreement_by_kind(reports: Reports) -> tuple[KindLine, ...]:
    """The outcomes of all written sentences, faithful ones first, each sentence once."""
    counts: defaultdict[tuple[str, str], Counter[Outcome]] = defaultdict(Counter)
    for one in read_helpdesk().values():
        for sentence, outcome in one.compare(reports[exchange_key(one.exchange())].claims):
            family = sentence.label.value if sentence.label.is_unfaithful else "misleading"
            counts[(family, sentence.kind) if sentence.kind else ("", "faithful")][outcome] += 1
    return tuple(
        KindLine(
            family,
            kind,
            sentences=found.total(),
            right=found[Outcome.RIGHT],
            undecided=found[Outcome.SILENT],
            missed=found[Outcome.MISSED],
            otherwise=found[Outcome.OTHERWISE] + found[Outcome.OTHER_WORDS],
            false_alarms=found[Outcome.FALSE_ALARM],
        )
        for (family, kind), found in sorted(counts.items())
    )


def helpdesk_answers(client: Client) -> list[StoredAnswer]:
    """The verified answers of the help desk."""
    return [one for one in verified_answers(client) if one.service == SERVICE]


def helpdesk_routes(client: Client, stored: Sequence[StoredAnswer]) -> tuple[RouteLine, ...]:
    """The rates of its routes; `people` is the share of sentences that were written wrong."""
    truth = _truth_by_route(stored)
    return tuple(
        route_line(line, truth.get(line.route, LabelAgreement()))
        for line in route_sums(client)
        if line.service == SERVICE
    )


def helpdesk_requests(reports: Reports) -> list[RecordedRequest]:
    """The help desk's answers of two weeks, by time; those on which the judge errs are left out."""
    answers = read_helpdesk()
    return [
        RecordedRequest(one.answer_id, SERVICE, answers[one.answer_id].route, one.release, one.at_s,
                answers[one.answer_id].exchange())
        for one in plan_traffic(answers, outcomes(reports), now_s=time.time())
    ]  # fmt: skip


def _public_requests() -> list[RecordedRequest]:
    """Every public row once, evenly over the last days."""
    labels, rows = read_labels(DATA), read_rows(DATA)
    start, step = time.time() - PUBLIC_DAYS * DAY_S, PUBLIC_DAYS * DAY_S / len(rows)
    return [
        RecordedRequest(row.id, PUBLIC, labels[row.id].route, GOOD_RELEASE, start + number * step,
                row.exchange)
        for number, row in enumerate(rows)
    ]  # fmt: skip


def _truth_by_route(stored: Sequence[StoredAnswer]) -> Mapping[str, LabelAgreement]:
    claims, wrong = Counter[str](), Counter[str]()
    for answer in stored:
        for sentence in written(answer).sentences:
            claims[answer.route] += sentence.label is not Label.NOT_A_CLAIM
            wrong[answer.route] += sentence.label.is_unfaithful
    return {route: LabelAgreement(claims[route], wrong[route]) for route in claims}
