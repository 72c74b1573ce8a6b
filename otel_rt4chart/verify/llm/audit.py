"""Asks for everything in one call: the claims of an answer, each with its label."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from otel_rt4chart.verify.drafts import BEFORE, ungrounded
from otel_rt4chart.verify.llm.ask import Readings
from otel_rt4chart.verify.llm.cache import key_of
from otel_rt4chart.verify.llm.entries import build_prompt, entry_from, verdict_from
from otel_rt4chart.verify.llm.prompt import Prompt, instructions, numbered, passages, quoted
from otel_rt4chart.verify.llm.reply import number_of, objects
from otel_rt4chart.verify.llm.schemas import AUDIT
from otel_rt4chart.verify.model import Label, Sentence
from otel_rt4chart.verify.size import estimate_tokens


@dataclass(frozen=True, slots=True)
class Auditing:
    """The claims of each sentence of the answer with their labels, in one call."""

    judge: str
    sentences: tuple[Sentence, ...]
    context: tuple[Sentence, ...]
    question: str

    @property
    def units(self) -> int:
        """One a sentence of the answer."""
        return len(self.sentences)

    def key(self, unit: int) -> str:
        """By the answer up to the sentence, and the passages."""
        told = [sentence.text for sentence in self.sentences[: unit + 1]]
        return key_of(self.judge, instructions("single"), self._shared(), told[-1 - BEFORE :])

    def prompt(self, units: Sequence[int]) -> Prompt:
        """Passages first, the answer last."""
        told = numbered(sentence.text for sentence in self.sentences)
        wanted = ", ".join(str(unit + 1) for unit in units)
        user = f"{self._shared()}Sentences of the answer:\n{told}\n\nAudit these: {wanted}"
        size = sum(estimate_tokens(self.sentences[unit].text) for unit in units)
        return build_prompt("single", user, AUDIT, 5 * size + 160 * len(units))

    def read(self, text: str, units: Sequence[int]) -> Readings:
        """The entries of each sentence that are grounded and labelled."""
        by_unit: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
        problems: list[str] = []
        for item in objects(text, "claims"):
            number, claim = number_of(item.get("sentence")), item.get("claim")
            unit = -1 if number is None else number - 1
            if unit not in units or not isinstance(claim, str) or not claim.strip():
                continue
            entry, wrong = self._entry(unit, item, claim)
            if wrong:
                problems.append(f"sentence {unit + 1}: {wrong}")
            else:
                by_unit[unit].append(entry)
        problems += [f"sentence {unit + 1} has no entry" for unit in units if not by_unit[unit]]
        return Readings({unit: by_unit[unit] for unit in units if by_unit[unit]}, tuple(problems))

    def keeps(self, value: object) -> bool:
        """Every audited sentence whose labels have their evidence."""
        return isinstance(value, list) and all(
            not item["is_claim"] or item["label"] == Label.BASELESS or item["sentences"]
            for item in value
        )

    def _entry(
        self, unit: int, item: Mapping[str, Any], claim: str
    ) -> tuple[dict[str, Any], str | None]:
        entry = entry_from(item, claim)
        if not entry["is_claim"]:
            return entry, None
        before = [sentence.text for sentence in self.sentences[max(0, unit - BEFORE) : unit]]
        if (problem := ungrounded(claim, self.sentences[unit].text, before)) is not None:
            return entry, f"the claim {quoted(claim)}: {problem}"
        verdict = verdict_from(item, len(self.context))
        if isinstance(verdict, str):
            return entry, verdict
        return entry | verdict, None

    def _shared(self) -> str:
        question = f"Question: {quoted(self.question)}\n\n" if self.question else ""
        return f"Passages, sentence by sentence:\n{passages(self.context)}\n\n{question}"
