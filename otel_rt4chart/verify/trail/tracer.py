"""VeriTrail: where a claim of an answer comes from, over all the steps that made the answer.

From the answer towards the sources: a claim is judged on the answer's inputs, then on the inputs
of what supported it, until only sources are left or too many steps in a row do not support it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.verify.core.cascade import tiers
from otel_rt4chart.verify.core.drive import Steps, ask, ask_async, drive, drive_async
from otel_rt4chart.verify.core.judge import BatchJudge, Judge
from otel_rt4chart.verify.core.meter import Budget, Meter
from otel_rt4chart.verify.core.model import AnswerRange, DraftClaim, Usage
from otel_rt4chart.verify.decompose.drafts import whole_claim
from otel_rt4chart.verify.link import chunks as chunks
from otel_rt4chart.verify.link.link import LIMIT
from otel_rt4chart.verify.stages.run import decompose
from otel_rt4chart.verify.text.segment import segment
from otel_rt4chart.verify.trail.graph import Graph, Node
from otel_rt4chart.verify.trail.reader import Reader, Scope
from otel_rt4chart.verify.trail.walk import ClaimTrail, Step, Walk, untraced

__all__ = ["ClaimTrail", "Node", "Step", "Tracer", "Trail"]

MAX_CALLS = 200


@dataclass(frozen=True, slots=True)
class Trail:
    """The trails of an answer's claims, in its order; `judge` gave the verdicts."""

    claims: tuple[ClaimTrail, ...]
    usage: Usage
    judge: str


class Tracer:
    """Traces claims with one judge; holds no state between traces, so threads may share it."""

    def __init__(
        self,
        judge: Judge | BatchJudge,
        *,
        patience: int = 1,
        max_calls: int | None = MAX_CALLS,
        window: int = chunks.WINDOW,
        overlap: int = chunks.OVERLAP,
        max_chunk_tokens: int = chunks.MAX_TOKENS,
        candidates: int = LIMIT,
        reruns: int = 2,
    ) -> None:
        """`patience` is the paper's q: so many steps in a row that do not support it end a claim.

        `max_calls` bounds one trace; what it refuses is undecided. Of nodes too many for one chunk,
        those chunks are read that hold one of a claim's lexical `candidates`. `reruns` bounds the
        selections from a selection. A cascade is traced with its second judge.
        """
        chunks.check(window, overlap, max_chunk_tokens)
        if patience < 1:
            raise SettingsError(f"patience: expected 1 or more, got {patience}")
        self.judge = tiers(judge, strict=True)[-1].judge
        if isinstance(self.judge, BatchJudge) and self.judge.one_call:
            raise SettingsError(
                f"{self.judge.id} makes its own claims and cannot judge a trail's: "
                "expected a judge that verifies claim by claim, such as openai"
            )
        self._patience = patience
        self._max_calls = max_calls
        self._scope = Scope(window, overlap, max_chunk_tokens, candidates, reruns)

    def trace(
        self, nodes: Sequence[Node], answer: str, claims: Sequence[str] | None = None
    ) -> Trail:
        """The trails of the claims; the judge decomposes the answer node where none are given.

        InputError where the nodes are no acyclic graph that holds the answer.
        """
        meter = Meter(Budget(calls=self._max_calls), counts_all=True)
        steps = self._steps(nodes, answer, claims)
        return Trail(drive(steps, lambda batch: ask(batch, meter)), meter.usage(), self.judge.id)

    async def trace_async(
        self, nodes: Sequence[Node], answer: str, claims: Sequence[str] | None = None
    ) -> Trail:
        """The same without blocking the event loop while an endpoint is waited for."""
        meter = Meter(Budget(calls=self._max_calls), counts_all=True)
        steps = self._steps(nodes, answer, claims)
        found = await drive_async(steps, lambda batch: ask_async(batch, meter))
        return Trail(found, meter.usage(), self.judge.id)

    def _steps(
        self, nodes: Sequence[Node], answer: str, claims: Sequence[str] | None
    ) -> Steps[tuple[ClaimTrail, ...]]:
        """All claims together, step by step towards the sources."""
        graph = Graph(nodes)
        node = graph.node(answer)
        drafts = yield from self._drafts(node, claims)
        if isinstance(drafts, Exception):
            wholes = (one for part in segment(node.text) for one in whole_claim(part))
            return tuple(untraced(one.text, str(drafts)) for one in wholes if one.is_claim)
        if not node.inputs:
            return tuple(untraced(draft.text, "no_context") for draft in drafts)

        reader = Reader(self.judge, graph, self._scope)
        walks = [Walk(draft, graph.before([answer])) for draft in drafts]
        while open_ := [walk for walk in walks if walk.frontier]:
            yield from reader.select(open_)
            yield from reader.resolve(open_)
            for walk in open_:
                walk.advance(graph, self._patience)
        return tuple(walk.trail(graph, answer) for walk in walks)

    def _drafts(
        self, node: Node, claims: Sequence[str] | None
    ) -> Steps[tuple[DraftClaim, ...] | Exception]:
        if claims is not None:
            whole = AnswerRange(0, len(node.text))
            return tuple(DraftClaim(text, -1, whole) for text in claims)
        found = yield from decompose(self.judge, segment(node.text))
        if isinstance(found, Exception):
            return found
        return tuple(draft for draft in found if draft.is_claim)
