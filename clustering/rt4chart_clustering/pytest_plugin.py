"""A pytest plugin: the fixture `rt4chart_gate` holds an application to an eval set.

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
    from rt4chart_clustering.gate.outcome import Outcome

Answer = Callable[[str, list[str]], str]


class Gate:
    """What the fixture gives."""

    def __init__(self, faithfulness: Faithfulness) -> None:
        """Its verifier is the session's."""
        self._verifier = faithfulness.verifier

    def assert_open(
        self,
        evalset: str | Path,
        answer: Answer,
        *,
        max_rate: float = 0.05,
        max_undecided: float = 0.2,
        baseline: str | Path | None = None,
        dsn: str | None = None,
    ) -> Outcome:
        """Answer every case, verify, and give the outcome where the gate opens.

        `evalset` is a file or a release (NAME, NAME@RELEASE), `answer` the application: a question
        and the texts of its passages in, an answer out. Raises AssertionError with the gate's own
        words where it stays shut, InputError for what is no eval set.
        """
        from rt4chart_clustering.evalset.load import load_cases
        from rt4chart_clustering.gate.answers import NewAnswer
        from rt4chart_clustering.gate.compare import compare
        from rt4chart_clustering.gate.judge import judged
        from rt4chart_clustering.gate.outcome import Bounds, outcome
        from rt4chart_clustering.gate.report import in_words
        from rt4chart_clustering.gate.result import kept_at, load

        __tracebackhide__ = True
        name, cases = load_cases(str(evalset), dsn)
        before = load(kept_at(str(baseline))) if baseline else None
        answers = {
            case.id: NewAnswer(
                answer(case.exchange.question, [one.text for one in case.exchange.passages])
            )
            for case in cases
        }
        result = judged(name, cases, answers, self._verifier, jobs=1, show=lambda done: None)
        compared = compare(before, result) if before else None
        found = outcome(result, Bounds(max_rate, max_undecided), compared)
        if not found.is_open:
            raise AssertionError(in_words(found))
        return found


@pytest.fixture(scope="session")
def rt4chart_gate(rt4chart: Faithfulness) -> Gate:
    """Holds an application to an eval set with the configured judge."""
    return Gate(rt4chart)
