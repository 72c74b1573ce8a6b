"""Whether failures of one kind, planted among real answers, come out as one issue.

    python -m benchmarks.clustering.planted DATA [--judge local] [--split dev] [--each 60] [--json]

DATA has `nli/pairs.jsonl`, and `grounding/` and `more/grounding/` in RAGTruth's two-file layout.
The failures (`benchmarks.clustering.plants`) go with faithful answers of the same sets, all on one
route, through the judge, the store and a run of grouping. For each kind: how many of the planted
answers have a claim that the judge flags; the issue that has most of these answers; its share of
the flagged ones (recall) and of all planted ones; and their share of its answers (purity).
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.clustering.plants import planted
from otel_rt4chart.judges.build import build_verifier
from otel_rt4chart.spans.model.verdict import Candidate, Decision, Verdict
from otel_rt4chart.verify import Exchange, Verifier
from rt4chart_clustering.description.embedding import HashingEmbedder
from rt4chart_clustering.grouping.engine import HdbscanGrouping
from rt4chart_clustering.grouping.run import group_failures
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.issues.assignments import assignments_of
from rt4chart_collector.store.issues.failures import failures
from rt4chart_collector.store.issues.issues import list_issues
from rt4chart_collector.store.schema.migrate import migrate

START_NS = 4_000_000_000_000_000_000  # far ahead, so that no row expires
SECOND_NS = 10**9


@dataclass(frozen=True, slots=True)
class Found:
    """How a planted kind came out, in answers; `title` is that of the issue with most of them.

    `recall` is the issue's share of the flagged answers, `of_planted` that of all planted ones.
    """

    planted: int
    flagged: int
    title: str
    recall: float
    of_planted: float
    purity: float


def main() -> None:
    """Plant, verify, group, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--judge", default="local")
    parser.add_argument("--split", choices=("train", "dev"), default="dev")
    parser.add_argument("--each", type=int, default=60, help="failures of each kind")
    parser.add_argument("--faithful", type=int, default=200, help="faithful answers")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    answers = list(planted(options.data, options.split, options.each, options.faithful))
    found = measure(answers, build_verifier(options.judge))
    if options.json:
        print(json.dumps({kind: asdict(one) for kind, one in found.items()}, indent=2))
        return
    print("| planted | answers | flagged | issue | recall | of planted | purity |")
    print("|---|--:|--:|---|--:|--:|--:|")
    for kind, one in found.items():
        print(
            f"| {kind} | {one.planted} | {one.flagged} | {one.title or '–'} | {one.recall:.2f} | "
            f"{one.of_planted:.2f} | {one.purity:.2f} |"
        )


def measure(answers: Sequence[tuple[str, Exchange]], verifier: Verifier) -> dict[str, Found]:
    """Verify and store the answers, group the failures, and look for each kind."""
    kinds = {f"{at:032x}": kind for at, (kind, _) in enumerate(answers)}
    with (
        tempfile.TemporaryDirectory() as folder,
        connect(f"chdb://{folder}/db", database="planted", creates=True) as client,
    ):
        migrate(client)
        insert_verdicts(
            client,
            [verdict_of(at, exchange, verifier) for at, (_, exchange) in enumerate(answers)],
        )
        group_failures(
            client,
            HashingEmbedder(),
            HdbscanGrouping(),
            since_ns=0,
            now_ns=START_NS + len(answers) * SECOND_NS,
        )
        return found_of(client, kinds)


def verdict_of(at: int, exchange: Exchange, verifier: Verifier) -> Verdict:
    """The verdict on an answer of its own trace."""
    report = verifier.verify(exchange)
    start_ns = START_NS + at * SECOND_NS
    candidate = Candidate(
        exchange=exchange,
        trace_id=f"{at:032x}",
        span_id=f"{at:016x}",
        start_ns=start_ns,
        service="planted",
        route="questions",
    )
    return Verdict(
        candidate=candidate,
        decision=Decision.VERIFIED,
        verifier=report.judge,
        sample_rate=1.0,
        decided_ns=start_ns,
        report=report,
    )


def found_of(client: Client, kinds: dict[str, str]) -> dict[str, Found]:
    """Each planted kind with the issue that has most of its answers."""
    issues = list_issues(client)
    flagged = Counter(
        kinds[trace] for trace in {one.trace_id for one in failures(client, since_ns=0)}
    )
    members = {
        issue.id: Counter(
            kinds[trace] for trace in {one.key[0] for one in assignments_of(client, issue.ids)}
        )
        for issue in issues
    }
    titles = {issue.id: issue.title for issue in issues}
    found = {}
    for kind, number in Counter(kinds.values()).items():
        best = max(members, key=lambda issue: members[issue][kind], default=None)
        of_best = members[best] if best is not None else Counter[str]()
        count = of_best[kind]
        found[kind] = Found(
            planted=number,
            flagged=flagged[kind],
            title=titles[best] if best is not None and count else "",
            recall=count / flagged[kind] if flagged[kind] else 0.0,
            of_planted=count / number,
            purity=count / of_best.total() if count else 0.0,
        )
    return found


if __name__ == "__main__":
    main()
