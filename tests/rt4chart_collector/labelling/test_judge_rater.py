"""A trusted judge that answers the queue."""

from __future__ import annotations

from itertools import count

import pytest

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.testing import Script, ScriptedJudge
from otel_rt4chart.verify import Label, Verifier
from rt4chart_collector.labelling.judge_rater import NO_PASSAGES, label_with_judge
from rt4chart_collector.labelling.tasks import Rater, next_task, record_answer
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.trusted_labels import (
    GivenLabel,
    RaterKind,
    labels_in,
)
from tests.rt4chart_collector.labelling.answers import NOW, RULES, drawn, judged, stored
from tests.rt4chart_collector.pipeline.line import BAD, GOOD

__all__ = ["stored"]


def strong(good: Label = Label.ENTAILED, bad: Label = Label.CONTRADICTED) -> Verifier:
    """A judge that gives both answers these labels."""
    evidence = ("14 days",)
    scripts = {GOOD: Script(good, evidence=evidence), BAD: Script(bad, evidence=evidence)}
    return Verifier(ScriptedJudge(scripts, id="strong/1"))


def test_a_judge_labels_the_queue_under_its_name(stored: Client) -> None:
    """In the order of the draw, at most as many as asked for; a second run goes on."""
    draw, clock = drawn(stored), count(NOW)

    first = label_with_judge(stored, draw, strong(), limit=2, clock=lambda: next(clock), jobs=2)
    early = {row.id for row in labels_in(stored, QueryScope())}
    second = label_with_judge(stored, draw, strong(), limit=9, clock=lambda: next(clock))

    assert (first.labels, second.labels) == (2, 3)
    assert early == {row.id for row in draw.queue[:2]}
    for row in labels_in(stored, QueryScope()):
        right = row.judge_label is Label.ENTAILED
        expected = GivenLabel.ENTAILED if right else GivenLabel.CONTRADICTED
        assert (row.rater, row.kind, row.label) == ("strong/1", RaterKind.JUDGE, expected)
        assert (row.draw, row.is_blind) == (draw.id, True)


def test_a_claim_that_the_judge_leaves_undecided_stays_open(stored: Client) -> None:
    """It may be a failed call, so it is no label; several in a row stop the run."""
    draw, clock = drawn(stored), count(NOW)
    undecided = strong(Label.UNDECIDED, Label.UNDECIDED)

    run = label_with_judge(stored, draw, undecided, limit=9, clock=lambda: next(clock))

    assert (run.labels, sum(run.unlabelled.values())) == (0, 5)
    assert run.stopped == "5 claims in a row were left undecided"
    assert labels_in(stored, QueryScope()) == []


def test_a_judge_does_not_check_itself(stored: Client) -> None:
    """Its labels would only repeat its errors."""
    with pytest.raises(InputError, match="expected another judge than"):
        label_with_judge(stored, drawn(stored), RULES, limit=1, clock=lambda: NOW)


def test_what_a_person_labelled_is_left_to_people(stored: Client) -> None:
    """A claim that has its rater is not given to a judge as well."""
    draw = drawn(stored)
    task = next_task(stored, draw, Rater("ann"), now_ns=NOW)
    assert task is not None
    record_answer(stored, task.row, Rater("ann"), GivenLabel.ENTAILED, at_ns=NOW)

    run = label_with_judge(stored, draw, strong(), limit=9, clock=lambda: NOW + 1)

    assert run.labels == 4


def test_without_passages_a_judge_says_nothing(client: Client) -> None:
    """It cannot read what was retrieved: the claims stay open, and the reason is counted."""
    judged(client)
    draw = drawn(client)
    client.command("TRUNCATE TABLE otel_traces")

    run = label_with_judge(client, draw, strong(), limit=9, clock=lambda: NOW)

    assert (run.labels, dict(run.unlabelled)) == (0, {NO_PASSAGES: 5})
