"""A pytest plugin: the fixture `rt4chart_gate` checks an application with an eval set.

The judge is that of the fixture `rt4chart`: of `--rt4chart-judge`, else of the ini setting
`rt4chart_judge`, else the local one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from otel_rt4chart.pytest_plugin import Faithfulness
    from otel_rt4chart.verify.core.rates import Measure
    from rt4chart_clustering.evalset.case import EvalCase
    from rt4chart_clustering.gate.evaluate import GateOutcome
    from rt4chart_clustering.gate.result import GateResult
    from rt4chart_clustering.gate.stored_comparison import StoredComparison

Answer = Callable[[str, list[str]], str]


class EvalGate:
    """The object that the fixture returns."""

    def __init__(self, faithfulness: Faithfulness) -> None:
        """The verifier is shared by the session."""
        self._verifier = faithfulness.verifier

    def assert_open(
        self,
        evalset: str | Path,
        answer: Answer,
        *,
        max_rate: float = 0.05,
        max_undecided: float | None = None,
        count: str = "either",
        baseline: str | Path | None = None,
        release: str = "",
        dsn: str | None = None,
    ) -> GateOutcome:
        """Answer and verify every case, and return the outcome if the gate passes.

        `evalset` is a file or a release (NAME, NAME@RELEASE). `answer` is the application: it gets
        a question and the texts of its passages, and returns an answer. `count` says which claims
        count: `unfaithful`, `misleading` or `either`. A `max_undecided` of None is that of the
        command. `release` is the application's: the report of a gate that fails names the
        comparison of its answers in the database with those of the baseline's release, or of the
        one before. Raises AssertionError with the report if the gate fails, InputError if there is
        no such eval set.
        """
        from otel_rt4chart.core.errors import InputError
        from otel_rt4chart.verify.core.rates import Measure
        from rt4chart_clustering.evalset.load import load_cases
        from rt4chart_clustering.gate.answers import NewAnswer
        from rt4chart_clustering.gate.compare import compare
        from rt4chart_clustering.gate.evaluate import MAX_UNDECIDED, GateLimits, evaluate_gate
        from rt4chart_clustering.gate.report import format_text
        from rt4chart_clustering.gate.result import load_result, result_path
        from rt4chart_clustering.gate.verify_answers import verify_answers

        __tracebackhide__ = True
        if count not in list(Measure):
            raise InputError(f"count: expected {', '.join(Measure)}, got {count!r}")
        measure = Measure(count)
        name, cases = load_cases(str(evalset), dsn)
        before = load_result(result_path(str(baseline))) if baseline else None
        answers = {
            case.id: NewAnswer(
                answer(case.exchange.question, [one.text for one in case.exchange.passages])
            )
            for case in cases
        }
        result = replace(
            verify_answers(name, cases, answers, self._verifier, jobs=1, show=lambda done: None),
            release=release,
        )
        undecided = MAX_UNDECIDED if max_undecided is None else max_undecided
        compared = compare(before, result, measure) if before else None
        found = evaluate_gate(result, GateLimits(max_rate, undecided, measure), compared)
        if release:
            found = replace(found, stored=_stored_comparison(result, before, cases, measure, dsn))
        if not found.is_open:
            raise AssertionError(format_text(found))
        return found


def _stored_comparison(
    result: GateResult,
    before: GateResult | None,
    cases: Sequence[EvalCase],
    measure: Measure,
    dsn: str | None,
) -> StoredComparison | None:
    """The comparison of the release in the store; None, with the reason on stderr, without one.

    It decides nothing.
    """
    # Imported here, because a gate without a release needs no database.
    from otel_rt4chart.core.errors import RT4ChartError
    from otel_rt4chart.core.text import printable
    from rt4chart_clustering.gate.stored_comparison import comparison_of

    try:
        return comparison_of(result, before, cases, measure, dsn)
    except RT4ChartError as error:
        sys.stderr.write(f"rt4chart_gate: no comparison of releases: {printable(str(error))}\n")
        return None


@pytest.fixture(scope="session")
def rt4chart_gate(rt4chart: Faithfulness) -> EvalGate:
    """Checks an application with an eval set and the configured judge."""
    return EvalGate(rt4chart)
