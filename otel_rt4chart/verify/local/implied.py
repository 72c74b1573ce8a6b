"""What of a claim may follow from the passages, though other words or numbers stand there."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from otel_rt4chart.verify.core.model import Slot
from otel_rt4chart.verify.language.arithmetic import (
    Source,
    beyond_limit,
    end_of_range,
    source_of_moment,
    source_of_quantity,
    speaks_of_others,
)
from otel_rt4chart.verify.language.dates import Moment
from otel_rt4chart.verify.language.frequencies import frequencies
from otel_rt4chart.verify.language.limits import Limit, moment_limits, ordered_parts
from otel_rt4chart.verify.language.slots import ContextIndex, Slots, quantity_text
from otel_rt4chart.verify.language.units import is_measure
from otel_rt4chart.verify.language.values import Quantity
from otel_rt4chart.verify.local.alignment import Alignment
from otel_rt4chart.verify.local.bindings import rightly_bound
from otel_rt4chart.verify.local.comparison import ComparedClaim, compare
from otel_rt4chart.verify.local.differences import SlotDifference, is_part
from otel_rt4chart.verify.local.event_order import same_order
from otel_rt4chart.verify.local.roles import STAGES, is_converse
from otel_rt4chart.verify.local.scope import same_condition, same_price

# Words of order, price and frequency; a claim without them, values and opposites implies nothing.
_CUES = re.compile(
    r"\b(?:first|then|before|after\w*|once|subsequently|free|complimentary|nothing|every|each|no"
    r"|included|extras?|separately|unless|kept|keeps?|valid"
    r"|without|most|majority|hourly|daily|nightly|weekly|fortnightly|monthly|quarterly|yearly|annually)\b",
    re.IGNORECASE,
)
_AFTER = re.compile(r"\bafter\s+$", re.IGNORECASE)
_DURING = re.compile(r"\b(?:for|within|until)\s+(?:up\s+to\s+)?$|\bup\s+to\s+$", re.IGNORECASE)
_ENDS = re.compile(r"\b(?:delet|eras|purg|remov|discard|destroy|expir|lapse)\w*", re.IGNORECASE)
_LASTS = re.compile(
    r"\b(?:kept|keeps?|retain\w*|stor(?:ed|es?)|valid|lasts?|available)\b", re.IGNORECASE
)
_DIFFERS = ("clash", "missing", "elsewhere", "swapped", "opposite", "sibling")


def settle_implied(
    claim: Slots,
    alignment: Alignment,
    context: ContextIndex,
    differences: Sequence[SlotDifference],
) -> tuple[SlotDifference, ...]:
    """The differences, without those in values and words that may follow from the passages.

    For each of these there is one of the manner `implied` instead.
    """
    has_opposite = any(one.manner == "opposite" for one in differences)
    has_values = claim.quantities or claim.moments
    if not alignment.sentences or not (has_values or has_opposite or _CUES.search(claim.text)):
        return tuple(differences)
    comparison = compare(claim, alignment, context)
    others = list(_other_cases(comparison, differences))
    elsewhere = {one.sentence for one in others}
    differences = [
        one
        for one in differences
        if one.is_exact or one.sentence not in elsewhere or one.manner not in _DIFFERS
    ]
    found = [
        *others,
        *_implied_values(comparison, alignment, differences),
        *_implied_terms(comparison, differences),
        *_range_edges(comparison),
    ]
    rest = (one for one in differences if not _is_settled(one, found))
    return (*(_beside_range(comparison, one) for one in rest), *found)


def _beside_range(comparison: ComparedClaim, one: SlotDifference) -> SlotDifference:
    """A date that clashes with one end of a range, beside the whole range."""
    if one.slot != "date" or one.manner != "clash":
        return one
    for whole in _day_ranges(comparison.context.sentences[one.sentence]):
        words = comparison.context.sentences[one.sentence].text[whole.start : whole.end]
        if is_part(one.found, words):
            return replace(one, found=words)
    return one


def _day_ranges(slots: Slots) -> list[Limit]:
    """`Tuesday through Sunday`."""
    return [one for one in moment_limits(slots, "weekday") if one.low and one.high]


def _is_settled(one: SlotDifference, found: Sequence[SlotDifference]) -> bool:
    return not one.is_exact and any(
        one.manner in _DIFFERS
        and one.slot in (other.slot, "term")
        and is_part(one.claimed, other.claimed)
        for other in found
    )


def _implied_values(
    comparison: ComparedClaim, alignment: Alignment, differences: Sequence[SlotDifference]
) -> Iterator[SlotDifference]:
    claim, sentences = comparison.claim, comparison.context.sentences
    told = [(at, sentences[at]) for at in alignment.sentences]
    best = alignment.sentences[0]
    before = sentences[best - 1] if best else None
    open_ones = {one.claimed for one in differences if one.slot in ("number", "date")}
    for quantity in claim.quantities:
        if quantity_text(claim, quantity) in open_ones:
            source = source_of_quantity(claim, quantity, told, before)
            if source is not None:
                source = _unless_beyond(comparison, source, quantity.unit_end)
            else:
                source = _counted_otherwise(claim, quantity, told)
            if source is not None:
                end = max(quantity.unit_end, quantity.period_end)
                yield _implied("number", claim.text[quantity.start : end], source)
        elif source := end_of_range(claim, quantity, told):
            yield _implied("number", claim.text[quantity.start : quantity.unit_end], source)
    for moment in claim.moments:
        if claim.text[moment.start : moment.end] in open_ones:
            source = source_of_moment(claim, moment, told, before)
            if source is not None:
                source = _unless_beyond(comparison, source, moment.end)
                yield _implied("date", claim.text[moment.start : moment.end], source)
    for value, words, at in rightly_bound(comparison):
        yield _implied("number", value, Source(at, words))


def _counted_otherwise(
    claim: Slots, own: Quantity, told: Sequence[tuple[int, Slots]]
) -> Source | None:
    """`100 completed` for `100 patients completed`: the same number, beside another of its words.

    "Of 120 patients 100 completed it" sets no 120 against the claim.
    """
    said = {word.stem for word in claim.words}
    for at, sentence in told:
        for one in sentence.quantities:
            is_word = one.unit != own.unit and one.unit in said and not is_measure(one.unit)
            if is_word and one.bound == own.bound and one.value == own.value:
                return Source(at, quantity_text(sentence, one))
    return None


def _other_cases(
    comparison: ComparedClaim, differences: Sequence[SlotDifference]
) -> Iterator[SlotDifference]:
    """Cases beyond a sentence's limit of which the claim says something else than it.

    `A child of 14 may enter` beside `Children under 12 may not enter`.
    """
    claim, sentences = comparison.claim, comparison.context.sentences
    for at in sorted({one.sentence for one in differences if one.manner in _DIFFERS} - {-1}):
        is_reversed = any(
            one.sentence == at and (one.slot == "negation" or one.manner == "opposite")
            for one in differences
        )
        values: tuple[Quantity | Moment, ...] = (*claim.quantities, *claim.moments)
        for value in values:
            slot: Slot = "number" if isinstance(value, Quantity) else "date"
            end = value.unit_end if isinstance(value, Quantity) else value.end
            words = beyond_limit(sentences[at], value, claim)
            if words and (is_reversed or _says_what_follows(comparison, at, end)):
                yield _implied(slot, claim.text[value.start : end], Source(at, words, "beyond"))
            elif isinstance(value, Moment) and (words := _days_without(sentences[at], value)):
                source = Source(at, words, "beyond")
                opposites = [
                    one for one in differences if one.sentence == at and one.manner == "opposite"
                ]
                if is_reversed:
                    yield _implied(slot, claim.text[value.start : end], source)
                yield from (_implied("term", one.claimed, source) for one in opposites)


def _days_without(sentence: Slots, own: Moment) -> str:
    """The range of weekdays that leaves this one out: `closed on Mondays` beside `Tue to Sun`."""
    kind, parts = ordered_parts(own)
    ranges = _day_ranges(sentence) if kind == "weekday" else []
    if not ranges or any(one.admits(parts) for one in ranges):
        return ""
    return sentence.text[ranges[0].start : ranges[0].end]


def _unless_beyond(comparison: ComparedClaim, source: Source, end: int) -> Source:
    """A case within a limit is `narrowed` where the claim says of it what holds beyond the limit.

    `Transfers by noon are booked today. Later ones are booked tomorrow.`
    """
    if source.manner == "admitted" and _says_what_follows(comparison, source.sentence, end):
        return source._replace(manner="narrowed")
    return source


def _says_what_follows(comparison: ComparedClaim, at: int, end: int) -> bool:
    """True where the claim goes on after its value in the words of the sentence after this one.

    That one is on what the limit leaves out.
    """
    sentences = comparison.context.sentences
    if at + 1 >= len(sentences) or not speaks_of_others(sentences[at + 1].text):
        return False
    said = [
        stems
        for word, stems in zip(comparison.claim.words, comparison.equivalents, strict=True)
        if word.start >= end
    ]
    here, there = (
        [not sentences[one].positions.keys().isdisjoint(stems) for stems in said]
        for one in (at, at + 1)
    )
    is_there = any(b and not a for a, b in zip(here, there, strict=True))
    return is_there and not any(a and not b for a, b in zip(here, there, strict=True))


def _implied_terms(
    comparison: ComparedClaim, differences: Sequence[SlotDifference]
) -> Iterator[SlotDifference]:
    for one in differences:
        if one.manner == "opposite" and is_converse(
            comparison, one.claimed, one.found, one.sentence
        ):
            yield _implied("term", one.claimed, Source(one.sentence, one.found))
    for at in comparison.near:
        for same in (same_price, same_condition, _same_end):
            claimed, found = same(comparison, at)
            if claimed:
                yield _implied("term", claimed, Source(at, found))
        for often in _same_frequencies(comparison.claim, comparison.sentence(at)):
            yield _implied("number", often[0], Source(at, often[1]))
        yield from _most_by_share(comparison, at)
        for word in same_order(comparison, at):
            yield _implied("term", word, Source(at, comparison.sentence(at).text))


_MOST = re.compile(r"\b(?:most|(?:the\s+)?majority)\b", re.IGNORECASE)


def _most_by_share(comparison: ComparedClaim, at: int) -> Iterator[SlotDifference]:
    """`Most respondents` beside `62% of respondents`."""
    said, sentence = _MOST.search(comparison.claim.text), comparison.sentence(at)
    for one in sentence.quantities if said else ():
        if said and one.unit == "%" and 50 < one.value < 100:
            words = sentence.text[one.start : one.unit_end]
            yield _implied("quantifier", said.group(), Source(at, words))
            return


def _same_end(comparison: ComparedClaim, at: int) -> tuple[str, str]:
    """`deleted after 30 days` for `kept for 30 days`, or the reverse; or ""."""
    claim, sentence = comparison.claim, comparison.sentence(at)
    for one, other in ((_ENDS, _LASTS), (_LASTS, _ENDS)):
        claimed, found = one.search(claim.text), other.search(sentence.text)
        if claimed and found and _times_of(claim, one) & _times_of(sentence, other):
            return claimed.group(), found.group()
    return "", ""


def _times_of(slots: Slots, verb: re.Pattern[str]) -> set[tuple[str, float]]:
    """The times after which something ends, or during which it lasts."""
    lead = _AFTER if verb is _ENDS else _DURING
    return {one.base for one in slots.quantities if lead.search(slots.text[: one.start])}


def _same_frequencies(claim: Slots, sentence: Slots) -> Iterator[tuple[str, str]]:
    """The claim's and the sentence's words for one frequency: `daily`, `once a day`."""
    told = list(frequencies(sentence))
    for own in frequencies(claim):
        words = claim.text[own.start : own.end]
        same = [one for one in told if math.isclose(one.times, own.times, rel_tol=0.02)]
        if same and not any(sentence.text[one.start : one.end] == words for one in told):
            yield words, sentence.text[same[0].start : same[0].end]


def _range_edges(comparison: ComparedClaim) -> Iterator[SlotDifference]:
    """`Closes at 7 pm`, which is what `open from 9 am to 7 pm` says, or at another time.

    That the one opens and the other closes is no difference.
    """
    claim, stage = comparison.claim, _stage(comparison.claim)
    if stage is None or len(claim.moments) != 1 or claim.moments[0].minutes is None:
        return
    own = claim.moments[0]
    written = claim.text[own.start : own.end]
    for at in comparison.near:
        sentence = comparison.sentence(at)
        times = [one for one in sentence.moments if one.minutes is not None]
        ranges = [one for one in moment_limits(sentence, "clock") if one.low and one.high]
        if len(times) != 2 or not ranges or not (stage.stems & sentence.positions.keys()):
            continue
        edge = times[0] if stage.is_first else times[1]
        told = sentence.text[edge.start : edge.end]
        whole = sentence.text[times[0].start : times[1].end]
        yield _implied("term", stage.word, Source(at, whole))
        if edge.minutes == own.minutes:
            yield _implied("date", written, Source(at, told))
        elif _has_subject(comparison, at, stage.word, own):
            yield SlotDifference("date", "swapped", written, told, at)


class _Stage(NamedTuple):
    """The word for the first or the last of something, and the stems for both."""

    word: str
    is_first: bool
    stems: frozenset[str]


def _stage(claim: Slots) -> _Stage | None:
    """The claim's only word of this kind, as a finite verb: `opens`, `ends`."""
    found = [
        _Stage(word.text, word.stem in first, first | last)
        for word in claim.words
        for first, last in STAGES
        if word.stem in first | last and word.norm.endswith("s")
    ]
    return found[0] if len(found) == 1 else None


def _has_subject(comparison: ComparedClaim, at: int, verb: str, moment: Moment) -> bool:
    """True where the sentence has all other words of the claim."""
    claim = comparison.claim
    others = [
        bool(comparison.matches[at][word])
        for word, token in enumerate(claim.words)
        if token.text != verb and not moment.start <= token.start < moment.end
    ]
    return bool(others) and all(others)


def _implied(slot: Slot, claimed: str, source: Source) -> SlotDifference:
    words = source.words.strip()
    return SlotDifference(slot, source.manner, claimed.strip(), words, source.sentence)
