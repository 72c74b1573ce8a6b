"""The main path of verification: RT4CHART's hierarchy over one answer, from text to report."""

from __future__ import annotations

from collections.abc import Callable

from otel_rt4chart.verify.core.cascade import tiers
from otel_rt4chart.verify.core.drive import Steps, ask, ask_async, drive, drive_async
from otel_rt4chart.verify.core.evidence import and_join
from otel_rt4chart.verify.core.judge import BatchJudge, Embedder, Judge, is_remote
from otel_rt4chart.verify.core.meter import Budget, Meter
from otel_rt4chart.verify.core.model import Exchange, Report
from otel_rt4chart.verify.findings.find import find
from otel_rt4chart.verify.findings.stale import Authority
from otel_rt4chart.verify.link import chunks as chunks
from otel_rt4chart.verify.link.link import DENSE_FLOOR, FLOOR, LIMIT
from otel_rt4chart.verify.local.judge import RulesJudge
from otel_rt4chart.verify.stages.outcome import undecomposed
from otel_rt4chart.verify.stages.run import Options, Run, decompose
from otel_rt4chart.verify.text.segment import segment, segment_passages


class Verifier:
    """Verifies answers with one judge; holds no state between answers, so threads may share it."""

    def __init__(
        self,
        judge: Judge | BatchJudge,
        *,
        window: int = chunks.WINDOW,
        overlap: int = chunks.OVERLAP,
        max_chunk_tokens: int = chunks.MAX_TOKENS,
        floor: float = FLOOR,
        dense_floor: float = DENSE_FLOOR,
        candidates: int = LIMIT,
        embedder: Embedder | None = None,
        reruns: int = 2,
        budget: Budget | None = None,
        scanner: Judge | None = None,
        authority: Authority | None = None,
        clock: Callable[[], int] | None = None,
    ) -> None:
        """What may be tuned; the defaults are the paper's where it names one.

        A claim reaches the judge where one of its `candidates` sentences has a lexical link of at
        least `floor` or, with an `embedder`, a cosine of at least `dense_floor`, all in [0, 1];
        any other claim, too, unless meaning was compared or the judge compares only words itself.
        `reruns` bounds evidence selection. `scanner` reads the passages that support nothing, for
        findings (the local judge unless given); `clock` tells nanoseconds.
        """
        chunks.check(window, overlap, max_chunk_tokens)
        self.judge = judge
        self._options = Options(
            window, overlap, max_chunk_tokens, floor, dense_floor, candidates, reruns
        )
        self._embedder = embedder
        self._budget = budget or Budget()
        self._scanner: Judge = RulesJudge() if scanner is None else scanner
        self._authority = authority
        self._clock = clock

    @property
    def is_remote(self) -> bool:
        """True where verifying an answer may send its texts out of this process."""
        parts = (self.judge, self._scanner, self._embedder)
        return any(is_remote(part) for part in parts if part is not None)

    def verify(self, exchange: Exchange, *, strict: bool = False) -> Report:
        """The report on one answer; without passages every claim is undecided (`no_context`).

        `strict` sends every claim to a cascade's second judge.
        """
        meter = Meter(self._budget)
        return drive(self._steps(exchange, meter, strict), lambda batch: ask(batch, meter))

    async def verify_async(self, exchange: Exchange, *, strict: bool = False) -> Report:
        """The same without blocking the event loop while an endpoint is waited for."""
        meter = Meter(self._budget)
        return await drive_async(
            self._steps(exchange, meter, strict), lambda batch: ask_async(batch, meter)
        )

    def _steps(self, exchange: Exchange, meter: Meter, strict: bool) -> Steps[Report]:
        """RT4CHART's Figure 2, from top to bottom."""
        started = self._clock() if self._clock else 0
        sentences = segment(exchange.answer)
        context = segment_passages(exchange.passages)
        run = Run(exchange.question, context, self._options)

        if isinstance(self.judge, BatchJudge) and self.judge.one_call:
            yield from run.audit(self.judge, sentences)
        else:
            drafts = yield from decompose(self.judge, sentences)
            if isinstance(drafts, Exception):
                return undecomposed(exchange.answer, self.judge.id, str(drafts), meter.usage())
            run.drafts = drafts
            yield from run.link(self._embedder, self.judge)
            for tier in tiers(self.judge, strict=strict):
                yield from run.verify_locally(tier)  # chunk by chunk, then the OR-join
                yield from run.verify_globally(tier)  # the whole context, the chunk as a hint
                yield from run.demand_evidence(tier)
                run.settle(tier)

        claims = run.claims(exchange.answer, self.judge.id)
        label = and_join(claim.label for claim in claims)
        findings = find(exchange, claims, run.notes(), self._scanner, self._authority)
        elapsed = (self._clock() - started) / 1e6 if self._clock else None
        return Report(label, claims, self.judge.id, findings, meter.usage(elapsed))
