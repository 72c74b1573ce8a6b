"""MetaQA: rewordings must be true by the passages, reversals must not."""

from __future__ import annotations

import pytest

from otel_rt4chart.bench.rivals.metaqa import MetaQA
from otel_rt4chart.verify.core.meter import Budget
from otel_rt4chart.verify.core.model import AnswerLabel
from tests.endpoint_server import Seen
from tests.otel_rt4chart.bench.rivals.asked import POOL, Replies, asked, name_of

SAME = ["The water is warm.", "Warm is the pool."]
OPPOSITE = ["The pool is not warm."] * 7  # more than are asked for


def replies(of_same: str, of_opposite: str) -> Replies:
    """The votes on rewordings and on reversals."""

    def vote(seen: Seen) -> dict[str, str]:
        return {"verdict": of_opposite if "not warm" in seen.user else of_same}

    return {
        "rewordings": lambda seen: {"rewrites": [*SAME, "", 7]},
        "reversals": lambda seen: {"rewrites": OPPOSITE},
        "true_by_passages": vote,
    }


@pytest.mark.parametrize(
    ("of_same", "of_opposite", "label", "score"),
    [
        ("yes", "no", AnswerLabel.ENTAILED, 0.0),
        ("no", "yes", AnswerLabel.BASELESS, 1.0),
        ("yes", "yes", AnswerLabel.BASELESS, 5 / 7),
        ("no", "no", AnswerLabel.ENTAILED, 2 / 7),
        ("not_sure", "not_sure", AnswerLabel.ENTAILED, 0.5),
    ],
)
def test_broken_relations_are_counted(
    of_same: str, of_opposite: str, label: AnswerLabel, score: float
) -> None:
    """A model that says yes to both is found out by the reversals."""
    with asked(replies(of_same, of_opposite)) as (server, asker):
        found = MetaQA(asker, Budget()).verify(POOL)

    assert found.label is label
    assert found.score == pytest.approx(score)
    assert found.usage.calls == len(server.seen) == 2 + 2 + 5


def test_rewritings_are_checked_against_the_passages_alone() -> None:
    """The rewriting sees no passage, the check not the answer."""
    with asked(replies("yes", "no")) as (server, asker):
        MetaQA(asker, Budget()).verify(POOL)

    for seen in server.seen:
        is_check = name_of(seen) == "true_by_passages"
        assert ("The pool is heated." in seen.user) == is_check
        assert ("Dogs may swim" in seen.user) != is_check


def test_without_rewritings_there_is_no_verdict() -> None:
    """A model that does not reword is not one that agrees."""
    empty = {**replies("yes", "no"), "rewordings": lambda seen: {"rewrites": []}}
    with asked(empty) as (_, asker):
        found = MetaQA(asker, Budget()).verify(POOL)

    assert (found.label, found.score) == (AnswerLabel.UNDECIDED, None)
    assert found.reason == "the model's reply was not usable: no rewordings"
