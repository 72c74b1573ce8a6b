"""Makes the edits of an advice in its answer."""

from __future__ import annotations

from collections.abc import Sequence

from otel_rt4chart.verify.core.model import Edit


def revised(answer: str, edits: Sequence[Edit]) -> str:
    """The answer with the edits made; they must not overlap. ValueError if they do."""
    parts, done = [], 0
    for edit in sorted(edits, key=lambda one: (one.start, one.end)):
        if not done <= edit.start <= edit.end <= len(answer):
            raise ValueError(f"expected edits that do not overlap, got {edit.start}:{edit.end}")
        parts += [answer[done : edit.start], edit.replacement]
        done = edit.end
    return "".join(parts) + answer[done:]
