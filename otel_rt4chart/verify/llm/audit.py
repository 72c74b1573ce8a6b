"""Asks for everything in one call: the claims of an answer, each with its label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from otel_rt4chart.verify.llm.ask import Readings
from otel_rt4chart.verify.llm.cache import key_of
from otel_rt4chart.verify.llm.entries import build_prompt, entry_from, verdict_from
from otel_rt4chart.verify.llm.prompt import Prompt, instructions, quoted, shown
from otel_rt4chart.verify.llm.schemas import AUDIT
from otel_rt4chart.verify.llm.split import Splitting
from otel_rt4chart.verify.model import Label, Sentence


@dataclass(frozen=True, slots=True)
class Auditing:
    """The claims of each sentence with their labels: a split whose entries are verdicts too."""

    split: Splitting
    context: tuple[Sentence, ...]
    question: str

    @property
    def units(self) -> int:
        """One a sentence of the answer."""
        return self.split.units

    def key(self, unit: int) -> str:
        """By the sentence, those that its pronouns may mean, and the passages."""
        return key_of(
            self.split.judge,
            instructions("single"),
            shown(self.context, self.question),
            *self.split.told(unit),
        )

    def prompt(self, units: Sequence[int]) -> Prompt:
        """Passages first, the answer last."""
        asked = f"{self.split.listing()}Audit these: {self.split.numbers(units)}"
        user = shown(self.context, self.question) + asked
        return build_prompt("single", user, AUDIT, 5 * self.split.size(units) + 160 * len(units))

    def read(self, text: str, units: Sequence[int], *, is_cut: bool = False) -> Readings:
        """The entries of each sentence that pass the guards; bare labels are asked once more."""
        readings = self.split.readings(text, units, self._entry, is_cut=is_cut)
        bare = {unit: value for unit, value in readings.found.items() if any(map(_is_bare, value))}
        return Readings(
            {unit: value for unit, value in readings.found.items() if unit not in bare},
            (
                *readings.problems,
                *(
                    f"the claim {quoted(item['claim'])}: name the sentences, or answer baseless"
                    for value in bare.values()
                    for item in filter(_is_bare, value)
                ),
            ),
            bare,
        )

    def keeps(self, value: object) -> bool:
        """Every audited sentence whose labels have their evidence."""
        return True

    def _entry(self, item: Mapping[str, Any], claim: str) -> dict[str, Any] | str:
        entry = entry_from(item, claim)
        if not entry["is_claim"]:
            return entry
        verdict = verdict_from(item, len(self.context))
        return (
            f"the claim {quoted(claim)}: {verdict}" if isinstance(verdict, str) else entry | verdict
        )


def _is_bare(entry: Mapping[str, Any]) -> bool:
    return entry["is_claim"] and entry["label"] != Label.BASELESS and not entry["sentences"]
