"""Shares of failed claims by the step in which they entered."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_rt4chart.spans.model.blame import ChainPlace, ClaimBlame, RetrievalBlame
from otel_rt4chart.spans.model.verdict import Verdict
from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.core.rates import wilson
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.rates.trail_shares import retrieval_shares, stage_shares
from tests.rt4chart_collector.records import verdict

BAD = Label.BASELESS
SCOPE = QueryScope()
SHOP = ("shop", "support")


def blamed(number: int, *stages: str, rate: float = 1.0, route: str = "support") -> Verdict:
    """An answer with a failed claim for each of these stages; an empty one is not known."""
    trail = tuple(
        ClaimBlame(at, (ChainPlace("n", "s", stage, "LLM", stage),) if stage else ())
        for at, stage in enumerate(stages)
    )
    labels = [BAD] * len(stages)
    return replace(verdict(number, labels, sample_rate=rate, route=route), trail=trail)


def test_shares_are_of_all_traced_claims(any_client: Client) -> None:
    """Also of those whose step is not known, which come last; one answer an interval each."""
    given = [blamed(n, "summarise") for n in range(1, 7)]
    given += [blamed(7, "answer"), blamed(8, "answer"), blamed(9, ""), blamed(10, "answer")]
    insert_verdicts(any_client, [*given, blamed(11, "answer", route="pay")])

    found = stage_shares(any_client, SCOPE)

    shares = found[SHOP].shares
    assert [(one.kind, one.claims, one.answers) for one in shares] == [
        ("summarise", 6, 6),
        ("answer", 3, 3),
        ("", 1, 1),
    ]
    assert (found[SHOP].claims, found[SHOP].answers) == (10, 10)
    assert [one.rate.value for one in shares] == pytest.approx([0.6, 0.3, 0.1])
    assert (shares[0].rate.low, shares[0].rate.high) == pytest.approx(wilson(0.6, 9.0), abs=0.02)
    assert shares[0].example == (f"{6:032x}", f"{6:016x}", 0)
    assert found["shop", "pay"].claims == 1


def test_answers_count_as_often_as_they_were_sampled(any_client: Client) -> None:
    """One of ten sampled answers stands for ten."""
    insert_verdicts(any_client, [blamed(1, "summarise", rate=0.1), blamed(2, "answer", "answer")])

    shares = stage_shares(any_client, SCOPE)[SHOP].shares

    assert {one.kind: one.rate.value for one in shares} == pytest.approx(
        {"summarise": 10 / 12, "answer": 2 / 12}
    )


def test_claims_of_one_answer_widen_the_interval(any_client: Client) -> None:
    """Ten claims of one answer say less than ten answers do."""
    insert_verdicts(any_client, [blamed(1, *["summarise"] * 9, "answer")])
    (one, _) = stage_shares(any_client, SCOPE)[SHOP].shares
    insert_verdicts(any_client, [blamed(n, "summarise", route="pay") for n in range(2, 11)])
    insert_verdicts(any_client, [blamed(11, "answer", route="pay")])
    (ten, _) = stage_shares(any_client, SCOPE)["shop", "pay"].shares

    assert one.rate.value == ten.rate.value == 0.9
    assert one.rate.low is not None
    assert ten.rate.low is not None
    assert one.rate.low < ten.rate.low


def test_lost_passages_have_shares_too(any_client: Client) -> None:
    """By where they got lost."""
    lost = ClaimBlame(0, retrieval=RetrievalBlame.DROPPED_BY_RERANKER)
    given = [replace(verdict(1, [BAD], sample_rate=1.0), trail=(lost,)), blamed(2, "answer")]
    insert_verdicts(any_client, given)

    found = retrieval_shares(any_client, SCOPE)[SHOP]

    assert found.top is not None
    assert (found.top.kind, found.top.rate.value) == ("dropped_by_reranker", 1 / 2)
    assert [one.kind for one in found.known] == ["dropped_by_reranker"]


def test_a_flood_of_stages_is_cut(client: Client) -> None:
    """Senders choose their names."""
    insert_verdicts(client, [blamed(n, f"stage {n}") for n in range(1, 31)])

    found = stage_shares(client, SCOPE)[SHOP]

    assert (len(found.shares), found.more, found.claims) == (12, 18, 30)


def test_without_trails_there_are_no_shares(client: Client) -> None:
    """A route of one step has none."""
    insert_verdicts(client, [verdict(1)])

    assert stage_shares(client, SCOPE) == {}


def test_misleading_claims_have_no_share(any_client: Client) -> None:
    """Only those are traced whose step is certain, so that they would count too little."""
    made = blamed(1, "summarise", "answer")
    assert made.report is not None
    first, second = made.report.claims
    misleading = replace(first, label=Label.ENTAILED)
    report = replace(made.report, claims=(misleading, second))
    insert_verdicts(any_client, [replace(made, report=report)])

    found = stage_shares(any_client, SCOPE)[SHOP]

    assert [(one.kind, one.claims) for one in found.shares] == [("answer", 1)]
