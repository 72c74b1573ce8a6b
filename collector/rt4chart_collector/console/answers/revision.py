"""The revised answer beside the answer: which words go and which come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from otel_rt4chart.verify.core.model import Edit
from otel_rt4chart.verify.core.revision import revised
from rt4chart_collector.console.view.filters import visible


@dataclass(frozen=True, slots=True)
class RevisedRun:
    """A piece of text that stays, goes or comes."""

    text: str
    change: Literal["", "deleted", "inserted"] = ""


@dataclass(frozen=True, slots=True)
class RevisedAnswer:
    """An answer with its edits made: `runs` shows the difference, `text` is the result."""

    runs: tuple[RevisedRun, ...]
    text: str


def revision(answer: str, edits: Sequence[Edit]) -> RevisedAnswer | None:
    """The revised answer; None without an edit, or where the edits do not fit the stored answer."""
    runs: list[RevisedRun] = []
    done = 0
    for edit in edits:
        if not done <= edit.start <= edit.end <= len(answer):
            return None
        start, end, replacement = _least(answer, edit)
        runs += [
            RevisedRun(answer[done:start]),
            RevisedRun(answer[start:end], "deleted"),
            RevisedRun(replacement, "inserted"),
        ]
        done = end
    if not runs:
        return None
    runs.append(RevisedRun(answer[done:]))
    shown = tuple(RevisedRun(visible(run.text), run.change) for run in runs if run.text)
    return RevisedAnswer(shown, visible(revised(answer, edits)))


def _least(answer: str, edit: Edit) -> tuple[int, int, str]:
    """The edit without the words that it replaces by themselves, so that only changes are shown."""
    old, new = answer[edit.start : edit.end], edit.replacement
    before = _common_words(old, new)
    old, new = old[before:], new[before:]
    after = _common_words(old[::-1], new[::-1])
    return edit.start + before, edit.end - after, new[: len(new) - after]


def _common_words(old: str, new: str) -> int:
    """The length of the common beginning, cut back to the end of a word."""
    at = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    while at and any(at < len(text) and _splits_word(text, at) for text in (old, new)):
        at -= 1
    return at


def _splits_word(text: str, at: int) -> bool:
    return text[at - 1].isalnum() and text[at].isalnum()
