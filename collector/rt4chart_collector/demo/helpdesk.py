"""The written answers of an invented help desk, and whether a verdict agrees with their truth."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from otel_rt4chart.verify.core.model import Claim, Clash, Exchange, Label, Passage
from rt4chart_collector.demo.labels import read_json_lines

HELPDESK = Path(__file__).parent / "data/helpdesk"
SERVICE = "helpdesk"
# A newer passage denies an outdated one: both statuses are true, and the first takes precedence.
ALSO_TRUE = {"stale": frozenset({"stale", "cherry_picked"})}


class Role(StrEnum):
    """Why an answer was written: `INCIDENT` ones come with the bad release alone."""

    FAITHFUL = "faithful"
    ERROR = "error"
    INCIDENT = "incident"


class Outcome(StrEnum):
    """How the verdicts on a sentence or an answer compare with its written truth."""

    RIGHT = "right"
    SILENT = "undecided"
    MISSED = "missed"
    """The judge calls an error supported."""
    OTHERWISE = "flagged as something else"
    OTHER_WORDS = "flagged for other words"
    FALSE_ALARM = "false alarm"

    @property
    def is_wrong(self) -> bool:
        """True where a verdict says something else than the truth."""
        return self not in (Outcome.RIGHT, Outcome.SILENT)


# From the outcome that counts most for an answer to the one that counts least.
_WORST = (Outcome.FALSE_ALARM, Outcome.MISSED, Outcome.OTHERWISE, Outcome.OTHER_WORDS,
          Outcome.RIGHT, Outcome.SILENT)  # fmt: skip


@dataclass(frozen=True, slots=True)
class WrittenSentence:
    """A sentence of an answer and its truth; `kind` is empty for a faithful one.

    `words` are the wrong ones, and `found` those of the passage that show it, "" where nothing
    does. The sentence is `answer[start:end]`.
    """

    text: str
    start: int
    end: int
    label: Label
    status: str
    kind: str = ""
    words: str = ""
    found: str = ""

    def compare(self, claims: Sequence[Claim]) -> Outcome:
        """The outcome of the verdicts on the claims of this sentence."""
        failures = [claim for claim in claims if claim.is_failure]
        is_undecided = any(claim.label is Label.UNDECIDED for claim in claims)
        if not self.kind:
            if failures:
                return Outcome.FALSE_ALARM
            return Outcome.SILENT if is_undecided else Outcome.RIGHT
        if not failures:
            return Outcome.SILENT if is_undecided else Outcome.MISSED
        if not all(self._is_status_of(claim) for claim in failures):
            return Outcome.OTHERWISE
        clashes = [clash for claim in failures for clash in claim.clashes]
        named = all(self._names(clash) for clash in clashes)
        return Outcome.RIGHT if named else Outcome.OTHER_WORDS

    def _is_status_of(self, claim: Claim) -> bool:
        if self.label.is_unfaithful:
            return claim.label is self.label
        return claim.status in ALSO_TRUE.get(self.kind, frozenset({self.status}))

    def _names(self, clash: Clash) -> bool:
        """True where the clash names the wrong words and, if it names any, those of the passage."""
        return _overlap(clash.claimed, self.words) and (
            not clash.found or _overlap(clash.found, self.found)
        )


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """One answer as it was written for the demo, with its question, its passages and its truth."""

    id: str
    route: str
    question: str
    passages: tuple[Passage, ...]
    answer: str
    role: Role
    sentences: tuple[WrittenSentence, ...]

    def exchange(self) -> Exchange:
        """What is verified."""
        return Exchange(self.question, self.passages, self.answer)

    def compare(self, claims: Sequence[Claim]) -> list[tuple[WrittenSentence, Outcome]]:
        """The outcome of each sentence that makes a claim."""
        return [
            (one, one.compare([claim for claim in claims
                               if one.start <= claim.answer_range.start < one.end]))
            for one in self.sentences
            if one.label is not Label.NOT_A_CLAIM
        ]  # fmt: skip

    def outcome(self, claims: Sequence[Claim]) -> Outcome:
        """The outcome that counts most among those of its sentences."""
        found = {outcome for _, outcome in self.compare(claims)}
        return next(outcome for outcome in _WORST if outcome in found)


@cache
def read_helpdesk(folder: Path = HELPDESK) -> Mapping[str, WrittenAnswer]:
    """The written answers by id."""
    passages = {row["id"]: _passage(row) for row in read_json_lines(folder / "passages.jsonl")}
    return {row["id"]: _answer(row, passages) for row in read_json_lines(folder / "answers.jsonl")}


def _answer(row: Mapping[str, Any], passages: Mapping[str, Passage]) -> WrittenAnswer:
    return WrittenAnswer(
        id=row["id"],
        route=row["route"],
        question=row["question"],
        passages=tuple(passages[name] for name in row["passages"]),
        answer=row["answer"],
        role=Role(row["role"]),
        sentences=tuple(_sentences(row["answer"], row["sentences"])),
    )


def _sentences(answer: str, rows: Sequence[Mapping[str, str]]) -> Iterator[WrittenSentence]:
    end = 0
    for row in rows:
        start = answer.index(row["text"], end)
        end = start + len(row["text"])
        yield WrittenSentence(
            row["text"],
            start,
            end,
            Label(row["label"]),
            row["status"],
            row.get("kind", ""),
            row.get("words", ""),
            row.get("found", ""),
        )


def _passage(row: Mapping[str, Any]) -> Passage:
    about = {name: value for name, value in row.items() if name not in ("id", "text")}
    return Passage(row["id"], row["text"], metadata=about)


def _overlap(first: str, second: str) -> bool:
    """True where the words of one are all among those of the other."""
    left, right = (set(re.findall(r"\w+", text.lower())) for text in (first, second))
    return bool(left and right) and (left <= right or right <= left)
