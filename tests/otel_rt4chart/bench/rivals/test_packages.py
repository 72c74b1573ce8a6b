"""RAGAS and DeepEval by their own packages, where these are installed, over our endpoint."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Any

import pytest

from otel_rt4chart.bench.rivals.packages import deepeval, ragas
from otel_rt4chart.verify.core.meter import Budget
from otel_rt4chart.verify.core.model import AnswerLabel
from tests.endpoint_server import Seen, error, text
from tests.otel_rt4chart.bench.rivals.asked import POOL, Replies, asked


def needs(package: str) -> pytest.MarkDecorator:
    """Skip where the package is not installed."""
    reason = f"the package {package} is not installed: pip install {package}"
    return pytest.mark.skipif(find_spec(package) is None, reason=reason)


WARM, DOGS = "The pool is warm.", "Dogs may swim in the pool."


def statements(seen: Seen) -> dict[str, Any]:
    """RAGAS's statements of the answer."""
    return {"statements": [WARM, DOGS]}


def followed(*verdicts: int) -> Replies:
    """RAGAS's replies, with these verdicts on the statements."""
    rows = [
        {"statement": one, "reason": "-", "verdict": verdict}
        for one, verdict in zip((WARM, DOGS), verdicts, strict=True)
    ]
    return {
        "StatementGeneratorOutput": statements,
        "NLIStatementOutput": lambda seen: {"statements": rows},
    }


@needs("ragas")
@pytest.mark.parametrize(
    ("verdicts", "label", "score"),
    [((1, 1), AnswerLabel.ENTAILED, 0.0), ((1, 0), AnswerLabel.BASELESS, 0.5)],
)
def test_ragas_flags_one_statement_that_does_not_follow(
    verdicts: tuple[int, int], label: AnswerLabel, score: float
) -> None:
    """Two calls, which are counted; the package does not report that it was used."""
    with asked(followed(*verdicts)) as (server, asker):
        found = ragas(asker, Budget()).verify(POOL)

    assert (found.label, found.score) == (label, score)
    assert found.usage.calls == len(server.seen) == 2
    assert os.environ["RAGAS_DO_NOT_TRACK"] == "true"


@needs("ragas")
def test_without_statements_there_is_no_number() -> None:
    """RAGAS gives NaN, which is neither faithful nor not."""
    none: Replies = {"StatementGeneratorOutput": lambda seen: {"statements": []}}
    with asked(none) as (_, asker):
        found = ragas(asker, Budget()).verify(POOL)

    assert (found.label, found.score) == (AnswerLabel.UNDECIDED, None)
    assert "no number" in found.reason


@needs("ragas")
@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (error(500, "down"), "gpt-4o-mini: 500"),
        (text("no"), "no JSON object"),
        (text('{"other": 1}'), "statements Field required"),
    ],
)
def test_the_endpoints_reason_is_told(reply: Any, reason: str) -> None:  # noqa: ANN401
    """Not the package's wrapping of it."""
    with asked({"StatementGeneratorOutput": lambda seen: reply}) as (_, asker):
        found = ragas(asker, Budget()).verify(POOL)

    assert found.label is AnswerLabel.UNDECIDED
    assert reason in found.reason


def contradicted(*verdicts: str) -> Replies:
    """DeepEval's replies, with these verdicts on the claims."""
    rows = [{"verdict": one, "reason": "-"} for one in verdicts]
    return {
        "Truths": lambda seen: {"truths": ["The pool is heated."]},
        "Claims": lambda seen: {"claims": [WARM, DOGS]},
        "Verdicts": lambda seen: {"verdicts": rows},
    }


@needs("deepeval")
@pytest.mark.parametrize(
    ("verdicts", "label", "score"),
    [
        (("yes", "borderline"), AnswerLabel.ENTAILED, 0.0),
        (("yes", "no"), AnswerLabel.ENTAILED, 0.5),
        (("no", "no"), AnswerLabel.BASELESS, 1.0),
    ],
)
def test_deepeval_flags_an_answer_below_its_own_threshold(
    verdicts: tuple[str, str], label: AnswerLabel, score: float
) -> None:
    """What no passage tells counts as faithful there; telemetry is off."""
    with asked(contradicted(*verdicts)) as (server, asker):
        found = deepeval(asker, Budget()).verify(POOL)

    assert (found.label, found.score) == (label, score), found.reason
    assert found.usage.calls == len(server.seen)
    assert os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] == "1"
