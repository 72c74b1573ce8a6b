"""What the pipeline itself costs: CPU a claim with a judge, and a scanner, that answer at once.

    python -m benchmarks.judge.pipeline_overhead DIR [--limit N] [--profile]

DIR has RAGTruth's two-file layout. The judge's words are made before: claims by rule, and for each
the local judge's label with one sentence as evidence. Words are known, texts are not: the slots
that the local judge remembers of texts are forgotten before each answer. The target is 1 ms.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import pstats
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TypeVar

from otel_rt4chart.bench.dataset import LabelledAnswer, choose_split, read_rows
from otel_rt4chart.verify import RulesJudge, Verifier
from otel_rt4chart.verify.core.cascade import Tier
from otel_rt4chart.verify.core.judge import Hint, Judge
from otel_rt4chart.verify.core.meter import Meter
from otel_rt4chart.verify.core.model import (
    Chunk,
    DraftClaim,
    Exchange,
    Judgement,
    Label,
    Report,
    Sentence,
)
from otel_rt4chart.verify.core.steps import Steps, answer_batch, run_steps
from otel_rt4chart.verify.decompose.rules import decompose
from otel_rt4chart.verify.findings.cherry_picking import CherryPickSearch
from otel_rt4chart.verify.findings.find import find
from otel_rt4chart.verify.language import slots
from otel_rt4chart.verify.stages.options import Options
from otel_rt4chart.verify.stages.verification import VerificationRun
from otel_rt4chart.verify.stages.verification import decompose_answer as hold
from otel_rt4chart.verify.text.segment import segment, segment_passages

TARGET_MS = 1.0
SHOWN = 10
OPTIONS = Options(25, 10, 8_000, 0.05, 0.3, 8, 2)
STAGES = ("segment answer", "segment passages", "drafts", "link", "judge", "claims", "findings")
BASELESS = Judgement(Label.BASELESS, confidence=1.0)
T = TypeVar("T")


class Prepared:
    """A judge that says of one answer what it was given, without a thought."""

    def __init__(self, drafts: Sequence[DraftClaim], told: Mapping[str, Judgement]) -> None:
        """`told` are judgements by the claim's words; one whose evidence is not shown is none."""
        self._drafts, self._told = drafts, told

    @property
    def id(self) -> str:
        """A name."""
        return "prepared"

    def decompose(self, sentences: Sequence[Sentence]) -> Sequence[DraftClaim]:
        """The prepared claims."""
        return self._drafts

    def assess(
        self, claims: Sequence[DraftClaim], chunk: Chunk, *, question: str
    ) -> Sequence[Judgement]:
        """The prepared judgements, as far as the chunk has their evidence."""
        return self._judge(claims, chunk.sentences)

    def resolve(
        self,
        claims: Sequence[DraftClaim],
        context: Sequence[Sentence],
        *,
        hint: Hint | None,
        question: str,
    ) -> Sequence[Judgement]:
        """The prepared judgements."""
        return self._judge(claims, context)

    def _judge(
        self, claims: Sequence[DraftClaim], shown: Sequence[Sentence]
    ) -> Sequence[Judgement]:
        first, last = shown[0].index, shown[-1].index
        found = [self._told.get(claim.text, BASELESS) for claim in claims]
        return [
            one if all(first <= at <= last for at in one.sentences) else BASELESS for one in found
        ]


class Case(NamedTuple):
    """An answer and the judge prepared for it; `claims` are those that are judged."""

    exchange: Exchange
    judge: Prepared
    claims: int


def main() -> None:
    """Prepare, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int, default=None)
    parser.add_argument("--profile", action="store_true", help="print the costliest functions")
    options = parser.parse_args()
    name, rows = choose_split(read_rows(options.folder), None)
    cases = [prepared(row) for row in rows[:: max(1, len(rows) // (options.limit or len(rows)))]]
    claims = sum(case.claims for case in cases)
    print(f"{len(cases)} answers of {name}, {claims / len(cases):.2f} claims an answer")
    print(f"\n{'CPU, ms':34}{'a claim':>9}{'an answer: mean':>17}{'p50':>8}{'p95':>8}")
    alone = measure(cases, Prepared([], {}))
    print_times("pipeline, scanner at once", alone, claims)
    print_times("pipeline, scanner local (default)", measure(cases, RulesJudge()), claims)
    by_stage = [stages(case) for case in cases]
    for stage, times in zip(STAGES, zip(*by_stage, strict=True), strict=True):
        print_times(f"  {stage}", times, claims)
    many = [(case, cost) for case, cost in zip(cases, alone, strict=True) if case.claims >= 3]
    if many:
        title = f"{len(many)} answers of 3 claims or more"
        print_times(title, [cost for _, cost in many], sum(case.claims for case, _ in many))
    cost = sum(alone) / claims
    met = "met" if cost < TARGET_MS else "not met"
    print(f"\nwithout the judges {cost:.3f} ms a claim, target under {TARGET_MS:g} ms: {met}")
    if options.profile:
        print_profile(cases)


def prepared(row: LabelledAnswer) -> Case:
    """The answer with its claims by rule and the local judge's labels, one sentence each."""
    report = Verifier(RulesJudge(), scanner=Prepared([], {})).verify(row.exchange)
    context = segment_passages(row.exchange.passages)
    places = {(one.passage_id, one.start, one.end): one.index for one in context}
    told = {
        claim.text: Judgement(
            claim.label,
            tuple(places[one.passage_id, one.start, one.end] for one in claim.evidence[:1]),
            1.0,
            clashes=claim.clashes,
        )
        for claim in report.claims
    }
    drafts = decompose(segment(row.exchange.answer))
    return Case(row.exchange, Prepared(drafts, told), sum(draft.is_claim for draft in drafts))


def measure(cases: Sequence[Case], scanner: Judge) -> list[float]:
    """CPU milliseconds of each answer's verification."""
    return [
        cpu_ms(partial(Verifier(case.judge, scanner=scanner).verify, case.exchange))
        for case in cases
    ]


def cpu_ms(act: Callable[[], Report]) -> float:
    """The process's CPU time for one act on texts that nothing is remembered of."""
    slots._cached_slots.clear()
    gc.collect(0)
    began = time.process_time_ns()
    act()
    return (time.process_time_ns() - began) / 1e6


def stages(case: Case) -> list[float]:
    """CPU milliseconds of each stage, in the pipeline's order, with a scanner that says nothing."""
    slots._cached_slots.clear()
    exchange, judge, _ = case
    marks = [time.process_time_ns()]

    def mark() -> None:
        marks.append(time.process_time_ns())

    sentences = segment(exchange.answer)
    mark()
    run = VerificationRun(exchange.question, segment_passages(exchange.passages), OPTIONS)
    mark()
    drafts = _driven(hold(judge, sentences))
    run.drafts = () if isinstance(drafts, Exception) else drafts
    mark()
    _driven(run.link(None, judge))
    mark()
    _driven(_judged(run, Tier(judge)))
    mark()
    claims = run.claims(exchange.answer, judge.id)
    mark()
    _driven(find(exchange, claims, run.notes(), CherryPickSearch(Prepared([], {}))))
    mark()
    return [(b - a) / 1e6 for a, b in pairwise(marks)]


def _judged(run: VerificationRun, tier: Tier) -> Steps[None]:
    yield from run.verify_locally(tier, Meter())
    yield from run.verify_globally(tier)
    yield from run.require_evidence(tier)
    run.keep_confident(tier)


def _driven(steps: Steps[T]) -> T:
    meter = Meter()
    return run_steps(steps, lambda batch: answer_batch(batch, meter))


def print_times(title: str, times: Sequence[float], claims: int) -> None:
    """One line."""
    ranked = sorted(times)
    total, size = sum(ranked), len(ranked)
    print(f"{title:34}{total / claims:9.3f}{total / size:17.3f}", end="")
    print(f"{ranked[size // 2]:8.3f}{ranked[int(size * 0.95)]:8.3f}")


def print_profile(cases: Sequence[Case]) -> None:
    """The functions with the most CPU of their own, and the same with what they call."""
    profile = cProfile.Profile(time.process_time)
    profile.runcall(measure, cases, Prepared([], {}))
    for order in ("tottime", "cumulative"):
        pstats.Stats(profile).sort_stats(order).print_stats(
            "otel_rt4chart", SHOWN if order == "tottime" else 3 * SHOWN
        )


if __name__ == "__main__":
    main()
