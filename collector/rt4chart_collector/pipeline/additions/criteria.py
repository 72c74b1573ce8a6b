"""Judges verified answers by custom criteria, each answer once by each version of a criterion."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from otel_rt4chart.judges.answer_verdicts import Clock
from otel_rt4chart.judges.criteria import CriteriaJudge
from otel_rt4chart.spans.model.verdict import Verdict
from otel_rt4chart.verify.criteria.model import Criterion
from rt4chart_collector.core.instruments import CRITERIA_DURATION, CRITERION_VERDICTS
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.core.redacted_error import redacted_error
from rt4chart_collector.store.answers.criteria import decided_criteria
from rt4chart_collector.store.engine.connect import Client

SECOND = 10**9

log = logging.getLogger(__name__)


class AnswerCriteria:
    """Adds the verdicts of the criteria that are drawn for an answer; threads may share it."""

    def __init__(self, judge: CriteriaJudge, metrics: ServiceMetrics, clock: Clock) -> None:
        """`clock` returns nanoseconds."""
        self._judge = judge
        self._metrics = metrics
        self._clock = clock

    def add(self, client: Client, verdict: Verdict) -> Verdict:
        """The verdict with those of its criteria. Never raises: a failure leaves them undecided."""
        candidate, report = verdict.candidate, verdict.report
        if report is None:
            return verdict
        drawn: Sequence[Criterion] = self._judge.drawn(candidate.trace_id, candidate.route)
        if not drawn:
            return verdict
        started = self._clock()
        try:
            drawn = self._not_judged_yet(client, verdict, drawn)
            found, usage = self._judge.judge(drawn, candidate.exchange, report)
            verdict = replace(verdict, report=replace(report, usage=report.usage.plus(usage)))
        except Exception as error:  # noqa: BLE001 - criteria that fail must not lose the verdict
            where = "criteria of answer %s of trace %s: %s"
            log.error(where, candidate.span_id, candidate.trace_id, redacted_error(error))
            found = self._judge.undecided(drawn, f"judging failed: {type(error).__name__}")
        self._metrics.record(CRITERIA_DURATION, (self._clock() - started) / SECOND)
        for one in found:
            self._metrics.add(CRITERION_VERDICTS, one.name, one.outcome.value)
        return replace(verdict, criteria=found)

    def _not_judged_yet(
        self, client: Client, verdict: Verdict, drawn: Sequence[Criterion]
    ) -> Sequence[Criterion]:
        """Without those that a model decided before a crash, or beside another verifier's verdict.

        Criteria without a model cost less than asking the store.
        """
        if not any(one.is_judged for one in drawn):
            return drawn
        before = decided_criteria(client, verdict.candidate)
        versions = self._judge.versions
        return [
            one
            for one in drawn
            if not one.is_judged or (one.name, versions[one.name]) not in before
        ]
