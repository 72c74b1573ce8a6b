"""Answers that are complete only with the question: `30 days.`, `It lasts 30 days.`"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from otel_rt4chart.verify.core.model import Judgement, Label, Sentence
from otel_rt4chart.verify.language.agreement import same_kind, values_agree
from otel_rt4chart.verify.language.dates import Moment, is_supported_by
from otel_rt4chart.verify.language.limits import ordered_parts
from otel_rt4chart.verify.language.question_kind import question_kind
from otel_rt4chart.verify.language.slots import Slots, read_slots
from otel_rt4chart.verify.language.thesaurus import all_synonyms
from otel_rt4chart.verify.language.values import Quantity

# What opens such an answer instead of a subject.
_PRONOUN = re.compile(
    r"^\W*(?:(?:yes|no|sure|yeah|ok(?:ay)?|certainly|of\s+course)\b\W*)?"
    r"(?:it|they|this|that|these|those|you|we|there)\b",
    re.IGNORECASE,
)
# The stems of words that name no subject, in an answer or in a question.
_GENERAL = frozenset(read_slots(
    "last take start begin open close end cost pay need have get include contain add allow answer"
    " length duration price amount number total long much many yes sure correct right okay"
    " day week month year hour minute time"
).positions)  # fmt: skip
_PIECES = re.compile(r"[,;:]\s|\b(?:and|but|or|while|whereas)\b", re.IGNORECASE)

_MAX_VALUES = 10  # of a short answer; each is compared with every value of the passages
_MAX_LISTED = 100  # values of a sentence; each is compared with the others and with its words
_MAX_OTHERS = 2  # words of a short answer beside its value: "free of charge"

Value = Quantity | Moment


class _Fit(NamedTuple):
    """The weight of the question's words that stand with a value, and the count of others."""

    share: float
    others: int  # negative


_NO_FIT = _Fit(0.0, 0)


class _Told(NamedTuple):
    """A value of a sentence, and how it fits the question."""

    value: Value
    fit: _Fit


def doubt_subject(
    judgement: Judgement, claim: str, question: str, sentences: Sequence[Sentence]
) -> Judgement:
    """Undecided instead of entailed where the answer's value may be that of another subject.

    A claim without a subject of its own has that of the question: its value must stand with more
    of the question's words than any other value of the kind.
    """
    is_asked = question_kind(question) not in ("", "task", "task, long")
    if judgement.label is not Label.ENTAILED or not is_asked:
        return judgement
    own = read_slots(claim)
    asked = read_slots(question)
    values = _values(own)
    topic = {word.stem: word.rarity for word in asked.words if word.stem not in _GENERAL}
    is_short = 0 < len(values) <= _MAX_VALUES
    if not is_short or not _lacks_subject(own, values, topic):
        return judgement
    # A verb of the question, as in "When does it open?", tells two values of one subject apart.
    topic = {word.stem: word.rarity for word in asked.words}
    told = [one for sentence in sentences for one in _told(read_slots(sentence.reading), topic)]
    for value in values:
        alike = [one for one in told if _is_alike(value, one.value)]
        own_fits = [one.fit for one in alike if _agrees(value, one.value)]
        rivals = [
            one.fit for one in alike if not any(_agrees(other, one.value) for other in values)
        ]
        if rivals and max(own_fits, default=_NO_FIT) <= max(rivals):
            written = claim[value.start : value.end]
            return Judgement(
                Label.UNDECIDED,
                reason=f"not sure: “{written}” may be the value of something else than the "
                "question asks for",
            )
    return judgement


def _values(slots: Slots) -> list[Value]:
    return [*slots.quantities, *slots.moments]


def _end(value: Value) -> int:
    return value.unit_end if isinstance(value, Quantity) else value.end


def _lacks_subject(claim: Slots, values: Sequence[Value], topic: dict[str, float]) -> bool:
    """True where the claim names nothing that the question asks for, and no subject of its own."""
    rest = {
        word.stem
        for word in claim.words
        if not any(one.start <= word.start < _end(one) for one in values)
    }
    if rest & topic.keys():
        return False
    return rest <= _GENERAL or (
        _PRONOUN.match(claim.text) is not None and len(rest - _GENERAL) <= _MAX_OTHERS
    )


def _told(slots: Slots, topic: dict[str, float]) -> Iterator[_Told]:
    """The values of a sentence; of several, each with the words of its own part alone.

    Of a long list, such as a table in one line, nothing says which words are of which value.
    """
    values = _values(slots)
    if len(values) > _MAX_LISTED:
        yield from (_Told(one, _NO_FIT) for one in values)
        return
    cuts = [0, *(match.start() for match in _PIECES.finditer(slots.text)), len(slots.text)]
    for one in values:
        start, end = 0, len(slots.text)
        if any(other != one and _is_alike(one, other) for other in values):
            start = max(at for at in cuts if at <= one.start)
            end = min(at for at in cuts if at >= one.end)
        said = {
            word.stem
            for word in slots.words
            if start <= word.start < end and not one.start <= word.start < _end(one)
        }
        met = {stem: found for stem in topic if (found := said & {stem, *all_synonyms(stem)})}
        others = said - _GENERAL - {stem for found in met.values() for stem in found}
        share = sum(topic[stem] for stem in met)
        yield _Told(one, _Fit(share, -len(others) if share else 0))


def _is_alike(one: Value, other: Value) -> bool:
    """True for values that may answer the same question."""
    if isinstance(one, Quantity) and isinstance(other, Quantity):
        lengths = {"time", "months"}
        is_bare = not one.unit and not other.unit
        families = {one.base[0], other.base[0]}
        return is_bare or one.base[0] == other.base[0] or families <= lengths or not one.unit
    if isinstance(one, Moment) and isinstance(other, Moment):
        return ordered_parts(one)[0] == ordered_parts(other)[0]
    return False


def _agrees(claimed: Value, found: Value) -> bool:
    if isinstance(claimed, Quantity) and isinstance(found, Quantity):
        is_kind = same_kind(claimed, found) or not claimed.unit or not found.unit
        return is_kind and values_agree(claimed, found)
    if isinstance(claimed, Moment) and isinstance(found, Moment):
        return is_supported_by(claimed, found)
    return False
