"""What people say of the answers and of their claims, beside what a system says."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.judge.systems import Said, System, Verdict
from otel_rt4chart.bench.dataset import GoldSpan, LabelledAnswer
from otel_rt4chart.bench.metrics import LabelledOutcome
from otel_rt4chart.verify.core.model import AnswerRange, Label


class Judged(NamedTuple):
    """A labelled answer and a system's verdict on it."""

    row: LabelledAnswer
    verdict: Verdict


class KnownClaim(NamedTuple):
    """A claim that people's labels say something of.

    `kind` is None where they did not tell contradicted from baseless.
    """

    dataset: str
    said: Said
    is_wrong: bool
    kind: Label | None

    @property
    def confidence(self) -> float:
        """As a cascade sees it: what is undecided goes on whatever the threshold."""
        return self.said.confidence if self.said.label.is_decided else 0.0

    @property
    def is_error(self) -> bool:
        """True where flagged and wrong disagree; what is undecided is not flagged."""
        return self.said.label.is_unfaithful != self.is_wrong


def judge(verify: System, rows: Iterable[LabelledAnswer]) -> list[Judged]:
    """A system's verdicts on all rows."""
    return [Judged(row, verify(row.exchange)) for row in rows]


def known_claims(judged: Iterable[Judged]) -> list[KnownClaim]:
    """The claims that labels tell of: one that meets a marked span has its kind.

    Claims of an unfaithful answer marked as a whole are left out, unless there is only one.
    """
    return [claim for one in judged for claim in _known(one)]


def _known(one: Judged) -> Iterator[KnownClaim]:
    row, claims = one.row, one.verdict.claims
    for said in claims:
        if row.has_spans:
            met = [span for span in row.spans if _meet(span, said.range)]
            kind = _kind(met) if met else Label.ENTAILED
            yield KnownClaim(row.dataset, said, bool(met), kind)
        elif len(claims) == 1:
            kind = Label(row.label.value) if row.label else None
            yield KnownClaim(row.dataset, said, True, kind)


def _kind(met: Sequence[GoldSpan]) -> Label | None:
    kinds = {span.kind for span in met}
    return next((one for one in (Label.CONTRADICTED, Label.BASELESS) if one.value in kinds), None)


def _meet(span: GoldSpan, where: AnswerRange) -> bool:
    return span.range.start < where.end and where.start < span.range.end


def telling(rows: Iterable[LabelledAnswer]) -> frozenset[str]:
    """The data sets whose unfaithful answers are told to be contradicted or baseless."""
    return frozenset(row.dataset for row in rows if row.is_hallucinated and row.label is not None)


def outcomes(judged: Sequence[Judged]) -> list[LabelledOutcome]:
    """For the package's own metrics."""
    marked = {one.row.dataset for one in judged if one.row.spans}
    return [_outcome(row, verdict, row.dataset in marked) for row, verdict in judged]


def _outcome(row: LabelledAnswer, verdict: Verdict, is_marked: bool) -> LabelledOutcome:
    has_spans = is_marked and row.has_spans
    return LabelledOutcome(
        task=row.task,
        dataset=row.dataset,
        is_hallucinated=row.is_hallucinated,
        gold_label=row.label,
        predicted=verdict.label,
        gold_spans=tuple(span.range for span in row.spans) if has_spans else None,
        predicted_spans=tuple(one.flagged for one in verdict.claims if one.label.is_unfaithful),
        claims=sum(one.label.is_decided for one in verdict.claims),
    )


def sample(rows: Sequence[LabelledAnswer], limit: int | None) -> list[LabelledAnswer]:
    """About so many rows: whole documents of each data set, in the data sets' proportions.

    The same documents come for the same data whatever the order of the rows, and one at least.
    """
    if limit is None or limit >= len(rows):
        return list(rows)
    chosen: set[tuple[str, str]] = set()
    for name in {row.dataset for row in rows}:
        sizes: dict[str, int] = {}
        for row in rows:
            if row.dataset == name:
                sizes[row.group] = sizes.get(row.group, 0) + 1
        wanted, taken = limit * sum(sizes.values()) / len(rows), 0
        for group in sorted(sizes, key=_order):
            if taken < wanted:
                chosen.add((name, group))
                taken += sizes[group]
    return [row for row in rows if (row.dataset, row.group) in chosen]


def _order(group: str) -> str:
    return hashlib.sha256(group.encode()).hexdigest()


def kinds_of(path: Path) -> dict[str, frozenset[str]]:
    """The kinds of error that people name, by the answer's id; the file of responses has them."""
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines if line.strip()]
    return {str(row["id"]): frozenset(row.get("kinds") or ()) for row in rows}
