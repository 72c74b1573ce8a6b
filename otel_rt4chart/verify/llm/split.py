"""Asks for the claims of an answer: sentence by sentence with guards, or as a whole."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from otel_rt4chart.verify.drafts import BEFORE, lost, parts, place, ungrounded
from otel_rt4chart.verify.llm.ask import Readings
from otel_rt4chart.verify.llm.cache import key_of
from otel_rt4chart.verify.llm.entries import build_prompt, entry_from
from otel_rt4chart.verify.llm.prompt import Prompt, instructions, numbered, quoted
from otel_rt4chart.verify.llm.reply import number_of, objects
from otel_rt4chart.verify.llm.schemas import CLAIMS, WHOLE
from otel_rt4chart.verify.model import DraftClaim, Sentence
from otel_rt4chart.verify.size import estimate_tokens


@dataclass(frozen=True, slots=True)
class Splitting:
    """The claims of each sentence; `before` are the sentences that stand before the first."""

    judge: str
    sentences: tuple[Sentence, ...]
    before: tuple[Sentence, ...] = ()

    @property
    def units(self) -> int:
        """One a sentence."""
        return len(self.sentences)

    def key(self, unit: int) -> str:
        """By the sentence and those that its pronouns may mean."""
        return key_of(
            self.judge,
            instructions("decompose"),
            self.sentences[unit].text,
            *(sentence.text for sentence in self._earlier(unit)),
        )

    def prompt(self, units: Sequence[int]) -> Prompt:
        """All sentences are shown, some are asked for."""
        told = [sentence.text for sentence in (*self.before, *self.sentences)]
        offset = len(self.before) + 1
        wanted = ", ".join(str(unit + offset) for unit in units)
        user = f"Sentences of the answer:\n{numbered(told)}\n\nSplit these sentences: {wanted}"
        size = sum(estimate_tokens(self.sentences[unit].text) for unit in units)
        return build_prompt("decompose", user, CLAIMS, 4 * size + 60 * len(units))

    def read(self, text: str, units: Sequence[int]) -> Readings:
        """The entries of each sentence, where the guards let all of them pass."""
        by_unit: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
        for item in objects(text, "claims"):
            number, claim = number_of(item.get("sentence")), item.get("claim")
            if number is not None and isinstance(claim, str) and claim.strip():
                by_unit[number - 1 - len(self.before)].append(entry_from(item, claim))
        found: dict[int, Any] = {}
        problems: list[str] = []
        for unit in units:
            wrong = self._wrong(unit, by_unit[unit])
            if wrong is None:
                found[unit] = by_unit[unit]
            else:
                problems.append(f"sentence {unit + 1 + len(self.before)}: {wrong}")
        return Readings(found, tuple(problems))

    def keeps(self, value: object) -> bool:
        """Every split that passed the guards."""
        return True

    def _earlier(self, unit: int) -> tuple[Sentence, ...]:
        return (*self.before, *self.sentences)[: len(self.before) + unit][-BEFORE:]

    def _wrong(self, unit: int, entries: Sequence[Mapping[str, Any]]) -> str | None:
        """The first thing that a guard finds wrong with a sentence's claims, in words."""
        own = self.sentences[unit].text
        if not entries:
            return "it has no entry"
        before = [sentence.text for sentence in self._earlier(unit)]
        claims = [entry["claim"] for entry in entries if entry["is_claim"]]
        for claim in claims:
            if (problem := ungrounded(claim, own, before)) is not None:
                return f"the claim {quoted(claim)}: {problem}"
            if len(joined := parts(claim)) > 1:
                return f"the claim {quoted(claim)} joins {len(joined)} facts: split it"
        if claims and (missing := lost(own, claims)):
            return "no claim keeps " + ", ".join(map(quoted, missing))
        if not claims and any(map(str.isdigit, own)):
            return "it states a number, so it holds a claim"
        return None


@dataclass(frozen=True, slots=True)
class WholeSplitting:
    """The claims of an answer as a whole, without the sentences they stand in."""

    judge: str
    sentences: tuple[Sentence, ...]

    @property
    def units(self) -> int:
        """The answer."""
        return 1

    @property
    def text(self) -> str:
        """The answer's sentences, joined."""
        return " ".join(sentence.text for sentence in self.sentences)

    def key(self, unit: int) -> str:
        """By the answer."""
        return key_of(self.judge, instructions("holistic"), self.text)

    def prompt(self, units: Sequence[int]) -> Prompt:
        """The answer in quotes."""
        user = f"Answer: {quoted(self.text)}"
        return build_prompt("holistic", user, WHOLE, 4 * estimate_tokens(self.text))

    def read(self, text: str, units: Sequence[int]) -> Readings:
        """All entries, where each is grounded in the answer; an empty list is an answer too."""
        entries = [
            entry_from(item, item["claim"])
            for item in objects(text, "claims")
            if isinstance(item.get("claim"), str) and item["claim"].strip()
        ]
        if not entries and "claims" not in text:
            return Readings({}, ('expected {"claims": [...]}',))
        wrong = [
            f"the claim {quoted(entry['claim'])}: {problem}"
            for entry in entries
            if (problem := ungrounded(entry["claim"], self.text)) is not None
        ]
        return Readings({}, tuple(wrong)) if wrong else Readings({0: entries})

    def keeps(self, value: object) -> bool:
        """Every split that passed the guards."""
        return True


def drafts_from(entries: Sequence[Mapping[str, Any]], sentence: Sentence) -> list[DraftClaim]:
    """A sentence's entries as claims, each with the range that holds its words."""
    return [
        DraftClaim(
            entry["claim"],
            sentence.index,
            place(entry["claim"], sentence),
            entry["type"],
            entry["is_claim"],
        )
        for entry in entries
    ]
