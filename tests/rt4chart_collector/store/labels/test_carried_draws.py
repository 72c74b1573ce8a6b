"""Labels that outlive a judge: rates of a new verifier from labels on the same claims."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_rt4chart.verify.core.model import Claim, Label
from otel_rt4chart.verify.rates.label_queue import random_number
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.labels.corrected_rates import (
    LabelCounts,
    RouteRate,
    corrected_rates,
    draw_rates,
)
from rt4chart_collector.store.labels.trusted_labels import RaterKind, labels_of_draw, record_labels
from tests.rt4chart_collector.records import SECOND
from tests.rt4chart_collector.store.labels.label_rows import (
    NOW,
    SCOPE,
    draw,
    insert_answers,
    label_all,
    label_of,
)

NEW = "new/1"
OF_NEW = replace(SCOPE, verifier=NEW)
OTHER_LABELS = (Label.BASELESS, Label.ENTAILED, Label.ENTAILED, Label.UNDECIDED)


def rate_of_new(client: Client) -> RouteRate:
    """The new verifier's rate of the only route."""
    (found,) = corrected_rates(client, OF_NEW)
    return found


def moved(claims: tuple[Claim, ...]) -> tuple[Claim, ...]:
    """The same claims with other numbers."""
    return (claims[0], *claims)


def split_otherwise(claims: tuple[Claim, ...]) -> tuple[Claim, ...]:
    """The second claim with other words."""
    return (claims[0], replace(claims[1], text=f"{claims[1].text[:-1]}!"), *claims[2:])


def test_the_same_verdicts_of_another_verifier_have_the_same_rate(client: Client) -> None:
    """Corrected rate, interval, quality of the judge and coverage, to the last bit of the sums."""
    insert_answers(client, range(1, 61))
    label_all(client, draw(client, 60).queue)
    insert_answers(client, range(1, 61), verifier=NEW)
    (former,) = corrected_rates(client, SCOPE)

    found = rate_of_new(client)

    counts = replace(former.counts, carried=60)
    assert former.counts == LabelCounts(sample=60)
    assert (found.counts, found.covered, found.pending) == (counts, 1.0, 0)
    rates = [found.corrected.rate, former.corrected.rate]
    assert rates[0].value == pytest.approx(rates[1].value, rel=1e-12)
    assert rates[0].low == pytest.approx(rates[1].low, rel=1e-12)
    assert rates[0].high == pytest.approx(rates[1].high, rel=1e-12)
    assert found.quality is not None
    assert former.quality is not None
    assert found.quality.precision.value == pytest.approx(former.quality.precision.value)
    assert found.raw == former.raw


def test_new_verdicts_and_numbers_keep_the_labels(client: Client) -> None:
    """With every claim labelled, the rate is the truth whatever the new judge says of them."""
    insert_answers(client, range(1, 31))
    queue = draw(client, 500).queue
    label_all(client, queue)
    insert_answers(client, range(1, 31), verifier=NEW, labels=OTHER_LABELS, split=moved)
    wrong = sum(row.weight for row in queue if random_number("truth", row.id) < 0.3)

    found = rate_of_new(client)

    assert found.counts == LabelCounts(sample=90, carried=90)
    assert found.corrected.rate.value == pytest.approx(wrong / sum(row.weight for row in queue))


def test_claims_that_are_split_otherwise_do_not_count(client: Client) -> None:
    """They are counted as gone, and so large a share of the new claims counts as not covered."""
    insert_answers(client, range(1, 31))
    label_all(client, draw(client, 500).queue)
    insert_answers(client, range(1, 31), verifier=NEW, split=split_otherwise)

    found = rate_of_new(client)

    assert found.counts == LabelCounts(sample=60, carried=60, gone=30)
    assert found.covered == pytest.approx(2 / 3)


def test_answers_that_only_one_verifier_judged_do_not_count(client: Client) -> None:
    """Neither labels of the one nor claims of the other: nobody knows what they would be."""
    insert_answers(client, range(1, 31))
    label_all(client, draw(client, 500).queue)
    insert_answers(client, range(11, 51), verifier=NEW)

    found = rate_of_new(client)

    assert found.counts == LabelCounts(sample=60, carried=60, not_judged=30)
    assert found.covered == 0.5


def test_answers_that_the_former_verifier_judged_after_its_draw_do_not_count(
    client: Client,
) -> None:
    """It could not draw from them; when the new verifier judged the others does not matter."""
    insert_answers(client, range(1, 31))
    label_all(client, draw(client, 500).queue)
    insert_answers(client, range(31, 61), decided_ns=NOW + SECOND)
    insert_answers(client, range(1, 61), decided_ns=NOW + 2 * SECOND, verifier=NEW)

    assert rate_of_new(client).covered == 0.5


def test_a_claim_of_two_draws_has_its_highest_probability(client: Client) -> None:
    """A draw of the new verifier's claims takes the labels over, and counts beside the former."""
    insert_answers(client, range(1, 61))
    former = draw(client, 60)
    label_all(client, former.queue)
    insert_answers(client, range(1, 61), verifier=NEW)
    made = draw(client, 90, now_ns=NOW + 1, scope=OF_NEW)

    (of_draw,) = draw_rates(client, made)
    found = rate_of_new(client)

    # The larger draw begins with the claims of the smaller one, which have labels.
    assert (of_draw.counts.sample, of_draw.pending) == (60, 30)
    assert (found.counts.sample, found.pending) == (60, 30)
    assert found.corrected.rate.value == pytest.approx(of_draw.corrected.rate.value)


def test_the_new_judge_does_not_label_its_own_claims(client: Client) -> None:
    """It was trusted once, and labelled claims of the former judge; now it is measured itself."""
    insert_answers(client, range(1, 31))
    queue = draw(client, 40).queue
    record_labels(client, [label_of(row, rater=NEW, kind=RaterKind.JUDGE) for row in queue])
    insert_answers(client, range(1, 31), verifier=NEW)
    made = draw(client, 40, now_ns=NOW + 1, scope=OF_NEW)

    assert corrected_rates(client, SCOPE)[0].counts.sample == 40
    assert rate_of_new(client).counts == LabelCounts()
    assert labels_of_draw(client, made) == []


def test_the_last_label_of_a_rater_counts_once(client: Client) -> None:
    """Under whichever verifier it was given: a label is of a claim."""
    insert_answers(client, range(1, 31))
    label_all(client, draw(client, 500).queue, share=1.0)
    insert_answers(client, range(1, 31), verifier=NEW)
    made = draw(client, 500, now_ns=NOW + 1, scope=OF_NEW)
    record_labels(client, [label_of(row, at_ns=NOW + SECOND) for row in made.queue])

    assert len(labels_of_draw(client, made)) == 90
    assert rate_of_new(client).corrected.rate.value == pytest.approx(0.0)
