"""Judges an answer by the criteria that are drawn for it, without a model and with one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from otel_rt4chart.sampling.policy import position
from otel_rt4chart.verify.core.json_rows import InputRow
from otel_rt4chart.verify.core.meter import Budget, Meter
from otel_rt4chart.verify.core.model import AnswerLabel, Exchange, Report, Usage
from otel_rt4chart.verify.criteria.checks import check_answer, is_asked
from otel_rt4chart.verify.criteria.judged import CriteriaModel, JudgedCriterion
from otel_rt4chart.verify.criteria.model import (
    Criteria,
    Criterion,
    CriterionOutcome,
    CriterionVerdict,
    JudgedCheck,
)

# Distinct from the salts of the sample and of the layers: otherwise a low rate would choose the
# same first answers as theirs.
DRAW_SALT = "rt4chart.criteria\x1f"


class CriteriaJudge:
    """Judges by criteria; it has no state between answers, so threads may share it."""

    def __init__(self, criteria: Criteria, model: CriteriaModel | None, budget: Budget) -> None:
        """`model` is asked about the judged criteria; None if there are none.

        `budget` is the limit of the whole verification of an answer.
        """
        if criteria.judged and model is None:
            raise ValueError("expected a model for the judged criteria, got none")
        self.criteria = criteria
        self._model = model
        self._budget = budget
        judge = model.id if model is not None else ""
        self._versions = {one.name: one.version(judge) for one in criteria.all}

    @property
    def is_remote(self) -> bool:
        """True where judging may send an answer's texts out of this process."""
        return self._model is not None

    @property
    def versions(self) -> Mapping[str, str]:
        """The version of each criterion, by its name."""
        return self._versions

    def of_route(self, route: object) -> tuple[Criterion, ...]:
        """The criteria of answers that nobody drew, at any rate; all of them without a route."""
        if not isinstance(route, str) or not route:
            return self.criteria.all
        return tuple(one for one in self.criteria.all if one.is_of(route))

    def drawn(self, trace_id: str, route: str) -> tuple[Criterion, ...]:
        """The criteria of an answer: a repeat and another process draw the same."""
        return self.criteria.drawn(route, position(trace_id, DRAW_SALT))

    def judge(
        self, criteria: Sequence[Criterion], exchange: Exchange, report: Report
    ) -> tuple[tuple[CriterionVerdict, ...], Usage]:
        """The verdicts in the order of the criteria, and the cost.

        What the verification left of its budget is what a model may cost here.
        """
        found: dict[str, CriterionVerdict] = {}
        asked: list[tuple[Criterion, JudgedCheck]] = []
        for one in criteria:
            result = is_asked(one, exchange)
            if result is None and isinstance(one.check, JudgedCheck):
                asked.append((one, one.check))
                continue
            if result is None:
                has_claims = report.label is not AnswerLabel.NO_CLAIMS
                result = check_answer(one, exchange, has_claims=has_claims)
            found[one.name] = self._verdict(one, result.outcome, result.reason)
        meter = Meter(self._budget.after(report.usage))
        if asked and self._model is not None:
            checks = [check for _, check in asked]
            judged = self._model.judge(checks, exchange, meter)
            for (one, _), said in zip(asked, judged, strict=True):
                found[one.name] = self._verdict(one, said.outcome, said.reason, said.quote)
        return tuple(found[one.name] for one in criteria), meter.usage()

    def ask(self, checks: Sequence[JudgedCheck], exchange: Exchange) -> list[JudgedCriterion]:
        """What the model says of checks that are no criteria; none without a model."""
        return (
            [] if self._model is None else self._model.judge(checks, exchange, Meter(self._budget))
        )

    def undecided(self, criteria: Sequence[Criterion], reason: str) -> tuple[CriterionVerdict, ...]:
        """Verdicts that say why there is no decision."""
        return tuple(self._verdict(one, CriterionOutcome.UNDECIDED, reason) for one in criteria)

    def _verdict(
        self, criterion: Criterion, outcome: CriterionOutcome, reason: str, quote: str = ""
    ) -> CriterionVerdict:
        return CriterionVerdict(
            criterion.name,
            self._versions[criterion.name],
            criterion.check.kind,
            outcome,
            reason,
            quote,
            criterion.rate,
            self._model.id if criterion.is_judged and self._model is not None else "",
        )


def with_criteria(
    judge: CriteriaJudge | None, row: InputRow, report: Report
) -> tuple[Report, tuple[CriterionVerdict, ...]]:
    """The report with the cost of judging the row by the criteria, and their verdicts."""
    if judge is None:
        return report, ()
    found, usage = judge.judge(judge.of_route(row.route), row.exchange, report)
    return replace(report, usage=report.usage.plus(usage)), found
