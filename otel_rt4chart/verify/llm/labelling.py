"""Requests for labels with evidence, for supporting sentences, for several claims in a call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from otel_rt4chart.verify.core.judge import Hint, Question, Reply, Resolve
from otel_rt4chart.verify.core.model import DraftClaim, Label, Sentence
from otel_rt4chart.verify.llm.ask import Readings
from otel_rt4chart.verify.llm.cache import key_of
from otel_rt4chart.verify.llm.prompt import Prompt, instructions, quoted, shown, template
from otel_rt4chart.verify.llm.replies import (
    PICKS,
    SEED,
    VERDICTS,
    build_prompt,
    picked_from,
    verdict_from,
    verdicts_from,
)


@dataclass(frozen=True, slots=True)
class Labelling:
    """The label and evidence of each claim; `vote` tells repeated judgements apart.

    `hints` are one a claim, or none: a claim is listed under what an earlier look at it has found.
    """

    judge: str
    stage: str
    claims: tuple[DraftClaim, ...]
    sentences: tuple[Sentence, ...]
    question: str
    hints: tuple[Hint | None, ...] = ()
    bare: bool = False
    vote: int = 0

    @property
    def units(self) -> int:
        """One a claim."""
        return len(self.claims)

    def key(self, unit: int) -> str:
        """By the claim and everything it is shown with, not by the claims asked beside it."""
        return key_of(
            self.judge,
            instructions(self.stage),
            shown(self.sentences, self.question),
            self._where(unit),
            self.vote,
            self.claims[unit].text,
        )

    def prompt(self, units: Sequence[int]) -> Prompt:
        """Passages first, claims last: calls on the same passages share their beginning."""
        ordered = list(reversed(units)) if self.vote % 2 else units
        listed: dict[str, list[str]] = {}
        for unit in ordered:
            line = f"{unit + 1}. {quoted(self.claims[unit].text)}"
            listed.setdefault(self._where(unit), []).append(line)
        asked = "\n\n".join("\n".join(filter(None, (w, *some))) for w, some in listed.items())
        user = f"{shown(self.sentences, self.question)}Claims:\n{asked}"
        return build_prompt(self.stage, user, VERDICTS, 160 * len(units), SEED + self.vote)

    def read(self, text: str, units: Sequence[int], *, is_cut: bool = False) -> Readings:
        """One verdict a claim; sentences that do not exist are dropped."""
        return verdicts_from(text, units, len(self.sentences), verdict_from, is_cut=is_cut)

    def keeps(self, value: object) -> bool:
        """Only verdicts with their evidence: a bare label is asked again."""
        return isinstance(value, dict) and (
            value["label"] == Label.BASELESS or bool(value["sentences"])
        )

    def _where(self, unit: int) -> str:
        """The adapted part of the prompt (section 3.5): where to look first, and what for."""
        if self.bare:
            return "These were labelled without evidence: name the sentences, or answer baseless."
        hint = self.hints[unit] if self.hints else None
        if hint is None:
            return ""
        own = {one.index for one in hint.chunk.sentences} if hint.chunk else set()
        inside = [n for n, one in enumerate(self.sentences, start=1) if one.index in own]
        if not inside:
            return template("hint_baseless")
        return template(f"hint_{hint.label}").format(first=inside[0], last=inside[-1])


@dataclass(frozen=True, slots=True)
class Picking:
    """The numbers of the sentences that bear on each claim."""

    judge: str
    claims: tuple[DraftClaim, ...]
    sentences: tuple[Sentence, ...]

    @property
    def units(self) -> int:
        """One a claim."""
        return len(self.claims)

    def key(self, unit: int) -> str:
        """By the claim and the sentences."""
        return key_of(
            self.judge, instructions("select"), shown(self.sentences), self.claims[unit].text
        )

    def prompt(self, units: Sequence[int]) -> Prompt:
        """Passages first, claims last."""
        asked = "\n".join(f"{unit + 1}. {quoted(self.claims[unit].text)}" for unit in units)
        user = f"{shown(self.sentences)}Claims:\n{asked}"
        return build_prompt("select", user, PICKS, 120 * len(units))

    def read(self, text: str, units: Sequence[int], *, is_cut: bool = False) -> Readings:
        """The numbers that exist."""
        return verdicts_from(text, units, len(self.sentences), picked_from, is_cut=is_cut)

    def keeps(self, value: object) -> bool:
        """Every selection."""
        return True


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
