"""Which claim a rater is shown next, and with what."""

from __future__ import annotations

from dataclasses import replace

from rt4chart_collector.labelling.task_reading import LabellingTask, read_task
from rt4chart_collector.labelling.tasks import (
    GONE,
    Rater,
    next_task,
    record_answer,
    route_progress,
    undo,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.labels.draws import LabelDraw
from rt4chart_collector.store.labels.trusted_labels import (
    GivenLabel,
    RaterKind,
    label_history,
    labels_of_draw,
    labels_on,
)
from tests.rt4chart_collector.labelling.answers import NOW, RULES, drawn, stored
from tests.rt4chart_collector.pipeline.line import BAD, GOOD

__all__ = ["stored"]
ANN, BOB = Rater("ann"), Rater("bob")
RIGHT = GivenLabel.ENTAILED


def label_until_done(client: Client, draw: LabelDraw, rater: Rater) -> list[str]:
    """The ids of the claims that a rater is shown one after the other."""
    shown = []
    while task := next_task(client, draw, rater, now_ns=NOW):
        record_answer(client, task.row, rater, RIGHT, at_ns=NOW)
        shown.append(task.row.id)
    return shown


def test_a_task_has_all_that_a_rater_needs(stored: Client) -> None:
    """The claim, its place in the answer, the question, the passages and the nearest sentence."""
    task = next_task(stored, drawn(stored), ANN, now_ns=NOW)

    assert isinstance(task, LabellingTask)
    start, end = task.answer_range
    assert task.answer in (GOOD, BAD)
    assert task.answer[start:end] in task.claim.text or task.claim.text in task.answer
    assert task.question == "How long is the trial?"
    assert task.passages is not None
    assert [passage.id for passage in task.passages] == ["p1"]
    assert "14 days" in task.nearest[0].text


def test_nobody_is_shown_a_claim_twice(stored: Client) -> None:
    """Each claim once, in the order of the draw, and to one person alone."""
    draw = drawn(stored)

    shown = label_until_done(stored, draw, ANN)

    assert shown == [row.id for row in draw.queue]
    assert next_task(stored, draw, BOB, now_ns=NOW) is None


def test_two_people_share_the_claims_that_are_for_two(stored: Client) -> None:
    """Everybody labels those that are drawn for two raters; a third one does not."""
    draw = drawn(stored, double=1.0)

    first, second = label_until_done(stored, draw, ANN), label_until_done(stored, draw, BOB)

    assert sorted(first) == sorted(second) == sorted(row.id for row in draw.queue)
    assert next_task(stored, draw, Rater("eve"), now_ns=NOW) is None


def test_two_people_at_once_are_given_different_claims(stored: Client) -> None:
    """From the second claim on; where both label the same one, both labels are kept."""
    draw = drawn(stored)
    first = [next_task(stored, draw, rater, now_ns=NOW) for rater in (ANN, BOB)]
    for rater, task in zip((ANN, BOB), first, strict=True):
        assert task is not None
        record_answer(stored, task.row, rater, RIGHT, at_ns=NOW)

    second = [next_task(stored, draw, rater, now_ns=NOW + 1) for rater in (ANN, BOB)]

    assert [task.row.id for task in first if task] == [draw.queue[0].id] * 2
    assert len(labels_on(stored, RULES.judge.id, [draw.queue[0].claim_key])) == 2
    assert len({task.row.id for task in second if task}) == 2


def test_a_claim_that_is_gone_is_passed_over(stored: Client) -> None:
    """It is recorded as skipped, so that the labels behind it count."""
    draw = drawn(stored)
    first = draw.queue[0]
    stored.command(
        "ALTER TABLE rt4chart_claims DELETE WHERE TraceId = {trace:String}",
        {"trace": first.trace_id},
    )

    task = next_task(stored, draw, ANN, now_ns=NOW)

    assert task is not None
    assert task.row.id == draw.queue[1].id
    (skip,) = labels_on(stored, RULES.judge.id, [first.claim_key])
    assert (skip.label, skip.note, skip.rater) == (GivenLabel.SKIPPED, GONE, "ann")


def test_a_claim_with_another_text_is_passed_over(stored: Client) -> None:
    """The judge was asked anew since: the label would be on something else."""
    draw = drawn(stored)
    changed = replace(draw.queue[0], text_hash="0" * 16)
    task = next_task(stored, replace(draw, queue=(changed, *draw.queue[1:])), ANN, now_ns=NOW)

    assert task is not None
    assert task.row.id == draw.queue[1].id


def test_without_spans_a_task_has_what_was_stored(stored: Client) -> None:
    """Spans may expire before claims: the nearest sentence is shown, and no evidence."""
    stored.command("TRUNCATE TABLE otel_traces")
    draw = drawn(stored)

    task = next_task(stored, draw, ANN, now_ns=NOW)

    assert task is not None
    assert task.passages is None
    assert "14 days" in task.nearest[0].text


def test_the_marked_words_do_not_tell_the_verdict(stored: Client) -> None:
    """Of a contradicted claim, the range of the wrong words is stored: all of it is marked."""
    draw = drawn(stored)
    tasks = [task for row in draw.queue if (task := read_task(stored, row)) is not None]
    told = {task.answer: task.answer[slice(*task.claim.answer_range)] for task in tasks}
    marked = {task.answer: task.answer[slice(*task.answer_range)] for task in tasks}

    assert told == {GOOD: GOOD, BAD: "30 days"}
    assert marked == {GOOD: GOOD.rstrip("."), BAD: BAD.rstrip(".")}


def test_an_undone_claim_comes_back(stored: Client) -> None:
    """The last one of this rater and sitting; the history keeps what was undone."""
    draw = drawn(stored)
    task = next_task(stored, draw, ANN, now_ns=NOW)
    assert task is not None
    record_answer(stored, task.row, ANN, RIGHT, at_ns=NOW, note="sure")

    taken = undo(stored, ANN, since_ns=NOW, at_ns=NOW + 1)
    nothing = undo(stored, ANN, since_ns=NOW, at_ns=NOW + 2)
    again = next_task(stored, draw, ANN, now_ns=NOW + 3)

    assert taken is not None
    assert (taken.label, taken.note, taken.is_blind) == (RIGHT, "sure", True)
    assert nothing is None
    assert again == task
    history = label_history(stored, RULES.judge.id, task.row.claim_key)
    assert [row.is_deleted for row in history] == [False, True]


def test_only_the_first_label_of_a_rater_is_blind(stored: Client) -> None:
    """A skip shows no verdict; the same label twice is one; a judge is never shown a verdict."""
    task = next_task(stored, drawn(stored), ANN, now_ns=NOW)
    assert task is not None
    strong = Rater("strong/1", RaterKind.JUDGE, "judge")
    given = [
        record_answer(stored, task.row, rater, label, at_ns=NOW + at)
        for at, (rater, label) in enumerate(
            [
                (ANN, GivenLabel.SKIPPED),
                (ANN, RIGHT),
                (ANN, RIGHT),
                (ANN, GivenLabel.BASELESS),
                (BOB, RIGHT),
                (strong, RIGHT),
                (strong, GivenLabel.BASELESS),
            ]
        )
    ]

    assert [row.is_blind for row in given] == [True, True, True, False, True, True, True]
    history = label_history(stored, RULES.judge.id, task.row.claim_key)
    assert [row.label for row in history if row.rater == "ann"] == [
        GivenLabel.SKIPPED,
        RIGHT,
        GivenLabel.BASELESS,
    ]


def test_progress_is_of_the_claim_s_route(stored: Client) -> None:
    """How many labels it lacks, and what is there."""
    draw = drawn(stored)
    task = next_task(stored, draw, ANN, now_ns=NOW)
    assert task is not None
    record_answer(stored, task.row, Rater("strong/1", RaterKind.JUDGE, "judge"), RIGHT, at_ns=NOW)

    labels = labels_of_draw(stored, draw)
    found = route_progress(draw, labels, task.row)

    assert (found.route, found.counts.sample, found.pending) == ("support", 1, 4)
    assert found.corrected.more_labels == 19
