"""Trails as the service makes them: the claims that the judge flags, and the steps it blames."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from benchmarks.trails.planted import Planted
from otel_rt4chart.judges.trails import trail_maker
from otel_rt4chart.spans.graph.chain import ChainStep, TraceChain
from otel_rt4chart.spans.model.span_view import OperationKind
from otel_rt4chart.spans.model.verdict import Candidate, Decision, Verdict
from otel_rt4chart.verify import AnswerRange, Exchange, Passage, Report, Verifier
from otel_rt4chart.verify.core.evidence import and_join
from otel_rt4chart.verify.core.judge import Judge
from otel_rt4chart.verify.core.model import DraftClaim

CALLS = 60  # the default of RT4CHART_TRAIL_CALLS


class LiveBlame(NamedTuple):
    """What a live trail says of a claim that was flagged; `steps` are those it blames."""

    claim: str
    steps: tuple[str, ...]


class BlameCounts(NamedTuple):
    """Flagged claims by what their trail says: of planted errors, and of claims that are true."""

    right: int
    wrong: int
    silent: int
    false: int
    silenced: int

    @property
    def false_share(self) -> float:
        """The share of flagged true claims that some step is blamed for."""
        return self.false / (self.false + self.silenced) if self.false + self.silenced else 0.0


def trace_live(judge: Judge, chain: Planted) -> tuple[LiveBlame, ...]:
    """Verify the claims against the sources, and trace those that fail."""
    verifier = Verifier(judge)
    sources = [Passage(node.id, node.text) for node in chain.nodes if not node.inputs]
    answer = next(node for node in chain.nodes if node.id == "answer")
    exchange = Exchange("", sources, answer.text)
    drafts = [_draft(claim, answer.text) for claim in chain.claims]
    claims = tuple(verifier.verify_claim(exchange, draft) for draft in drafts)
    report = Report(and_join(one.label for one in claims), claims, verifier.id)
    candidate = Candidate(exchange, "trace", answer.id, 1, "benchmark", "trails")
    verdict = Verdict(candidate, Decision.VERIFIED, verifier.id, 1.0, 1, report=report)
    traced = trail_maker(verifier, calls=CALLS).make(verdict, _as_trace(chain))
    return tuple(
        LiveBlame(claims[one.claim].text, tuple(place.node for place in one.blamed))
        for one in traced.trail
    )


def count_blames(runs: Iterable[tuple[Planted, Iterable[LiveBlame]]]) -> BlameCounts:
    """The sums over chains. A blame is right if it names the one step that made the error."""
    right = wrong = silent = false = silenced = 0
    for chain, blames in runs:
        for blame in blames:
            is_error = blame.claim == chain.error
            right += is_error and blame.steps == (chain.step,)
            wrong += is_error and bool(blame.steps) and blame.steps != (chain.step,)
            silent += is_error and not blame.steps
            false += not is_error and bool(blame.steps)
            silenced += not is_error and not blame.steps
    return BlameCounts(right, wrong, silent, false, silenced)


def _draft(claim: str, answer: str) -> DraftClaim:
    start = answer.index(claim)
    return DraftClaim(claim, 0, AnswerRange(start, start + len(claim)))


def _as_trace(chain: Planted) -> TraceChain:
    steps = {
        node.id: ChainStep(
            node.id,
            node.id,
            node.id,
            OperationKind.LLM if node.inputs else OperationKind.RETRIEVER,
            node.stage,
        )
        for node in chain.nodes
    }
    return TraceChain(chain.nodes, "answer", steps)
