"""Labelling in a terminal: one claim at a time, one key a label."""

from __future__ import annotations

import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.table import Table
from rich.text import Text

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.text import printable
from rt4chart_collector.labelling.status import missing_text, rate_text
from rt4chart_collector.labelling.task_reading import LabellingTask
from rt4chart_collector.labelling.tasks import (
    Rater,
    RaterAnswer,
    next_task,
    record_answer,
    route_progress,
    undo,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.labels.draws import LabelDraw
from rt4chart_collector.store.labels.trusted_labels import GivenLabel, labels_of_draw

KEYS = {
    "1": RaterAnswer.ENTAILED,
    "2": RaterAnswer.CONTRADICTED,
    "3": RaterAnswer.BASELESS,
    "4": RaterAnswer.MISLEADING,
    "0": RaterAnswer.CANNOT_TELL,
    "s": RaterAnswer.SKIPPED,
}
QUESTION, PASSAGES, UNDO, EXIT = "q", "p", "u", "x"
HELP = (
    "1 entailed  2 contradicted  3 baseless  4 entailed, but misleading  0 cannot tell  "
    "s skip  u undo  q question  p passages  x exit"
)
# Characters of the answer on each side of the claim, of a sentence, and of a passage.
AROUND, LONGEST_SENTENCE, LONGEST_PASSAGE, MOST_PASSAGES = 400, 600, 3_000, 20
LABEL_WIDTH = 10
# The marks of the claim's words; those of the answer itself become plain brackets.
OPENS, CLOSES = "⟦⟧"
PLAIN_BRACKETS = str.maketrans({OPENS: "[", CLOSES: "]"})

ReadKey = Callable[[], str]


class LabelSession:
    """A sitting of one person at one draw; every label is stored as it is given."""

    def __init__(
        self,
        client: Client,
        draw: LabelDraw,
        rater: Rater,
        *,
        read_key: ReadKey,
        console: Console,
        clock: Callable[[], int],
    ) -> None:
        """`read_key` returns "" at the end of the input."""
        self._client = client
        self._draw = draw
        self._rater = rater
        self._read_key = read_key
        self._console = console
        self._clock = clock
        self._started_ns = clock()
        self.labels = 0

    def run(self, limit: int = 0) -> None:
        """Show claims until the rater leaves, has given `limit` labels, or none is left."""
        self._write(HELP, style="dim")
        while not limit or self.labels < limit:
            task = next_task(self._client, self._draw, self._rater, now_ns=self._clock())
            if task is None:
                self._write("no claims are left in this draw for you", style="bold")
                return
            self._show(task)
            if not self._ask(task):
                return

    def _ask(self, task: LabellingTask) -> bool:
        """Read keys until the claim has a label, or another one is next; False to leave."""
        while True:
            key = self._read_key().lower()
            if key in ("", EXIT):
                return False
            if key == UNDO:
                if self._undo():
                    return True
            elif key == QUESTION:
                self._write(task.question or "the question was not stored", label="question")
            elif key == PASSAGES:
                self._show_passages(task)
            elif key in KEYS:
                self._record(task, KEYS[key])
                return True
            elif not key.isspace():
                self._write(HELP, style="dim")

    def _record(self, task: LabellingTask, answer: RaterAnswer) -> None:
        record_answer(
            self._client,
            task.row,
            self._rater,
            answer.label,
            at_ns=self._clock(),
            status=answer.status(task),
        )
        self.labels += answer is not RaterAnswer.SKIPPED
        if answer is not RaterAnswer.SKIPPED:
            verdict = task.row.judge_label
            same = "the same" if verdict.value == answer.label.value else "another"
            sure = task.row.confidence
            stated = "no confidence stated" if sure is None else f"{sure:.2f}"
            self._write(
                f"you: {answer.replace('_', ' ')}; the judge: {verdict} "
                f"({stated}), {same}. {self._progress(task)}",
                style="dim",
            )

    def _progress(self, task: LabellingTask) -> str:
        labels = labels_of_draw(self._client, self._draw)
        rate = route_progress(self._draw, labels, task.row)
        found, name = rate.corrected.rate, printable(rate.route) or "-"
        known = "" if found.value is None else f"corrected rate {rate_text(found)}; "
        return f"{name}: {known}{missing_text(rate)}"

    def _undo(self) -> bool:
        taken = undo(self._client, self._rater, since_ns=self._started_ns, at_ns=self._clock())
        if taken is None:
            self._write("nothing to undo in this sitting", style="dim")
            return False
        self.labels -= taken.label is not GivenLabel.SKIPPED
        self._write(f"taken back: {taken.label.replace('_', ' ')}", style="dim")
        return True

    def _show(self, task: LabellingTask) -> None:
        row = task.row
        self._console.print()
        self._write(f"{row.route or '-'} · {row.service}", style="dim")
        self._write(task.claim.text, label="claim", style="bold")
        self._console.print(labelled("answer", marked_answer(task)))
        for sentence in task.nearest:
            self._write(sentence.text[:LONGEST_SENTENCE], label="passage")
        if not task.nearest:
            self._write("no sentence of the passages has a word of it", label="passage")
        if task.passages is None:
            self._write(
                "the passages were deleted: only the nearest sentence is stored", style="dim"
            )

    def _show_passages(self, task: LabellingTask) -> None:
        for passage in (task.passages or ())[:MOST_PASSAGES]:
            self._write(passage.text[:LONGEST_PASSAGE], label=passage.id[:40] or "passage")
        if not task.passages:
            self._write("the passages were deleted", style="dim")

    def _write(self, text: str, *, label: str = "", style: str = "") -> None:
        """Print an untrusted text without control characters; with line breaks behind a label."""
        if label:
            shown = labelled(label, Text(printable(text, keep="\n"), style))
            self._console.print(shown)
        else:
            self._console.print(Text(printable(text), style), soft_wrap=False)


def labelled(label: str, text: Text) -> Table:
    """A text beside its label: no line of the text begins where labels stand.

    Else an answer with a line break could show the rater a passage that there is not.
    """
    grid = Table.grid()
    grid.add_column(min_width=LABEL_WIDTH, no_wrap=True, style="dim")
    grid.add_column(overflow="fold")
    grid.add_row(Text(f"{printable(label)} "), text)
    return grid


def marked_answer(task: LabellingTask) -> Text:
    """The answer around the claim, with the claim's words marked: also without colours."""
    start, end = task.answer_range
    first, last = max(start - AROUND, 0), min(end + AROUND, len(task.answer))
    before, words, after = (
        printable(text, "·", keep="\n").translate(PLAIN_BRACKETS)
        for text in (task.answer[first:start], task.answer[start:end], task.answer[end:last])
    )
    parts: list[str | tuple[str, str]] = ["…" if first else "", before]
    if words:
        parts.append((f"{OPENS}{words}{CLOSES}", "reverse"))
    parts += [after, "…" if last < len(task.answer) else ""]
    return Text.assemble(*parts)


@contextmanager
def terminal_keys() -> Iterator[ReadKey]:
    """Read single keys from the terminal while the block runs; InputError without a terminal."""
    if not sys.stdin.isatty():
        raise InputError(
            "expected a terminal to label in: use --judge NAME or --import FILE without one"
        )
    stream = sys.stdin.fileno()
    before = termios.tcgetattr(stream)
    try:
        tty.setcbreak(stream)
        yield lambda: sys.stdin.read(1)
    finally:
        termios.tcsetattr(stream, termios.TCSADRAIN, before)
