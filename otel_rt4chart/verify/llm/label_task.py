"""The tasks of labelling claims and of selecting their evidence, several claims in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.core.judge import Hint, Question, Reply, Resolve, Select
from otel_rt4chart.verify.core.meter import Meter
from otel_rt4chart.verify.core.model import DraftClaim, Label, Sentence
from otel_rt4chart.verify.llm.cache import Cache
from otel_rt4chart.verify.llm.conversation import Dialogue, ParsedReply, ask_units, batches
from otel_rt4chart.verify.llm.prompt import LabelSet, Prompt, passages_text, quoted, template
from otel_rt4chart.verify.llm.replies import (
    SEED,
    SELECTIONS,
    VERDICTS,
    build_prompt,
    selection_from,
    verdict_from,
    verdicts_from,
)

CLAIMS_A_CALL = 20


@dataclass(frozen=True, slots=True)
class LabelTask:
    """Asks for the label and evidence of each claim; `vote` distinguishes repeated judgements.

    `hints` has one for each claim, or none at all: the prompt groups claims by their hint.
    """

    judge: str
    stage: str
    claims: tuple[DraftClaim, ...]
    sentences: tuple[Sentence, ...]
    question: str
    hints: tuple[Hint | None, ...] = ()
    bare: bool = False
    vote: int = 0
    labels: LabelSet = "three"

    @property
    def units(self) -> int:
        """The number of claims."""
        return len(self.claims)

    def prompt(self, units: Sequence[int]) -> Prompt:
        """Passages first, claims last: calls on the same passages share a prefix to cache."""
        # Every other vote lists the claims in reverse, so that their order cannot decide alone.
        ordered = list(reversed(units)) if self.vote % 2 else units
        listed: dict[str, list[str]] = {}
        for unit in ordered:
            line = f"{unit + 1}. {quoted(self.claims[unit].text)}"
            listed.setdefault(self._where(unit), []).append(line)
        asked = "\n\n".join("\n".join(filter(None, (w, *some))) for w, some in listed.items())
        user = f"{passages_text(self.sentences, self.question)}Claims:\n{asked}"
        tokens, seed = 160 * len(units), SEED + self.vote
        return build_prompt(self.stage, user, VERDICTS, tokens, seed, self.labels)

    def read(self, text: str, units: Sequence[int], *, is_cut: bool = False) -> ParsedReply:
        """One verdict for each claim; sentences that do not exist are dropped."""
        read = partial(verdict_from, labels=self.labels)
        return verdicts_from(text, units, len(self.sentences), read, is_cut=is_cut)

    def keeps(self, value: object) -> bool:
        """True for verdicts with evidence; a label without it is asked about again."""
        return isinstance(value, dict) and (
            value["label"] == Label.BASELESS or bool(value["sentences"])
        )

    def _where(self, unit: int) -> str:
        """The part of the prompt that depends on the hint (section 3.5)."""
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
class SelectTask:
    """Asks for the numbers of the sentences that bear on each claim."""

    judge: str
    claims: tuple[DraftClaim, ...]
    sentences: tuple[Sentence, ...]

    @property
    def units(self) -> int:
        """The number of claims."""
        return len(self.claims)

    def prompt(self, units: Sequence[int]) -> Prompt:
        """Passages first, claims last."""
        asked = "\n".join(f"{unit + 1}. {quoted(self.claims[unit].text)}" for unit in units)
        user = f"{passages_text(self.sentences)}Claims:\n{asked}"
        return build_prompt("select", user, SELECTIONS, 120 * len(units))

    def read(self, text: str, units: Sequence[int], *, is_cut: bool = False) -> ParsedReply:
        """The numbers that exist."""
        return verdicts_from(text, units, len(self.sentences), selection_from, is_cut=is_cut)

    def keeps(self, value: object) -> bool:
        """True: every selection may be cached."""
        return True


def ask_selection(
    question: Select, judge: str, meter: Meter, cache: Cache
) -> list[Dialogue[list[Any]]]:
    """Evidence selection as dialogues of a bounded size."""
    return [
        ask_units(SelectTask(judge, claims, question.sentences), meter, cache)
        for claims in batches(question.claims, CLAIMS_A_CALL)
    ]


def selection_reply(question: Select, selections: Sequence[Any]) -> Reply | Exception:
    """The sentences' own indices; a claim without a selection fails the whole question."""
    at = [sentence.index for sentence in question.sentences]
    for one in selections:
        if isinstance(one, JudgeError):
            return one
    return [tuple(at[number - 1] for number in numbers) for numbers in selections]


@dataclass(frozen=True, slots=True)
class ResolveGroup:
    """Several `Resolve` on the same context in one; `hints` has one for each claim."""

    claims: tuple[DraftClaim, ...]
    hints: tuple[Hint | None, ...]
    context: tuple[Sentence, ...]
    question: str
    bare: bool


class MergedPart(NamedTuple):
    """The merged question that a question became part of, and the range of its own items."""

    at: int
    start: int
    stop: int | None


def merge_resolves(
    questions: Sequence[Question],
) -> tuple[list[Question | ResolveGroup], list[MergedPart]]:
    """The questions, with those to resolve merged by context, and the place of each."""
    asked: list[Question | ResolveGroup] = []
    places: list[MergedPart] = []
    for question in questions:
        if not isinstance(question, Resolve):
            places.append(MergedPart(len(asked), 0, None))
            asked.append(question)
            continue
        at = next((n for n, one in enumerate(asked) if _is_like(one, question)), len(asked))
        known = asked.pop(at) if at < len(asked) else None
        joined = _joined(known, question)
        asked.insert(at, joined)
        end = len(joined.claims)
        places.append(MergedPart(at, end - len(question.claims), end))
    return asked, places


def reply_part(reply: Reply | Exception, place: MergedPart) -> Reply | Exception:
    """A question's own part of a merged reply; an error goes to all its questions."""
    return reply if isinstance(reply, Exception) else reply[place.start : place.stop]


def _is_like(one: Question | ResolveGroup, question: Resolve) -> bool:
    return (
        isinstance(one, ResolveGroup)
        and one.context == question.context
        and (one.question, one.bare) == (question.question, question.bare)
    )


def _joined(known: Question | ResolveGroup | None, question: Resolve) -> ResolveGroup:
    before = known if isinstance(known, ResolveGroup) else None
    return ResolveGroup(
        (*(before.claims if before else ()), *question.claims),
        (*(before.hints if before else ()), *(question.hint for _ in question.claims)),
        question.context,
        question.question,
        question.bare,
    )
