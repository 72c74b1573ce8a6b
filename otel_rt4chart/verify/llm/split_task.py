"""The tasks of splitting an answer into claims: by sentence, with guards, or as a whole."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from otel_rt4chart.verify.core.model import DraftClaim, Sentence
from otel_rt4chart.verify.decompose.grounding import (
    SENTENCES_BEFORE,
    claim_signal,
    grounding_problem,
    locate_claim,
    missing_content,
    split_claim,
)
from otel_rt4chart.verify.link.chunks import estimate_tokens
from otel_rt4chart.verify.llm.conversation import ParsedReply, batches
from otel_rt4chart.verify.llm.prompt import Prompt, numbered, quoted
from otel_rt4chart.verify.llm.replies import (
    FROM_ONE,
    HOLISTIC_CLAIMS,
    SENTENCE_CLAIMS,
    build_prompt,
    counts_from_zero,
    entry_from,
    listed,
    number_of,
    without_confidence,
)

# Entries of a sentence, and of a whole answer: a reply with more is no split. Each is compared with
# its text, so that a hostile endpoint's reply of 4 MiB would take minutes.
MAX_ENTRIES, MAX_IN_ANSWER = 500, 2_000
# Reads an entry and its claim: a value, or a problem as a str.
EntryReader = Callable[[Mapping[str, Any], str], dict[str, Any] | str]
Adapter = Callable[[list[Mapping[str, Any]]], list[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class SplitTask:
    """Asks for the claims of each sentence; `before` are the sentences before the first."""

    judge: str
    sentences: tuple[Sentence, ...]
    before: tuple[Sentence, ...] = ()

    @property
    def units(self) -> int:
        """The number of sentences."""
        return len(self.sentences)

    def prompt(self, units: Sequence[int]) -> Prompt:
        """The prompt shows all sentences and asks for some."""
        user = f"{self.listing()}Split these sentences: {self.numbers(units)}"
        return build_prompt(
            "decompose", user, SENTENCE_CLAIMS, 4 * self.size(units) + 60 * len(units)
        )

    def read(self, text: str, units: Sequence[int], *, is_cut: bool = False) -> ParsedReply:
        """The entries of each sentence, where all of them pass the guards."""
        return self.readings(text, units, entry_from, is_cut=is_cut)

    def keeps(self, value: object) -> bool:
        """True: `read` accepts only splits that pass the guards."""
        return True

    def texts_of(self, unit: int) -> tuple[str, ...]:
        """A sentence, followed by those before it that its pronouns may refer to."""
        earlier = (*self.before, *self.sentences)[: len(self.before) + unit][-SENTENCES_BEFORE:]
        return (self.sentences[unit].text, *(sentence.text for sentence in earlier))

    def listing(self) -> str:
        """The sentences, numbered, under their heading."""
        lines = numbered(sentence.text for sentence in (*self.before, *self.sentences))
        return f"Sentences of the answer:\n{lines}\n\n"

    def numbers(self, units: Iterable[int]) -> str:
        """The units' numbers in the listing."""
        return ", ".join(str(self.number(unit)) for unit in units)

    def size(self, units: Iterable[int]) -> int:
        """The tokens of these sentences."""
        return sum(estimate_tokens(self.sentences[unit].text) for unit in units)

    def readings(
        self,
        text: str,
        units: Sequence[int],
        read: EntryReader,
        *,
        is_cut: bool,
        adapt: Adapter | None = None,
    ) -> ParsedReply:
        """The entries of each sentence as `read` parses them, where none has a problem.

        `adapt` brings entries of another form into this one.

        The last sentence of a reply that breaks off may lack claims, so it does not count.
        """
        items, is_whole = listed(text, "claims", is_cut=is_cut)
        items = adapt(items) if adapt and items else items
        if counts_from_zero(items, "sentence"):
            return ParsedReply({}, (FROM_ONE,))
        by_unit: defaultdict[int, dict[str, dict[str, Any] | str]] = defaultdict(dict)
        last = -1
        for item in items:
            number, claim = number_of(item.get("sentence")), item.get("claim")
            if number is not None and isinstance(claim, str) and claim.strip():
                last = number - self.number(0)
                entry = read(item, claim)
                by_unit[last].setdefault(repr(without_confidence(entry)), entry)
        found: dict[int, Any] = {}
        problems: list[str] = []
        for unit in units:
            entries = list(by_unit[unit].values())
            wrong = self._wrong(unit, entries)
            if wrong is None and unit == last and not is_whole:
                wrong = "the reply breaks off in it"
            if wrong is None:
                found[unit] = entries
            else:
                problems.append(f"sentence {self.number(unit)}: {wrong}")
        return ParsedReply(found, tuple(problems))

    def number(self, unit: int) -> int:
        """The unit's number in the listing."""
        return unit + 1 + len(self.before)

    def _wrong(self, unit: int, entries: Sequence[Mapping[str, Any] | str]) -> str | None:
        """The first problem that a guard finds in a sentence's entries, in words."""
        own, *before = self.texts_of(unit)
        if not entries:
            return "it has no entry"
        if len(entries) > MAX_ENTRIES:
            return f"it has {len(entries)} entries, expected at most {MAX_ENTRIES}"
        claims: list[str] = []
        others: list[str] = []
        for entry in entries:
            if isinstance(entry, str):
                return entry
            (claims if entry["is_claim"] else others).append(entry["claim"])
        for claim in claims:
            if (problem := grounding_problem(claim, own, before)) is not None:
                return f"the claim {quoted(claim)}: {problem}"
            if len(joined := split_claim(claim)) > 1:
                return f"the claim {quoted(claim)} joins {len(joined)} facts: split it"
        if claims and (missing := missing_content(own, claims, others)):
            return "no claim keeps " + ", ".join(map(quoted, missing))
        if not claims and (signal := claim_signal(own)):
            return f"it says {quoted(signal)}, so it holds a claim"
        return None


@dataclass(frozen=True, slots=True)
class HolisticSplitTask:
    """Asks for the claims of the whole answer, without the sentences they come from."""

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

    def prompt(self, units: Sequence[int]) -> Prompt:
        """The answer in quotes."""
        user = f"Answer: {quoted(self.text)}"
        return build_prompt("holistic", user, HOLISTIC_CLAIMS, 4 * estimate_tokens(self.text))

    def read(self, text: str, units: Sequence[int], *, is_cut: bool = False) -> ParsedReply:
        """All entries, where each is grounded in the answer; an empty list is valid."""
        items, is_whole = listed(text, "claims", is_cut=is_cut)
        entries = [
            entry_from(item, item["claim"])
            for item in items
            if isinstance(item.get("claim"), str) and item["claim"].strip()
        ]
        if not is_whole or len(entries) < len(items):
            return ParsedReply({}, ('expected {"claims": [{"claim": "..."}, ...]}, all of it',))
        if len(entries) > MAX_IN_ANSWER:
            return ParsedReply(
                {}, (f"expected at most {MAX_IN_ANSWER} claims, got {len(entries)}",)
            )
        wrong = [
            f"the claim {quoted(entry['claim'])}: {problem}"
            for entry in entries
            if (problem := grounding_problem(entry["claim"], self.text)) is not None
        ]
        return ParsedReply({}, tuple(wrong)) if wrong else ParsedReply({0: entries})

    def keeps(self, value: object) -> bool:
        """True: `read` accepts only splits that pass the guards."""
        return True


def split_tasks(
    judge: str, asked: Sequence[Sentence], sentences: Sequence[Sentence], size: int
) -> list[SplitTask]:
    """Tasks of at most `size` of the asked sentences, each with the sentences before them."""
    at = {one.index: position for position, one in enumerate(sentences)}
    return [
        SplitTask(
            judge,
            run,
            tuple(sentences[max(0, at[run[0].index] - SENTENCES_BEFORE) : at[run[0].index]]),
        )
        for run in batches(asked, size)
    ]


def drafts_from(entries: Sequence[Mapping[str, Any]], sentence: Sentence) -> list[DraftClaim]:
    """A sentence's entries as claims, each with the range of its words in the answer."""
    return [
        DraftClaim(
            entry["claim"],
            sentence.index,
            locate_claim(entry["claim"], sentence),
            entry["type"],
            entry["is_claim"],
        )
        for entry in entries
    ]
