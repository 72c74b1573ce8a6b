"""The revised answer beside the answer: which words go and which come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from otel_rt4chart.verify.core.model import Edit
from otel_rt4chart.verify.core.revision import edited_parts
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
    if not edits:
        return None
    try:
        parts = list(edited_parts(answer, edits))
    except ValueError:
        return None
    runs: list[RevisedRun] = []
    kept = ""
    for part in parts:
        kept += part.kept
        if part.edit is not None:
            *changed, kept = _changes(kept, answer[part.edit.start : part.edit.end], part.edit)
            runs += changed
    runs.append(RevisedRun(kept))
    text = "".join(run.text for run in runs if run.change != "deleted")
    shown = tuple(RevisedRun(visible(run.text), run.change) for run in runs if run.text)
    return RevisedAnswer(shown, visible(text))


def _changes(kept: str, old: str, edit: Edit) -> tuple[RevisedRun, RevisedRun, RevisedRun, str]:
    """What stays, goes and comes, and what stays behind: an edit may repeat words of the answer."""
    new = edit.replacement
    before = _common_words(old, new)
    after = _common_words(old[before:][::-1], new[before:][::-1])
    old_end, new_end = len(old) - after, len(new) - after
    return (
        RevisedRun(kept + old[:before]),
        RevisedRun(old[before:old_end], "deleted"),
        RevisedRun(new[before:new_end], "inserted"),
        old[old_end:],
    )


def _common_words(old: str, new: str) -> int:
    """The length of the common beginning, cut back to the end of a word."""
    at = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    while at and any(at < len(text) and _splits_word(text, at) for text in (old, new)):
        at -= 1
    return at


def _splits_word(text: str, at: int) -> bool:
    return text[at - 1].isalnum() and text[at].isalnum()
