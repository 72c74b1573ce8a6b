"""Whether failures of one kind, planted among real answers, come out as one issue.

    python -m benchmarks.clustering.planted DATA [--judge local] [--split dev] [--each 60] [--json]

DATA is that of `python -m benchmarks.judge.misleading`, which makes the failures from real rows:
a passage that refutes the claim beside the one that supports it (cherry-picked), a condition of the
source left out, a question's premise repeated against the source; and here a number of a faithful
claim changed. They go with faithful answers of the same sets, all on one route, through the judge,
the store and a run of grouping. For each kind: how many of the planted claims the judge flags, the
issue that has most of these, its share of them (recall), and their share of it (purity).
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

from benchmarks.judge.misleading import drops_of, pairs_of, picks_of, premises_of
from otel_rt4chart.bench.dataset import LabelledAnswer, read_rows
from otel_rt4chart.judges.build import build_verifier
from otel_rt4chart.spans.model.verdict import Candidate, Decision, Verdict
from otel_rt4chart.verify import Exchange, Passage, Verifier
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
NUMBER = re.compile(r"(?<![\w.,])([2-9]|[1-9]\d{1,2})(?![\w.,%]|\s*(?:st|nd|rd|th)\b)")
CHERRY_PICKED, CONDITION, PREMISE, SLIP = (
    "cherry-picked passage",
    "condition left out",
    "premise repeated",
    "number changed",
)
FAITHFUL = "faithful"


@dataclass(frozen=True, slots=True)
class Found:
    """How a planted kind came out; `title` is that of the issue with most of its flagged claims."""

    planted: int
    flagged: int
    title: str
    recall: float
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
    print("| planted | answers | flagged | issue | recall | purity |\n|---|--:|--:|---|--:|--:|")
    for kind, one in found.items():
        print(
            f"| {kind} | {one.planted} | {one.flagged} | {one.title or '–'} | {one.recall:.2f} | "
            f"{one.purity:.2f} |"
        )


def planted(data: Path, split: str, each: int, faithful: int) -> Iterator[tuple[str, Exchange]]:
    """The answers with the kind of their failure."""
    pairs = pairs_of(data / "nli" / "pairs.jsonl")
    rows = [row for row in read_rows(data / "grounding") if row.split == split]
    right = [row for row in rows if not row.is_hallucinated]
    random.Random(5).shuffle(right)  # noqa: S311 - a sample, no secret
    picks = (one for one in picks_of(pairs, split) if one.kind == "refuting")
    for pick in islice((one for one in picks if one.dataset == "fever_symmetric"), each):
        passages = (Passage("p1", pick.support), Passage("p2", pick.second))
        yield CHERRY_PICKED, Exchange("", passages, pick.claim)
    drops = (one for one in drops_of(right) if one.is_dropped and one.kind == "condition")
    for drop in islice(drops, each):
        yield CONDITION, Exchange("", tuple(drop.passages), drop.claim)
    asked = premises_of([row for row in pairs if row["dataset"] == "fever"], split)
    for _, exchange in islice((one for one in asked if one[0] == "contradicted"), each):
        yield PREMISE, exchange
    for exchange in islice(slips_of(right), each):
        yield SLIP, exchange
    for row in right[:faithful]:
        yield FAITHFUL, row.exchange


def slips_of(rows: Sequence[LabelledAnswer]) -> Iterator[Exchange]:
    """Faithful answers with their first plain number changed to one that no passage has."""
    for row in rows:
        given = row.exchange
        match = NUMBER.search(given.answer)
        if match is None:
            continue
        text = " ".join(one.text for one in given.passages)
        known = set(re.findall(r"\d+", text))
        if match[1] not in known:
            continue
        other = next(str(n) for n in range(int(match[1]) + 3, 10_000) if str(n) not in known)
        answer = given.answer[: match.start()] + other + given.answer[match.end() :]
        yield Exchange(given.question, given.passages, answer)


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
    """Each planted kind with the issue that has most of its flagged claims."""
    flagged = Counter(kinds[one.trace_id] for one in failures(client, since_ns=0))
    members = {
        issue.id: Counter(kinds[one.key[0]] for one in assignments_of(client, issue.ids))
        for issue in list_issues(client)
    }
    titles = {issue.id: issue.title for issue in list_issues(client)}
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
            purity=count / of_best.total() if count else 0.0,
        )
    return found


if __name__ == "__main__":
    main()
