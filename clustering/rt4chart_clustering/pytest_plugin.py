"""A pytest plugin: the fixture `rt4chart_gate` checks an application with an eval set.

The judge is that of the fixture `rt4chart`: of `--rt4chart-judge`, else of the ini setting
`rt4chart_judge`, else the local one.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from otel_rt4chart.pytest_plugin import Faithfulness
    from rt4chart_clustering.gate.evaluate import GateOutcome

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
        dsn: str | None = None,
    ) -> GateOutcome:
        """Answer and verify every case, and return the outcome if the gate passes.

        `evalset` is a file or a release (NAME, NAME@RELEASE). `answer` is the application: it gets
        a question and the texts of its passages, and returns an answer. `count` says which claims
        count: `unfaithful`, `misleading` or `either`. A `max_undecided` of None is that of the
        command. Raises AssertionError with the report if the
        gate fails, InputError if there is no such eval set.
        """
        from otel_rt4chart.verify.core.rates import Measure
        from rt4chart_clustering.evalset.load import load_cases
        from rt4chart_clustering.gate.answers import NewAnswer
        from rt4chart_clustering.gate.compare import compare
        from rt4chart_clustering.gate.evaluate import MAX_UNDECIDED, GateLimits, evaluate_gate
        from rt4chart_clustering.gate.report import format_text
        from rt4chart_clustering.gate.result import load_result, result_path
        from rt4chart_clustering.gate.verify_answers import verify_answers

        __tracebackhide__ = True
        name, cases = load_cases(str(evalset), dsn)
        before = load_result(result_path(str(baseline))) if baseline else None
        answers = {
            case.id: NewAnswer(
                answer(case.exchange.question, [one.text for one in case.exchange.passages])
            )
            for case in cases
        }
        result = verify_answers(
            name, cases, answers, self._verifier, jobs=1, show=lambda done: None
        )
        measure = Measure(count)
        undecided = MAX_UNDECIDED if max_undecided is None else max_undecided
        compared = compare(before, result, measure) if before else None
        found = evaluate_gate(result, GateLimits(max_rate, undecided, measure), compared)
        if not found.is_open:
            raise AssertionError(format_text(found))
        return found


@pytest.fixture(scope="session")
def rt4chart_gate(rt4chart: Faithfulness) -> EvalGate:
    """Checks an application with an eval set and the configured judge."""
    return EvalGate(rt4chart)
