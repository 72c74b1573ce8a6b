"""A claim to label as values: what a rater sees, and nothing that the judge said of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from otel_rt4chart.verify.core.model import Passage
from rt4chart_collector.console.answers.segments import TextMark, Window, widened, windows
from rt4chart_collector.labelling.task_reading import LabellingTask, NearSentence

# Characters of a long answer that are shown in all, and on each side of the claim.
LONGEST_ANSWER, AROUND = 12_000, 1_500
# Characters of any other text, and of all passages.
LONGEST_TEXT, ALL_PASSAGES, MAX_PASSAGES = 20_000, 200_000, 200


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """The start of a passage; `left` characters come after it."""

    id: str
    text: str
    left: int


@dataclass(frozen=True, slots=True)
class TaskView:
    """A claim to label. Templates are given this and not the task, which has the verdict.

    `answer` is the answer or its part with the claim; `left` characters come after it. `passages`
    is None where the spans were deleted.
    """

    id: str
    service: str
    route: str
    claim: str
    question: str
    answer: tuple[Window, ...]
    left: int
    is_marked: bool
    nearest: tuple[NearSentence, ...]
    passages: tuple[ShownPassage, ...] | None
    passages_left: int


def task_view(task: LabellingTask) -> TaskView:
    """What a rater sees of the task."""
    place = task.answer_range
    marks = [TextMark(*place, claim=0, weight=0)] if place.start < place.end else []
    found = windows(task.answer, widened(task.answer, marks), longest=LONGEST_ANSWER, around=AROUND)
    shown = sum(one.skipped + sum(len(piece.text) for piece in one.segments) for one in found)
    passages = None if task.passages is None else tuple(_passages(task.passages))
    return TaskView(
        id=task.row.id,
        service=task.row.service,
        route=task.row.route,
        claim=task.claim.text[:LONGEST_TEXT],
        question=task.question[:LONGEST_TEXT],
        answer=found,
        left=len(task.answer) - shown,
        is_marked=bool(marks),
        nearest=tuple(
            NearSentence(one.passage_id, one.text[:LONGEST_TEXT]) for one in task.nearest
        ),
        passages=passages,
        passages_left=len(task.passages or ()) - len(passages or ()),
    )


def _passages(passages: Sequence[Passage]) -> Iterator[ShownPassage]:
    room = ALL_PASSAGES
    for one in passages[:MAX_PASSAGES]:
        text = one.text[: min(LONGEST_TEXT, room)]
        room -= len(text)
        yield ShownPassage(one.id, text, len(one.text) - len(text))
