"""Questions on the same context as one: it is sent once, whatever the number of hints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from otel_rt4chart.verify.judge import Hint, Question, Reply, Resolve
from otel_rt4chart.verify.model import DraftClaim, Sentence


@dataclass(frozen=True, slots=True)
class Resolving:
    """Several `Resolve` in one: `hints` are one a claim."""

    claims: tuple[DraftClaim, ...]
    hints: tuple[Hint | None, ...]
    context: tuple[Sentence, ...]
    question: str
    bare: bool


class Place(NamedTuple):
    """Where a question went: into which of the merged ones, and which of its items are its own."""

    at: int
    start: int
    stop: int | None


def merged(
    questions: Sequence[Question],
) -> tuple[list[Question | Resolving], list[Place]]:
    """The questions with those to resolve joined by context, and where each one is."""
    asked: list[Question | Resolving] = []
    places: list[Place] = []
    for question in questions:
        if not isinstance(question, Resolve):
            places.append(Place(len(asked), 0, None))
            asked.append(question)
            continue
        at = next((n for n, one in enumerate(asked) if _is_like(one, question)), len(asked))
        known = asked.pop(at) if at < len(asked) else None
        joined = _joined(known, question)
        asked.insert(at, joined)
        end = len(joined.claims)
        places.append(Place(at, end - len(question.claims), end))
    return asked, places


def part(reply: Reply | Exception, place: Place) -> Reply | Exception:
    """A question's own part of the reply; an error is everyone's."""
    return reply if isinstance(reply, Exception) else reply[place.start : place.stop]


def _is_like(one: Question | Resolving, question: Resolve) -> bool:
    return (
        isinstance(one, Resolving)
        and one.context == question.context
        and (one.question, one.bare) == (question.question, question.bare)
    )


def _joined(known: Question | Resolving | None, question: Resolve) -> Resolving:
    before = known if isinstance(known, Resolving) else None
    return Resolving(
        (*(before.claims if before else ()), *question.claims),
        (*(before.hints if before else ()), *(question.hint for _ in question.claims)),
        question.context,
        question.question,
        question.bare,
    )
