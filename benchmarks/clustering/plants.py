"""Failures made from real rows: what `benchmarks.clustering.planted` looks for.

Each is an error of its kind by reading. A changed number differs by a quarter at least, because
"about 873" is not wrong of 870, and is no part of a date, a time, a name or a number of a model.
One document gives one failure of a kind, because summaries of one document repeat each other.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from benchmarks.judge.misleading import Row, half, pairs_of, picks_of, premises_of
from otel_rt4chart.bench.dataset import LabelledAnswer, read_rows
from otel_rt4chart.verify import Exchange, Passage
from otel_rt4chart.verify.findings.modifiers import is_narrative
from otel_rt4chart.verify.language.slots import read_slots
from otel_rt4chart.verify.text.segment import segment_passages

EXCLUSION, CONFLICT, CONDITION, PREMISE, SLIP = (
    "cherry-picked exclusion",
    "cherry-picked contradiction",
    "condition left out",
    "premise repeated",
    "number changed",
)
FAITHFUL = "faithful"
_TABLES = ("tabfact", "infotabs")
NUMBER = re.compile(
    r"(?<![\w.,:/–-])([2-9]|[1-9]\d{1,2})(?![\w.,:/%]|[-–](?:\d|[A-Z])|\s*(?:st|nd|rd|th|[ap]\.?m)\b)"
)
# A name and its number: "Windows 10". The first word of a sentence is none.
_NAMED = re.compile(r"[^.!?\s][\s\"(]+[A-Z][\w'-]*[\s-]$")
# Without these words, a sentence is still one.
_WORDS = r"(?:\s[^\s,.;:()\"]+)"
_EXCEPT = r"except(?:\sfor)?|excluding|with the exception of"
_ALL = r"(?:all|every\w*|each|any\w*|no|never|always|nothing)"
_EXCEPTION = re.compile(
    rf"^(?:Except for|Excluding|With the exception of){_WORDS}{{1,12}},\s(?={_ALL}\b)"
    rf"|,\s(?:{_EXCEPT}){_WORDS}{{1,12}},(?=\s(?:has|have|are|were|\w+ed)\b)"
    rf"|(?:,\s(?:{_EXCEPT}){_WORDS}{{1,12}}"
    rf"|\s(?:except for|except those|with the exception of){_WORDS}{{1,12}}"
    rf"|\sexcept{_WORDS}{{1,4}})(?=\.$)"
)
_CONDITION = re.compile(
    r",?\s(?:if|unless|provided that|as long as)(?!\s(?:otherwise|noted|stated|necessary|possible))"
    r"\s[^,.;:()\"?]+(?=\.$)"
)
# No sentence that only lost its condition: "He asked", "It will only pay", "Please write to us".
_UNFIT = re.compile(
    r"^(?:please|no matter|do)\b|\b(?:only|even|as|and|or|but|what|especially|particularly|none"
    r"|that|when|see|knows?|known|ask\w*|wonder\w*|determin\w*|check|tell|sure|decide|remember|test\w*"
    r"|find|out|understand|clear|matter|says?|evaluate|assess|explore|examine|investigate)$"
    r"|\b(?:only|would|could|might)\b|\bsaid all\b",
    re.IGNORECASE,
)
_LENGTHS = range(8, 41)  # words of a sentence
_LEFT = 5  # words that remain
_BESIDE = 2  # sentences on each side of a condition
# The sentences of a text, and the number of one of them.
_Place: TypeAlias = tuple[Sequence[str], int]


def planted(data: Path, split: str, each: int, faithful: int) -> Iterator[tuple[str, Exchange]]:
    """The answers with the kind of their failure; at most `each` of a kind."""
    pairs = pairs_of(data / "nli" / "pairs.jsonl")
    rows = [*read_rows(data / "grounding"), *read_rows(data / "more" / "grounding")]
    rows = [row for row in rows if row.dataset not in _TABLES]
    right = [row for row in rows if row.split == split and not row.is_hallucinated]
    random.Random(5).shuffle(right)  # noqa: S311 - a sample, no secret
    made = {
        EXCLUSION: exclusions_of(_sentences(rows, split)),
        CONFLICT: conflicts_of(pairs, split),
        CONDITION: conditions_of(_sentences(rows, split)),
        PREMISE: refuted_premises(pairs, split),
        SLIP: slips_of(right),
    }
    for kind, found in made.items():
        yield from ((kind, one) for one, _ in zip(found, range(each), strict=False))
    own = [row for row in right if row.dataset != "realsumm"]  # a list of facts, no answers
    yield from ((FAITHFUL, row.exchange) for row in own[:faithful])


def refuted_premises(pairs: Sequence[Row], split: str) -> Iterator[Exchange]:
    """Questions that take for granted what the passage refutes, with the answer that grants it."""
    asked = premises_of([row for row in pairs if row["dataset"] == "fever"], split)
    yield from (exchange for label, exchange in asked if label == "contradicted")


def conflicts_of(pairs: Sequence[Row], split: str) -> Iterator[Exchange]:
    """Claims that one passage says and another one refutes; both name what the claim is about."""
    for pick in picks_of(pairs, split):
        if pick.dataset == "fever_symmetric" and pick.kind == "refuting":
            names = [pick.claim[one.start : one.end] for one in read_slots(pick.claim).names]
            words = {word for name in names for word in name.split()}
            if words and all(
                word in text for text in (pick.support, pick.second) for word in words
            ):
                passages = (Passage("p1", pick.support), Passage("p2", pick.second))
                yield Exchange("", passages, pick.claim)


def exclusions_of(found: Iterable[_Place]) -> Iterator[Exchange]:
    """What one passage says of all, and another one of all but some, told as the first says it."""
    for sentences, at in found:
        text = sentences[at].strip()
        rest = _without(text, _EXCEPTION)
        if rest:
            yield Exchange("", (Passage("p1", rest), Passage("p2", text)), rest)


def conditions_of(found: Iterable[_Place]) -> Iterator[Exchange]:
    """Sentences of passages in the present tense without the condition at their end."""
    for sentences, at in found:
        text = sentences[at].strip()
        rest = _without(text, _CONDITION)
        if rest and not is_narrative(text):
            near = sentences[max(at - _BESIDE, 0) : at + _BESIDE + 1]
            yield Exchange("", (Passage("p1", " ".join(near)),), rest)


def _sentences(rows: Iterable[LabelledAnswer], split: str) -> Iterator[_Place]:
    """The sentences of that half of all passages, each once."""
    seen: set[str] = set()
    for row in rows:
        sentences = [one.text for one in segment_passages(row.exchange.passages)]
        for at, text in enumerate(sentences):
            if text not in seen and half(text) == split and len(text.split()) in _LENGTHS:
                yield sentences, at
            seen.add(text)


def _without(sentence: str, phrase: re.Pattern[str]) -> str:
    """The sentence without the phrase; "" if it has none, or if too little remains."""
    match = phrase.search(sentence)
    if match is None or not sentence[0].isupper() or not sentence.endswith("."):
        return ""
    rest = sentence[: match.start()] + sentence[match.end() :]
    is_fit = len(rest.split()) >= _LEFT and not _UNFIT.search(rest[:-1])
    return rest[0].upper() + rest[1:] if is_fit else ""


def slips_of(rows: Sequence[LabelledAnswer]) -> Iterator[Exchange]:
    """Faithful answers with a plain number of their passages changed to one that none has."""
    seen: set[str] = set()
    for row in rows:
        given = row.exchange
        known = set(re.findall(r"\d+", " ".join(one.text for one in given.passages)))
        match = _plain_number(given.answer, known)
        if row.group in seen or match is None:
            continue
        seen.add(row.group)
        value = int(match[1])
        least = value + max(3, value // 4 + 1)
        other = next(str(n) for n in range(least, 10_000) if str(n) not in known)
        answer = given.answer[: match.start()] + other + given.answer[match.end() :]
        yield replace(given, answer=answer)


def _plain_number(answer: str, known: set[str]) -> re.Match[str] | None:
    """The first number that passages have and that belongs to no date, time or name."""
    slots = read_slots(answer)
    taken = {(one.start, one.end) for one in slots.moments}
    taken |= {(one.start, one.end) for one in slots.identifiers}
    taken |= {(one.start, one.end) for one in slots.names}
    for match in NUMBER.finditer(answer):
        is_taken = any(start <= match.start() < end for start, end in taken)
        if match[1] in known and not is_taken and not _NAMED.search(answer[: match.start()]):
            return match
    return None
