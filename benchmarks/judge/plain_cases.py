"""How many short everyday claims are judged right, true ones and their twins with one change?

    python -m benchmarks.judge.plain_cases [--judge rules|local] [--sealed] [--list]

The cases are those of `tests/data/plain_cases.jsonl`. The claim is verified as a whole answer.
Its verdict is right if its label is the case's or one that the case accepts too. `--sealed`
measures the sealed third instead of the rest; `--list` prints the wrong verdicts, of unsealed
cases only.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.judge.tables import Cell, Table, as_markdown, as_text
from otel_rt4chart.judges.build import build_verifier
from otel_rt4chart.verify import Verifier
from otel_rt4chart.verify.core.model import AnswerLabel, ClaimStatus, Exchange, Passage, Report
from otel_rt4chart.verify.core.rates import wilson

CASES = Path(__file__).parents[2] / "tests/data/plain_cases.jsonl"


@dataclass(frozen=True, slots=True)
class PlainCase:
    """One claim with its right label; `accepted` has the labels that are right, `label` first.

    `twin` is the id of the true case that this one changes in one place, empty without one.
    """

    id: str
    area: str
    kind: str
    exchange: Exchange
    label: AnswerLabel
    accepted: tuple[AnswerLabel, ...]
    status: ClaimStatus
    is_sealed: bool
    twin: str


class JudgedCase(NamedTuple):
    """A case with the report on it."""

    case: PlainCase
    report: Report

    @property
    def is_right(self) -> bool:
        """True if the label is one that the case accepts."""
        return self.report.label in self.case.accepted

    @property
    def is_status_right(self) -> bool:
        """True if the label is right and the claim has the case's status."""
        return self.is_right and self.case.status in {one.status for one in self.report.claims}


def read_cases(path: Path = CASES) -> tuple[PlainCase, ...]:
    """All cases of the file, in its order."""
    with path.open(encoding="utf-8") as lines:
        return tuple(_case(json.loads(line)) for line in lines)


def _case(row: Mapping[str, Any]) -> PlainCase:
    passages = [Passage(f"p{number}", text) for number, text in enumerate(row["passages"], start=1)]
    label = AnswerLabel(row["label"])
    return PlainCase(
        id=row["id"],
        area=row["area"],
        kind=row["kind"],
        exchange=Exchange(row["question"], passages, row["claim"]),
        label=label,
        accepted=(label, *map(AnswerLabel, row.get("accepted", ()))),
        status=ClaimStatus(row["status"]),
        is_sealed=row["sealed"],
        twin=row.get("twin", ""),
    )


def judge_cases(verifier: Verifier, cases: Iterable[PlainCase]) -> list[JudgedCase]:
    """The reports on all cases."""
    return [JudgedCase(case, verifier.verify(case.exchange)) for case in cases]


def overall(judged: Sequence[JudgedCase]) -> Table:
    """All cases, the true ones and the wrong ones, and the pairs of which both are right."""
    parts = {
        "all": list(judged),
        "true": [one for one in judged if not one.case.label.is_unfaithful],
        "wrong": [one for one in judged if one.case.label.is_unfaithful],
    }
    rows: list[Sequence[Cell]] = [_row(name, part) for name, part in parts.items()]
    right = {one.case.id for one in judged if one.is_right}
    twins = [one.case for one in judged if one.case.twin]
    both = sum({case.id, case.twin} <= right for case in twins)
    rows.append(("pairs", *_share(both, len(twins)), None, None, None))
    note = (
        "True: entailed cases, also the misleading ones. Wrong: contradicted and baseless cases."
        " Pairs: both twins are right. Flagged: called contradicted or baseless."
        " The interval is Wilson's (95%). Of decided: right ones among those not undecided."
    )
    head = ("cases", "n", "right", "share", "low", "high", "flagged", "undecided", "of decided")
    return Table("Plain cases", note, head, rows)


def _row(name: str, judged: Sequence[JudgedCase]) -> Sequence[Cell]:
    flagged = sum(one.report.label.is_unfaithful for one in judged)
    undecided = sum(one.report.label is AnswerLabel.UNDECIDED for one in judged)
    right = sum(one.is_right for one in judged)
    decided = right / max(1, len(judged) - undecided)
    shares = (flagged / len(judged), undecided / len(judged), decided)
    return (name, *_share(right, len(judged)), *shares)


def _share(right: int, n: int) -> tuple[Cell, ...]:
    return n, right, right / n, *wilson(right / n, n)


def by_part(title: str, judged: Sequence[JudgedCase], part: Callable[[PlainCase], str]) -> Table:
    """How many are right, part by part, the worst first."""
    counts = Counter(part(one.case) for one in judged)
    right = Counter(part(one.case) for one in judged if one.is_right)
    rows = [(name, n, right[name], right[name] / n) for name, n in counts.items()]
    rows.sort(key=lambda row: (row[3], row[0]))
    return Table(title, "", (title.lower(), "n", "right", "share"), rows)


def by_status(judged: Sequence[JudgedCase]) -> Table:
    """The labels and the statuses that are right, by the case's status."""
    rows: list[Sequence[Cell]] = []
    for status in dict.fromkeys(one.case.status for one in judged):
        mine = [one for one in judged if one.case.status is status]
        right = sum(one.is_right for one in mine)
        rows.append((status, len(mine), right, sum(one.is_status_right for one in mine)))
    return Table("Status", "", ("status", "n", "label right", "status right"), rows)


def wrong_verdicts(judged: Sequence[JudgedCase]) -> Iterator[str]:
    """Each wrong verdict on an unsealed case, the surest first."""
    wrong = [one for one in judged if not one.is_right and not one.case.is_sealed]
    for case, report in sorted(wrong, key=_confidence, reverse=True):
        found = ", ".join(f"{one.label} {one.confidence:.2f}" for one in report.claims)
        reasons = "; ".join(one.reason for one in report.claims if one.reason)
        yield (
            f"{case.id} ({case.kind}): {case.label} expected, found {found or report.label}\n"
            f"    passages: {' / '.join(one.text for one in case.exchange.passages)}\n"
            f"    claim:    {case.exchange.answer}\n"
            f"    reason:   {reasons or '–'}"
        )


def _confidence(one: JudgedCase) -> float:
    return max((claim.confidence or 0.0 for claim in one.report.claims), default=0.0)


def main() -> None:
    """Judge the cases and print the tables."""
    options = _options()
    cases = [case for case in read_cases() if case.is_sealed == options.sealed]
    judged = judge_cases(build_verifier(options.judge), cases)
    show = as_markdown if options.markdown else as_text
    print(show(overall(judged)))
    print(show(by_part("Kind", judged, lambda case: case.kind)))
    print(show(by_part("Area", judged, lambda case: case.area)))
    print(show(by_status(judged)))
    if options.list:
        print("\n".join(wrong_verdicts(judged)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--judge", default="local", help="a judge's name (default: local)")
    parser.add_argument("--sealed", action="store_true", help="the sealed third, not the rest")
    parser.add_argument("--list", action="store_true", help="print the wrong verdicts")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    if options.sealed and options.list:
        parser.error("--list shows unsealed cases only: leave out --sealed")
    return options


if __name__ == "__main__":
    main()
