from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

from otel_rt4chart.verify.core.model import Label
from rt4chart_collector.demo.labels import HumanLabel
from rt4chart_collector.demo.people import (
    CorrectedLine,
    corrected_lines,
    given_label,
    label_drawn_claims,
    people_by_route,
)
from rt4chart_collector.store.answers.answers import StoredAnswer, verified_answers
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.draws import DEFAULT_SEED, latest_draw
from rt4chart_collector.store.labels.trusted_labels import GivenLabel, RaterKind, labels_in
from tests.rt4chart_collector.records import verdict
from tests.rt4chart_collector.store.labels.label_rows import NOW, insert_answers

ANSWER = "The trial is free. It lasts 30 days."
WRONG = HumanLabel("a", "sales", ANSWER, hallucinated=True, ranges=((28, 30),))
LEFT_OUT = HumanLabel("c", "sales", ANSWER, hallucinated=True, ranges=())


def answers_and_labels(
    client: Client, *, count: int = 40
) -> tuple[list[StoredAnswer], dict[str, HumanLabel]]:
    """Answers of three claims; people call the second claim of every other answer wrong.

    Of every fifth answer they say only that something is missing.
    """
    insert_answers(client, range(1, count + 1))
    stored = [replace(one, metadata=json.dumps({"answer_id": one.trace_id}))
              for one in verified_answers(client)]  # fmt: skip
    labels = {}
    for one in stored:
        number = int(one.trace_id, 16)
        texts = [claim.text for claim in one.claims]
        text = " ".join(texts)
        start = text.index(texts[2])
        labels[one.trace_id] = HumanLabel(
            answer_id=one.trace_id,
            route=one.route,
            answer=text,
            hallucinated=number % 2 == 0 or number % 5 == 0,
            ranges=((start, start + 5),) if number % 2 == 0 and number % 5 else (),
        )
    return stored, labels


def test_people_call_a_claim_wrong_right_or_cannot_tell() -> None:
    """An error by omission lies in no claim."""
    given = [given_label(*pair) for pair in (
        (WRONG, "It lasts 30 days."), (WRONG, "The trial is free."),
        (LEFT_OUT, "It lasts 30 days."),
    )]  # fmt: skip

    assert given == [GivenLabel.BASELESS, GivenLabel.ENTAILED, GivenLabel.CANNOT_TELL]


def test_a_route_gets_25_labels_past_the_claims_that_people_do_not_decide(client: Client) -> None:
    """They are on the first claims of the product's own draw, and on no others."""
    stored, labels = answers_and_labels(client)

    label_drawn_claims(client, labels, stored, now_ns=NOW)

    draw = latest_draw(client, QueryScope())
    assert draw is not None
    assert {(row.seed, row.size, row.double_share) for row in draw.routes} == {
        (DEFAULT_SEED, 100, 0.0)
    }
    given = labels_in(client, QueryScope())
    decided = Counter(row.label.is_decided for row in given)
    assert decided[True] == 25
    assert decided[False] > 0
    assert {row.id for row in given} == {row.id for row in draw.queue[: len(given)]}
    assert {(row.rater, row.kind, row.is_blind) for row in given} == {
        ("annotators of the data set", RaterKind.PERSON, True)
    }


def test_the_corrected_rate_stands_beside_the_judges_and_peoples_own(client: Client) -> None:
    """People's rate is of all claims, also of those that the judge left undecided."""
    stored, labels = answers_and_labels(client)
    label_drawn_claims(client, labels, stored, now_ns=NOW)

    (line,) = corrected_lines(client, stored, labels)

    people = people_by_route(stored, labels, has_undecided=True)["support"]
    # 32 answers of 40 have known claims, and 16 of these have one wrong claim of three.
    assert (people.claims, people.marked, line.people) == (96, 16, 16 / 96)
    assert line.labels == 25
    assert line.raw is not None
    assert line.raw > 0.2
    assert line.is_covered


def test_without_claims_nothing_is_drawn(client: Client) -> None:
    """The demo of no answer, or of one without a claim, shows no corrected rate."""
    insert_verdicts(client, [verdict(1, [Label.NOT_A_CLAIM])])
    label_drawn_claims(client, {}, [], now_ns=NOW)
    label_drawn_claims(client, {}, verified_answers(client), now_ns=NOW)

    assert corrected_lines(client, [], {}) == ()


def test_an_interval_covers_what_lies_in_it() -> None:
    """Its ends are inside, and a missing interval covers nothing."""
    line = CorrectedLine("sales", 0.2, 0.4, 0.3, 0.5, 25, 0.3)

    assert line.is_covered
    assert not replace(line, people=0.51).is_covered
    assert not replace(line, corrected=None, low=None, high=None).is_covered


def test_peoples_rate_of_decided_claims_leaves_undecided_ones_out(client: Client) -> None:
    """The table of the judge's rates compares the same claims."""
    stored, labels = answers_and_labels(client)
    decided = sum(
        claim.label.is_decided
        for one in stored
        for claim in one.claims
        if int(one.trace_id, 16) % 5 and claim.label is not Label.NOT_A_CLAIM
    )

    assert people_by_route(stored, labels)["support"].claims == decided
