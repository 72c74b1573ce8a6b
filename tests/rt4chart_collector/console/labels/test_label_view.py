"""What of a claim a rater is shown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_rt4chart.verify.core.model import AnswerRange, Evidence, Label, Passage
from rt4chart_collector.console.labels.label_view import (
    ALL_PASSAGES,
    LONGEST_ANSWER,
    LONGEST_TEXT,
    MAX_PASSAGES,
    task_view,
)
from rt4chart_collector.labelling.task_reading import LabellingTask, read_task
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.labelling.answers import drawn, stored
from tests.rt4chart_collector.pipeline.line import BAD

__all__ = ["stored"]


@pytest.fixture
def task(stored: Client) -> LabellingTask:
    """A contradicted claim."""
    tasks = (read_task(stored, row) for row in drawn(stored).queue)
    return next(one for one in tasks if one is not None and one.answer == BAD)


def test_the_view_is_the_same_whatever_the_judge_said(task: LabellingTask) -> None:
    """Label, confidence, stratum, reason, evidence and the narrowed range change nothing of it."""
    row = replace(task.row, judge_label=Label.ENTAILED, confidence=0.5, stratum="entailed", rate=9)
    claim = replace(
        task.claim,
        label=Label.ENTAILED,
        local_label=Label.ENTAILED,
        confidence=0.5,
        reason="",
        evidence=(Evidence("p1", 0, 3, "The", "supports"),),
        answer_range=AnswerRange(0, len(BAD)),
    )

    assert task.claim.answer_range != claim.answer_range
    assert task_view(replace(task, row=row, claim=claim)) == task_view(task)


def test_the_claim_is_marked_in_the_answer(task: LabellingTask) -> None:
    """A part of a long answer is shown; a range outside of it marks nothing."""
    before = "Other words. " * 2_000
    place = AnswerRange(len(before), len(before) + len(BAD))
    long = replace(
        task, answer=f"{before}{BAD} Last.", claim=replace(task.claim, answer_range=place)
    )

    shown = task_view(long)
    outside = task_view(replace(task, answer="short"))

    marked = [one.text for part in shown.answer for one in part.segments if one.claims]
    assert marked == [BAD.rstrip(".")]
    assert shown.answer[0].skipped > 0
    assert sum(len(one.text) for part in shown.answer for one in part.segments) <= LONGEST_ANSWER
    assert (shown.is_marked, outside.is_marked) == (True, False)


def test_texts_are_bounded(task: LabellingTask) -> None:
    """The page says how much of the passages is left out."""
    passages = tuple(Passage(f"p{at}", "x" * 50_000) for at in range(MAX_PASSAGES + 5))

    shown = task_view(replace(task, passages=passages))

    assert shown.passages is not None
    assert len(shown.passages) == MAX_PASSAGES
    assert shown.passages_left == 5
    assert (len(shown.passages[0].text), shown.passages[0].left) == (LONGEST_TEXT, 30_000)
    assert sum(len(one.text) for one in shown.passages) == ALL_PASSAGES


def test_deleted_passages_are_told_from_none(task: LabellingTask) -> None:
    """An answer without a passage has an empty list."""
    assert task_view(replace(task, passages=None)).passages is None
    assert task_view(replace(task, passages=())).passages == ()
