"""A pytest plugin: the fixture `rt4chart` asserts that answers stay with their passages.

The judge is the one of `--rt4chart-judge`, else of `rt4chart_judge` in pytest's configuration,
else the local one.
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
    """What the fixture gives: one verifier for the whole session."""

    def __init__(self, verifier: Verifier) -> None:
        """Tests may read `verifier` to verify without asserting."""
        self.verifier = verifier

    def assert_faithful(
        self,
        answer: str,
        passages: Sequence[PassageLike],
        *,
        question: str = "",
        max_rate: float = 0.0,
        allow_undecided: bool = False,
    ) -> Report:
        """The report; else an AssertionError with the unfaithful words and the evidence."""
        from otel_rt4chart.faithful import assert_faithful

        __tracebackhide__ = True
        return assert_faithful(
            answer,
            passages,
            question=question,
            judge=self.verifier,
            max_rate=max_rate,
            allow_undecided=allow_undecided,
        )


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the judge's name, for the command line and for the configuration."""
    group = parser.getgroup("rt4chart", "faithfulness of RAG answers")
    group.addoption(
        "--rt4chart-judge",
        metavar="NAME",
        help="who verifies: local, openai, single or cascade",
    )
    parser.addini("rt4chart_judge", "who verifies, where no option says it", default="local")


@pytest.fixture(scope="session")
def rt4chart(pytestconfig: pytest.Config) -> Faithfulness:
    """Asserts faithfulness with the configured judge, built once."""
    # Nothing is loaded before a test asks: the plugin is in every run of the user's tests.
    from otel_rt4chart.core.errors import SettingsError
    from otel_rt4chart.judges.build import build_verifier

    name = pytestconfig.getoption("--rt4chart-judge") or pytestconfig.getini("rt4chart_judge")
    try:
        return Faithfulness(build_verifier(str(name)))
    except SettingsError as error:
        # The same for every test: said once, not in each one's traceback.
        pytest.exit(f"rt4chart: {error}", returncode=pytest.ExitCode.USAGE_ERROR)
