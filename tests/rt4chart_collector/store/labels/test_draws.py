"""Draws of claims: by the database as by the formulas, stored, and repeatable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.model import Claim, Label
from otel_rt4chart.verify.rates.label_queue import LabelCandidate, draw_labels, random_number
from otel_rt4chart.verify.rates.population import (
    ScoredAnswer,
    ScoredClaim,
    population_of,
    score_of,
    stratum_of,
)
from rt4chart_collector.store.answers.claims import claims_since
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.draws import (
    DEFAULT_SEED,
    DrawRequest,
    draw_claims,
    draws_in,
    latest_draw,
    read_draw,
)
from rt4chart_collector.store.labels.populations import RANDOM_NUMBER, populations
from tests.rt4chart_collector.records import NOON, SECOND, verdict
from tests.rt4chart_collector.store.labels.label_rows import (
    NOW,
    SCOPE,
    Split,
    draw,
    insert_answers,
    label_of,
)


def weight_of(trace_id: str) -> float:
    """1 / the sampling rate of an answer of `insert_answers`."""
    return 4.0 if int(trace_id, 16) % 3 else 2.0


def test_the_database_has_the_same_random_number(client: Client) -> None:
    """SHA-256 of the seed and the claim's id, to the last bit."""
    claim = "SELECT 'ab' AS TraceId, 'cd' AS SpanId, 3 AS ClaimIndex"
    query = f"SELECT {RANDOM_NUMBER} FROM ({claim})"  # noqa: S608 - our own text

    found = client.query(query, {"seed": "häuser"}).result_rows

    assert found == [(random_number("häuser", "ab/cd/3"),)]


def silent(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """The claims of a judge that states no confidence for every other one."""
    return tuple(
        replace(one, confidence=one.confidence if at % 2 else None) for at, one in enumerate(claims)
    )


@pytest.mark.parametrize("split", [tuple, silent])
def test_the_database_draws_as_the_formulas_do(client: Client, split: Split) -> None:
    """The same claims of both routes, with the same ranks and probabilities, in the same order."""
    insert_answers(client, range(1, 41), split=split)
    insert_answers(client, range(41, 46), route="pay")
    candidates = [
        LabelCandidate(
            f"{row.trace_id}/{row.span_id}/{row.index}",
            f"{row.service}\0{row.route}",
            stratum_of(row.label),
            score_of(row.label, row.confidence),
            weight_of(row.trace_id),
        )
        for row in claims_since(client, 0)
        if row.label is not Label.NOT_A_CLAIM
    ]

    made = draw(client, 20, double=0.3)

    expected = draw_labels(candidates, 20, seed=DEFAULT_SEED, double_share=0.3)
    assert [row.queued.claim for row in made.queue] == [one.claim for one in expected]
    assert [row.raters for row in made.queue] == [one.raters for one in expected]
    for row, one in zip(made.queue, expected, strict=True):
        assert row.queued.route == one.route
        assert (row.rank, row.rate) == pytest.approx((one.rank, one.rate), rel=1e-9)
        assert row.probability == pytest.approx(one.probability, rel=1e-9)
    assert {row.probability for row in made.queue if row.route == "pay"} == {1.0}


@pytest.mark.parametrize("split", [tuple, silent])
def test_the_database_adds_the_claims_up_as_the_formulas_do(client: Client, split: Split) -> None:
    """Totals and squares by stratum, of every route."""
    insert_answers(client, range(1, 31), split=split)
    answers: dict[str, list[ScoredClaim]] = {}
    for row in claims_since(client, 0):
        if row.label is not Label.NOT_A_CLAIM:
            score = score_of(row.label, row.confidence)
            answers.setdefault(row.trace_id, []).append(ScoredClaim(stratum_of(row.label), score))
    expected = population_of(
        ScoredAnswer(claims, weight_of(trace)) for trace, claims in answers.items()
    )

    (found,) = populations(client, SCOPE)

    got = found.population
    assert (got.strata, got.answers, got.claims) == (expected.strata, 30, 90)
    assert got.totals == pytest.approx(expected.totals)
    for squares, other in zip(got.squares, expected.squares, strict=True):
        assert squares == pytest.approx(other)


def test_an_answer_counts_by_span_and_only_with_a_known_rate_and_a_claim(client: Client) -> None:
    """Of five answers, two of one trace count; none without a sampling rate, a claim, a verdict."""
    first = verdict(1, [Label.ENTAILED, Label.BASELESS])
    other = replace(first, candidate=replace(first.candidate, span_id="0" * 15 + "b"))
    no_rate = verdict(2, [Label.BASELESS], sample_rate=0.0)
    no_claim = verdict(3, [Label.NOT_A_CLAIM])
    withdrawn = verdict(4, [Label.BASELESS])
    insert_verdicts(client, [first, other, no_rate, no_claim, withdrawn])
    client.command("ALTER TABLE rt4chart_verifications DELETE WHERE TraceId LIKE '%4' "
                   "SETTINGS mutations_sync = 2")  # fmt: skip

    (found,) = populations(client, SCOPE)

    assert (found.population.answers, found.population.claims, found.all_claims) == (2, 4, 4)
    # Each answer stands for two, with one claim in each of two strata.
    assert found.population.totals[:2] == (4.0, 4.0)
    assert [row[:2] for row in found.population.squares[:2]] == [(8.0, 8.0), (8.0, 8.0)]


def test_a_draw_is_stored_whole(client: Client) -> None:
    """It is read back as it was made, with the sums of the claims from which was drawn."""
    insert_answers(client, range(1, 11))
    made = draw(client, 5)

    assert read_draw(client, made.id) == made
    assert latest_draw(client, QueryScope()) == made
    assert draws_in(client, SCOPE) == list(made.routes)
    assert made.routes[0].population == populations(client, SCOPE)[0].population
    with pytest.raises(InputError, match="expected the id of a draw"):
        read_draw(client, "unknown")


def test_a_longer_draw_keeps_what_a_shorter_one_drew(client: Client) -> None:
    """With one seed; with another one the claims are others."""
    insert_answers(client, range(1, 61))
    short, long = draw(client, 10), draw(client, 40, now_ns=NOW + 1)
    request = DrawRequest(SCOPE, 10, "ann", seed="other")
    other = draw_claims(client, request, now_ns=NOW)

    assert [row.id for row in long.queue][:10] == [row.id for row in short.queue]
    assert [row.id for row in other.queue] != [row.id for row in short.queue]


def test_nothing_that_has_no_chance_is_drawn(client: Client) -> None:
    """No sentence without a claim, no answer outside the period, none of another verifier."""
    insert_answers(client, range(1, 4))
    insert_answers(client, [9], start_ns=NOW + SECOND)

    made = draw(client)

    assert len(made.queue) == 9
    assert {row.judge_label for row in made.queue} <= {
        *(Label.ENTAILED, Label.BASELESS, Label.UNDECIDED)
    }
    with pytest.raises(InputError, match="no claims of v2 in that time"):
        draw_claims(client, DrawRequest(replace(SCOPE, verifier="v2"), 5, "ann"), now_ns=NOW)


def test_claims_of_one_class_are_drawn(client: Client) -> None:
    """A judge that entails everything has one stratum."""
    insert_answers(client, range(1, 6), labels=[Label.ENTAILED])

    made = draw(client, 4)

    assert made.routes[0].strata == ("entailed",)
    assert len(made.queue) == 4


def test_a_request_out_of_range_is_refused(client: Client) -> None:
    """A size of nothing, a share of more than all, nobody's draw."""
    for wrong in (
        DrawRequest(SCOPE, 0, "ann"),
        DrawRequest(SCOPE, 5, "ann", double_share=2),
        DrawRequest(SCOPE, 5, ""),
        DrawRequest(QueryScope(NOON), 5, "ann"),
    ):
        with pytest.raises(InputError, match="expected"):
            draw_claims(client, wrong, now_ns=NOW)


def test_a_drawn_claim_says_what_the_estimate_needs(client: Client) -> None:
    """The judge's label and score, weight, stratum and probability, which a label keeps."""
    insert_answers(client, range(1, 11))
    row = draw(client, 5).queue[0]
    label = label_of(row)

    assert (label.judge_label, label.score, label.weight) == (
        *(row.judge_label, row.score, weight_of(row.trace_id)),
    )
    assert (label.draw, label.stratum, label.probability) == (
        *(row.draw, row.stratum, row.probability),
    )
