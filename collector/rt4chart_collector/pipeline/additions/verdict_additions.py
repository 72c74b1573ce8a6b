"""What a verdict gets after the judge, in the service and in a backfill alike."""

from __future__ import annotations

from collections.abc import Sequence

from otel_rt4chart.judges.answer_verdicts import Clock, spender_of
from otel_rt4chart.judges.criteria import CriteriaJudge
from otel_rt4chart.judges.trails import trail_maker
from otel_rt4chart.sampling import Layers
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Verdict
from otel_rt4chart.verify import Verifier
from otel_rt4chart.verify.llm.spending import spending_for
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.pipeline.additions.criteria import AnswerCriteria
from rt4chart_collector.pipeline.additions.earlier_turns import EarlierTurns
from rt4chart_collector.pipeline.additions.trails import AnswerTrails
from rt4chart_collector.store.engine.connect import Client


class VerdictAdditions:
    """Support by earlier turns, then trails of the claims that still fail, then custom criteria.

    Threads may share it.
    """

    def __init__(
        self,
        earlier_turns: EarlierTurns,
        trails: AnswerTrails,
        criteria: AnswerCriteria | None = None,
    ) -> None:
        """The first two know the layers that say where they run; `criteria` are those of a file."""
        self._earlier_turns = earlier_turns
        self._trails = trails
        self._criteria = criteria

    def add(
        self,
        client: Client,
        verifier: Verifier,
        verdict: Verdict,
        spans: Sequence[SpanRecord],
        *,
        answers: int = 1,
    ) -> Verdict:
        """The verdict with them; `spans` are those of its trace, with so many `answers`.

        Never raises: what fails leaves the verdict as it was, or says so in its trail.
        """
        with spending_for(spender_of(verdict.candidate)):
            supported = self._earlier_turns.add(client, verifier, verdict, spans)
            traced = self._trails.add(client, supported, spans, answers=answers)
            return traced if self._criteria is None else self._criteria.add(client, traced)


def verdict_additions(
    verifier: Verifier,
    metrics: ServiceMetrics,
    *,
    layers: Layers,
    calls: int,
    clock: Clock,
    criteria: CriteriaJudge | None = None,
) -> VerdictAdditions:
    """The additions to this verifier's verdicts; a trail has at most so many calls an answer."""
    return VerdictAdditions(
        EarlierTurns(metrics, layers=layers, clock=clock),
        AnswerTrails(trail_maker(verifier, calls=calls), metrics, layers=layers, clock=clock),
        AnswerCriteria(criteria, metrics, clock) if criteria is not None else None,
    )
