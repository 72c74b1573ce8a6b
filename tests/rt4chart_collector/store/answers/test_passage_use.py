"""The passages that answers were given from, before a time and from then on."""

from __future__ import annotations

from dataclasses import replace

from otel_rt4chart.spans.model.verdict import Stage, StagedPassage, Verdict
from otel_rt4chart.verify.core.model import Passage
from rt4chart_collector.store.answers.passage_use import PassageUse, passage_use
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from tests.rt4chart_collector.records import NOON, SECOND, verdict

SCOPE = QueryScope(NOON - 100 * SECOND, NOON + 100 * SECOND, route="support")


def given_from(number: int, at_s: int, *names: str, route: str = "support") -> Verdict:
    """An answer from these passages; one that was retrieved and left out is not counted."""
    one = verdict(number, start_ns=NOON + at_s * SECOND, route=route)
    used = tuple(Passage(name, "x") for name in names)
    staged = [StagedPassage(passage, (Stage.RETRIEVED, Stage.PROMPT)) for passage in used]
    unused = StagedPassage(Passage("left out", "x"), (Stage.RETRIEVED,))
    exchange = replace(one.candidate.exchange, passages=used)
    return replace(
        one, candidate=replace(one.candidate, exchange=exchange, staged=(*staged, unused))
    )


def test_new_passages_are_those_that_no_answer_before_had(any_client: Client) -> None:
    """Each use of a passage counts."""
    insert_verdicts(
        any_client,
        [
            given_from(1, -50, "a", "b"),
            given_from(2, -40, "a"),
            given_from(3, 0, "a", "new"),
            given_from(4, 10, "new"),
            given_from(5, -30, "new", route="other"),
            given_from(6, -200, "new"),
        ],
    )
    found = passage_use(any_client, SCOPE, at_ns=NOON)

    assert found == PassageUse(2, 2, 3, 3, 2)
    assert found.unseen_share == 2 / 3


def test_without_answers_nothing_is_known(any_client: Client) -> None:
    """No share is made up."""
    found = passage_use(any_client, SCOPE, at_ns=NOON)

    assert found == PassageUse(0, 0, 0, 0, 0)
    assert not found.is_known
    assert found.unseen_share == 0
