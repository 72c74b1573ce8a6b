"""Corrected rates from stored labels: which labels count, and what is said where few do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_rt4chart.verify.core.rates import Rate
from otel_rt4chart.verify.rates.label_queue import random_number
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.corrected_rates import (
    LabelCounts,
    RouteRate,
    corrected_rates,
    draw_rates,
)
from rt4chart_collector.store.labels.draws import DrawRequest, draw_claims
from rt4chart_collector.store.labels.rater_agreement import rater_agreement
from rt4chart_collector.store.labels.trusted_labels import (
    GivenLabel,
    RaterKind,
    labels_in,
    record_labels,
)
from tests.rt4chart_collector.records import NOON, SECOND, VERIFIER
from tests.rt4chart_collector.store.labels.label_rows import (
    NOW,
    SCOPE,
    draw,
    insert_answers,
    label_all,
    label_of,
    with_status,
)

WRONG, RIGHT = GivenLabel.CONTRADICTED, GivenLabel.ENTAILED
NOTHING = Rate(None, None, None)


def the_rate(client: Client, scope: QueryScope = SCOPE) -> RouteRate:
    """The rate of the only route."""
    (found,) = corrected_rates(client, scope)
    return found


def test_with_every_claim_labelled_the_rate_is_the_truth(client: Client) -> None:
    """The share of wrong claims, each with the weight of its answer; whatever the judge said."""
    insert_answers(client, range(1, 31))
    made = draw(client, 500)
    label_all(client, made.queue)
    weights = sum(row.weight for row in made.queue)
    wrong = sum(row.weight for row in made.queue if random_number("truth", row.id) < 0.3)

    (of_draw,) = draw_rates(client, made)
    of_period = the_rate(client)

    assert of_draw.corrected.rate.value == pytest.approx(wrong / weights)
    assert of_draw.counts == LabelCounts(sample=90)
    assert of_period == replace(of_draw, raw=of_period.raw, corrected=of_period.corrected)
    assert of_period.corrected.rate.value == pytest.approx(wrong / weights)
    assert of_draw.raw is not None


def test_a_sample_covers_the_truth(client: Client) -> None:
    """Sixty of three hundred claims; with more labels the interval is narrower."""
    insert_answers(client, range(1, 101))
    label_all(client, draw(client, 60).queue)
    small = the_rate(client)
    label_all(client, draw(client, 150, now_ns=NOW + 1).queue)
    large = the_rate(client)

    for found, labels in ((small, 60), (large, 150)):
        rate = found.corrected.rate
        assert found.corrected.labels == labels
        assert rate.low is not None
        assert rate.high is not None
        assert rate.low < 0.3 < rate.high
    # More labels than the 240 other claims would be needed.
    assert small.labels_to_goal is None
    assert small.corrected.left == 240


def test_without_labels_the_rate_says_how_many_it_needs(client: Client) -> None:
    """Before a draw, after it, and with a few labels: no number."""
    insert_answers(client, range(1, 31))
    before = the_rate(client)
    made = draw(client, 60)
    after = the_rate(client)
    label_all(client, made.queue[:12])
    few = the_rate(client)

    assert (before.covered, before.corrected.more_labels, before.quality) == (0.0, 20, None)
    assert (after.covered, after.corrected.more_labels, after.pending) == (1.0, 20, 60)
    assert (few.corrected.rate, few.corrected.more_labels, few.pending) == (NOTHING, 8, 48)
    assert few.labels_to_goal == 8


def test_labels_of_one_class_give_an_interval(client: Client) -> None:
    """Nothing wrong of 40: the rate is 0, and its upper end is not."""
    insert_answers(client, range(1, 31))
    label_all(client, draw(client, 40).queue, share=0.0)

    found = the_rate(client)

    assert (found.corrected.rate.value, found.corrected.rate.low) == (0.0, 0.0)
    assert found.corrected.rate.high is not None
    assert 0.01 < found.corrected.rate.high < 0.2
    assert found.quality is not None
    assert (found.quality.precision.value, found.quality.recall.value) == (0.0, None)


def test_a_label_behind_an_open_claim_waits(client: Client) -> None:
    """It has no probability before the claim is answered or skipped; then it counts."""
    insert_answers(client, range(1, 31))
    queue = draw(client, 30).queue
    label_all(client, [*queue[:20], *queue[21:]])
    waiting = the_rate(client)
    record_labels(client, [label_of(queue[20], GivenLabel.SKIPPED)])
    found = the_rate(client)

    assert waiting.counts == LabelCounts(sample=20, waiting=9)
    assert found.counts == LabelCounts(sample=29, skipped=1)


def test_labels_without_a_draw_are_no_sample(client: Client) -> None:
    """They count in the judge's quality on labels and in the agreement, and not in the rate."""
    insert_answers(client, range(1, 31))
    queue = draw(client, 60).queue
    found = [replace(label_of(row, WRONG), draw="", probability=0.0) for row in queue[:40]]
    record_labels(client, found)

    rate = the_rate(client)

    assert (rate.corrected.rate, rate.corrected.labels, rate.quality) == (NOTHING, 0, None)
    assert (rate.counts, rate.pending) == (LabelCounts(not_drawn=40), 60)
    assert rate.quality_on_labels is not None
    assert rate.quality_on_labels.precision.value == 1.0
    assert rater_agreement(labels_in(client, SCOPE)).labels == {"ann": 40}


def test_a_person_counts_before_a_judge(client: Client) -> None:
    """A judge's label counts where no person decided; several people count as their mean."""
    insert_answers(client, range(1, 31))
    queue = draw(client, 500).queue
    judged = [label_of(row, WRONG, rater="openai/x", kind=RaterKind.JUDGE) for row in queue]
    record_labels(client, judged)
    assert the_rate(client).corrected.rate.value == pytest.approx(1.0)

    label_all(client, queue, share=0.0)
    assert the_rate(client).corrected.rate.value == pytest.approx(0.0)
    record_labels(client, [label_of(row, WRONG, rater="bob") for row in queue])
    assert the_rate(client).corrected.rate.value == pytest.approx(0.5)
    (without,) = corrected_rates(client, SCOPE, without=["bob"])
    assert without.corrected.rate.value == pytest.approx(0.0)


def test_a_route_that_appears_after_the_draw_has_no_rate(client: Client) -> None:
    """Its claims had no chance of being drawn, and the others keep theirs."""
    insert_answers(client, range(1, 31))
    label_all(client, draw(client, 40).queue)
    insert_answers(client, range(31, 41), route="pay", start_ns=NOON + 60 * SECOND)
    pay, support = corrected_rates(client, SCOPE)

    assert (pay.route, support.route) == ("pay", "support")
    # The draw had no row of that route, so nothing of it is covered.
    assert (pay.covered, pay.corrected.more_labels) == (0.0, 20)
    assert (support.covered, support.corrected.more_labels) == (1.0, 0)


def test_claims_after_the_draw_are_not_covered(client: Client) -> None:
    """The corrected rate is of the part of the period from which was drawn, and says how large."""
    insert_answers(client, range(1, 31))
    label_all(client, draw(client, 40).queue)
    insert_answers(client, range(101, 111), start_ns=NOW + SECOND)

    found = the_rate(client, replace(SCOPE, until_ns=NOW + 60 * SECOND))

    assert found.covered == 0.75
    assert found.corrected.labels == 40


def test_answers_that_were_verified_after_the_draw_are_not_covered(client: Client) -> None:
    """They began in its period, and yet no claim of theirs could be drawn; the next draw can."""
    insert_answers(client, range(1, 31))
    label_all(client, draw(client, 40).queue)
    before = the_rate(client)
    insert_answers(client, range(101, 111), decided_ns=NOW + SECOND)

    after = the_rate(client)
    label_all(client, draw(client, 40, now_ns=NOW + 2 * SECOND).queue)

    assert (before.covered, after.covered, the_rate(client).covered) == (1.0, 0.75, 1.0)
    assert after == replace(before, covered=0.75)


def test_a_draw_that_nobody_answers_covers_nothing(client: Client) -> None:
    """The rate stays that of the labelled claims, until some of the later draw are labelled too."""
    later = replace(SCOPE, since_ns=NOW, until_ns=NOW + 60 * SECOND)
    both = replace(SCOPE, until_ns=NOW + 60 * SECOND)
    insert_answers(client, range(1, 31))
    label_all(client, draw(client, 40).queue)
    insert_answers(client, range(101, 111), start_ns=NOW + SECOND, decided_ns=NOW + 2 * SECOND)
    before = the_rate(client, both)
    made = draw(client, 20, now_ns=NOW + 60 * SECOND, scope=later)
    unanswered = the_rate(client, both)
    label_all(client, made.queue[:4])
    few = the_rate(client, both)
    label_all(client, made.queue[4:5])
    found = the_rate(client, both)

    assert before.covered == 0.75
    assert unanswered == replace(before, pending=20)
    assert few.corrected == before.corrected
    assert (few.covered, few.counts) == (0.75, LabelCounts(sample=40, waiting=4))
    assert (found.covered, found.counts) == (1.0, LabelCounts(sample=45))


def test_misleading_claims_have_a_corrected_rate_of_their_own(client: Client) -> None:
    """With every claim labelled it is the truth; that of unfaithful claims is another."""
    insert_answers(client, range(1, 61))
    queue = draw(client, 500).queue
    labels = [with_status(row, 0.2) for row in queue]
    record_labels(client, labels)
    weights = sum(row.weight for row in queue)
    misleading = sum(label.weight for label in labels if label.misleads)

    found = the_rate(client)
    other = found.of_misleading

    assert other is not None
    assert other.corrected.rate.value == pytest.approx(misleading / weights)
    assert 0.1 < misleading / weights < 0.3
    assert found.corrected.rate.value == pytest.approx(0.3, abs=0.1)
    assert (other.raw, other.quality, other.corrected.labels) == (None, None, 180)


def test_a_sample_covers_the_rate_of_misleading_claims(client: Client) -> None:
    """Eighty of six hundred claims, unequally drawn."""
    insert_answers(client, range(1, 201))
    record_labels(client, [with_status(row, 0.25) for row in draw(client, 80).queue])

    other = the_rate(client).of_misleading

    assert other is not None
    rate = other.corrected.rate
    assert rate.low is not None
    assert rate.high is not None
    assert rate.low < 0.25 < rate.high


def test_labels_that_were_not_asked_for_it_say_nothing_of_misleading_claims(
    client: Client,
) -> None:
    """Also those that call the claim wrong: else every known label would say no."""
    insert_answers(client, range(1, 61))
    queue = draw(client, 60).queue
    label_all(client, queue[:48])
    record_labels(client, [with_status(row, 0.2) for row in queue[48:]])

    found = the_rate(client)

    assert (found.corrected.labels, found.corrected.more_labels) == (60, 0)
    assert found.misleading is not None
    assert (found.misleading.labels, found.misleading.more_labels) == (12, 8)


def test_the_rate_of_a_draw_outlives_its_claims(client: Client) -> None:
    """All that it needs is stored with the draw and the labels."""
    insert_answers(client, range(1, 31))
    made = draw(client, 60)
    label_all(client, made.queue)
    before = draw_rates(client, made)
    client.command("TRUNCATE TABLE rt4chart_claims")
    client.command("TRUNCATE TABLE rt4chart_verifications")

    assert draw_rates(client, made) == before
    assert corrected_rates(client, SCOPE) == []


def test_labels_of_a_draw_with_another_seed_do_not_count(client: Client) -> None:
    """Random numbers of two seeds have no common order; the last draw's count."""
    insert_answers(client, range(1, 101))
    label_all(client, draw(client, 40).queue)
    request = DrawRequest(SCOPE, 40, "ann", seed="other")
    later = draw_claims(client, request, now_ns=NOW + 1)

    found = the_rate(client)

    assert found.corrected.rate == NOTHING
    label_all(client, later.queue)
    assert the_rate(client).corrected.labels == 40


def test_a_rater_at_random_is_found(client: Client) -> None:
    """By the agreement with the others, which is shown before the labels are believed."""
    insert_answers(client, range(1, 101))
    queue = draw(client, 100, double=1.0).queue
    label_all(client, queue, share=0.5)
    label_all(client, queue, share=0.5, rater="bob")
    coin = [
        label_of(row, WRONG if random_number("coin", row.id) < 0.5 else RIGHT, rater="eve")
        for row in queue
    ]
    record_labels(client, coin)

    found = rater_agreement(labels_in(client, SCOPE))

    assert found.poor_raters == ["eve"]
    assert found.alpha.claims == 100
    assert found.labels == {"ann": 100, "bob": 100, "eve": 100}


def test_a_verifier_without_claims_has_no_rates(client: Client) -> None:
    """Nothing is drawn, nothing is said."""
    assert corrected_rates(client, replace(SCOPE, verifier="other")) == []
    assert VERIFIER != "other"
