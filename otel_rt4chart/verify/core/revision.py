"""Makes the edits of an advice in its answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from otel_rt4chart.verify.core.model import Edit


class EditedPart(NamedTuple):
    """A stretch of an answer that stays, and the edit behind it; None at the end."""

    kept: str
    edit: Edit | None


def edited_parts(answer: str, edits: Sequence[Edit]) -> Iterator[EditedPart]:
    """The answer in order, cut at its edits; they must not overlap. ValueError if they do."""
    done = 0
    for edit in sorted(edits, key=lambda one: (one.start, one.end)):
        if not done <= edit.start <= edit.end <= len(answer):
            raise ValueError(f"expected edits that do not overlap, got {edit.start}:{edit.end}")
        yield EditedPart(answer[done : edit.start], edit)
        done = edit.end
    yield EditedPart(answer[done:], None)


def revised(answer: str, edits: Sequence[Edit]) -> str:
    """The answer with the edits made; they must not overlap. ValueError if they do."""
    parts = edited_parts(answer, edits)
    return "".join(part.kept + (part.edit.replacement if part.edit else "") for part in parts)
