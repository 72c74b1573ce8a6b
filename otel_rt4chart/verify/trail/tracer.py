"""VeriTrail: traces a claim of an answer back to its sources, through every generative step.

A claim is judged on the answer's inputs, then on the inputs of what supported it, until only
sources are left or too many steps in a row do not support it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.verify.core.cascade import judge_tiers
from otel_rt4chart.verify.core.judge import BatchJudge, Judge
from otel_rt4chart.verify.core.meter import Budget, Meter
from otel_rt4chart.verify.core.model import AnswerRange, DraftClaim, Usage
from otel_rt4chart.verify.core.steps import (
    Steps,
    answer_batch,
    answer_batch_async,
    run_steps,
    run_steps_async,
)
from otel_rt4chart.verify.decompose.grounding import claim_from_sentence
from otel_rt4chart.verify.link.chunks import MAX_TOKENS, OVERLAP, WINDOW, check_window
from otel_rt4chart.verify.link.linker import MAX_CANDIDATES
from otel_rt4chart.verify.stages.verification import decompose_answer
from otel_rt4chart.verify.text.segment import segment
from otel_rt4chart.verify.trail.graph import Graph, Node
from otel_rt4chart.verify.trail.traced_claim import (
    ClaimTrail,
    Reader,
    ReadingLimits,
    TracedClaim,
    TrailStep,
    untraced,
)

__all__ = ["ClaimTrail", "Node", "Tracer", "Trail", "TrailStep"]

MAX_CALLS = 200


@dataclass(frozen=True, slots=True)
class Trail:
    """The trails of an answer's claims, in its order; `judge` is the id of the judge."""

    claims: tuple[ClaimTrail, ...]
    usage: Usage
    judge: str


class Tracer:
    """Traces claims with one judge; it has no state between traces, so threads may share it."""

    def __init__(
        self,
        judge: Judge | BatchJudge,
        *,
        patience: int = 1,
        max_calls: int | None = MAX_CALLS,
        window: int = WINDOW,
        overlap: int = OVERLAP,
        max_chunk_tokens: int = MAX_TOKENS,
        candidates: int = MAX_CANDIDATES,
        reruns: int = 2,
    ) -> None:
        """`patience` is the paper's q: a claim ends after so many unsupported steps in a row.

        `max_calls` bounds one trace; claims beyond it are undecided. Where the nodes fill several
        chunks, only those with one of a claim's lexical `candidates` are read. `reruns` bounds the
        selections from a selection. A cascade traces with its second judge.
        """
        check_window(window, overlap, max_chunk_tokens)
        if patience < 1:
            raise SettingsError(f"patience: expected 1 or more, got {patience}")
        self.judge = judge_tiers(judge, strict=True)[-1].judge
        if isinstance(self.judge, BatchJudge) and self.judge.one_call:
            raise SettingsError(
                f"{self.judge.id} makes its own claims and cannot judge a trail's: "
                "expected a judge that verifies claim by claim, such as openai"
            )
        self._patience = patience
        self._max_calls = max_calls
        self._limits = ReadingLimits(window, overlap, max_chunk_tokens, candidates, reruns)

    def trace(
        self,
        nodes: Sequence[Node],
        answer: str,
        claims: Sequence[str | DraftClaim] | None = None,
        *,
        budget: Budget | None = None,
    ) -> Trail:
        """The trails of the claims; without `claims` the judge decomposes the answer node.

        A `budget` bounds this trace instead of `max_calls`: its calls, tokens, comparisons and
        seconds. InputError where the nodes are not an acyclic graph that has the answer.
        """
        meter = self._meter(budget)
        steps = self._steps(nodes, answer, claims)
        return Trail(
            run_steps(steps, lambda batch: answer_batch(batch, meter)), meter.usage(), self.judge.id
        )

    async def trace_async(
        self,
        nodes: Sequence[Node],
        answer: str,
        claims: Sequence[str | DraftClaim] | None = None,
        *,
        budget: Budget | None = None,
    ) -> Trail:
        """The same without blocking the event loop while an endpoint works."""
        meter = self._meter(budget)
        steps = self._steps(nodes, answer, claims)
        found = await run_steps_async(steps, lambda batch: answer_batch_async(batch, meter))
        return Trail(found, meter.usage(), self.judge.id)

    def _meter(self, budget: Budget | None) -> Meter:
        unlimited = Budget(
            calls=self._max_calls, comparisons=None, model_comparisons=None, seconds=None
        )
        meter = Meter(budget or unlimited, counts_all=True)
        meter.start_judging()
        return meter

    def _steps(
        self, nodes: Sequence[Node], answer: str, claims: Sequence[str | DraftClaim] | None
    ) -> Steps[tuple[ClaimTrail, ...]]:
        """Trace all claims together, step by step towards the sources."""
        graph = Graph(nodes)
        node = graph.node(answer)
        drafts = yield from self._drafts(node, claims)
        if isinstance(drafts, Exception):
            wholes = (one for part in segment(node.text) for one in claim_from_sentence(part))
            return tuple(untraced(one.text, str(drafts)) for one in wholes if one.is_claim)
        if not node.inputs:
            return tuple(untraced(draft.text, "no_context") for draft in drafts)

        reader = Reader(self.judge, graph, self._limits)
        traced = [TracedClaim(draft, graph.inputs_of([answer])) for draft in drafts]
        while unfinished := [claim for claim in traced if claim.frontier]:
            yield from reader.select(unfinished)
            yield from reader.resolve(unfinished)
            for claim in unfinished:
                claim.advance(graph, self._patience)
        return tuple(claim.trail(graph, answer) for claim in traced)

    def _drafts(
        self, node: Node, claims: Sequence[str | DraftClaim] | None
    ) -> Steps[tuple[DraftClaim, ...] | Exception]:
        if claims is not None:
            whole = AnswerRange(0, len(node.text))
            return tuple(
                DraftClaim(one, -1, whole) if isinstance(one, str) else one for one in claims
            )
        found = yield from decompose_answer(self.judge, segment(node.text))
        if isinstance(found, Exception):
            return found
        return tuple(draft for draft in found if draft.is_claim)
