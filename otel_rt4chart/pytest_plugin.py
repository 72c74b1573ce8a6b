"""The pytest plugin: the fixture `rt4chart` asserts that answers are faithful to their passages.

The judge is named by `--rt4chart-judge`, else by `rt4chart_judge` in pytest's configuration; the
default is `local`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from otel_rt4chart.faithful import PassageLike
    from otel_rt4chart.verify.core.model import Report
    from otel_rt4chart.verify.pipeline import Verifier


class Faithfulness:
    """The value of the fixture: one verifier for the whole session."""

    def __init__(self, verifier: Verifier) -> None:
        """`verifier` is public: a test may verify without an assertion."""
        self.verifier = verifier

    def assert_faithful(
        self,
        answer: str,
        passages: Sequence[PassageLike],
        *,
        question: str = "",
        max_rate: float = 0.0,
        count: str = "either",
        allow_undecided: bool = False,
    ) -> Report:
        """Return the report, or raise an AssertionError that shows words and evidence."""
        from otel_rt4chart.faithful import assert_faithful

        __tracebackhide__ = True
        return assert_faithful(
            answer,
            passages,
            question=question,
            judge=self.verifier,
            max_rate=max_rate,
            count=count,
            allow_undecided=allow_undecided,
        )


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option and the configuration key for the judge."""
    group = parser.getgroup("rt4chart", "faithfulness of RAG answers")
    group.addoption(
        "--rt4chart-judge",
        metavar="NAME",
        help="the judge: local, rules, openai, single, cascade, onnx:PATH or onnx-spans:PATH"
        " (default: local)",
    )
    parser.addini("rt4chart_judge", "the judge, unless --rt4chart-judge is given", default="local")


@pytest.fixture(scope="session")
def rt4chart(pytestconfig: pytest.Config) -> Faithfulness:
    """Asserts faithfulness with the configured judge, built once."""
    # Imported here: pytest loads the plugin in every test run, also where no test uses it.
    from otel_rt4chart.core.errors import SettingsError
    from otel_rt4chart.judges.build import build_verifier

    name = pytestconfig.getoption("--rt4chart-judge") or pytestconfig.getini("rt4chart_judge")
    try:
        return Faithfulness(build_verifier(str(name)))
    except SettingsError as error:
        # The same for every test: one message instead of a traceback for each.
        pytest.exit(f"rt4chart: {error}", returncode=pytest.ExitCode.USAGE_ERROR)
