"""Numbers, dates, names and identifiers of a claim that its context lacks, or has others for."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from otel_rt4chart.verify.core.model import Slot
from otel_rt4chart.verify.language.agreement import (
    EMPTY_INDEX,
    QuantityIndex,
    index_quantities,
    same_kind,
    values_agree,
)
from otel_rt4chart.verify.language.dates import (
    Moment,
    contradicts,
    is_supported_by,
    is_supported_in,
)
from otel_rt4chart.verify.language.identifiers import Identifier, spelling
from otel_rt4chart.verify.language.names import Name, missing_parts
from otel_rt4chart.verify.language.slots import ContextIndex, Slots, quantity_text
from otel_rt4chart.verify.language.tokens import vocabulary
from otel_rt4chart.verify.language.units import UNIT_FAMILIES
from otel_rt4chart.verify.language.values import Quantity, opens_range
from otel_rt4chart.verify.local.alignment import Alignment
from otel_rt4chart.verify.local.bindings import own_rival
from otel_rt4chart.verify.local.differences import SlotDifference


def number_differences(
    claim: Slots, alignment: Alignment, context: ContextIndex
) -> Iterator[SlotDifference]:
    """Quantities that the aligned sentences do not have, or have with another value."""
    found = [
        (at, other) for at in alignment.sentences for other in context.sentences[at].quantities
    ]
    near = index_quantities(other for _, other in found) if claim.quantities else EMPTY_INDEX
    rivals = _rival_quantities(claim, found, near)
    coded = {one.start for one in claim.identifiers}  # compared by themselves
    for quantity in (one for one in claim.quantities if one.start not in coded):
        written = claim.text[quantity.start : quantity.end]
        alike = list(near.like(quantity))
        if any(same_kind(quantity, other) and values_agree(quantity, other) for other in alike):
            continue
        alternatives = rivals.get(quantity.kind, ()) if quantity.kind else ()
        rival = own_rival(claim, quantity.start, alternatives, alignment, context)
        if any(
            _has_same_value(quantity, other) and (rival is None or _is_bare(rival[0], other, found))
            for other in alike
        ):
            continue
        if any(_has_same_value(quantity, other) for other in context.quantities.like(quantity)):
            yield SlotDifference("number", "elsewhere", quantity_text(claim, quantity))
        elif not context.has_word(_digits(written) or quantity.plain):
            yield SlotDifference("number", "missing", quantity_text(claim, quantity))
        if rival is not None:
            at, other = rival
            text = quantity_text(context.sentences[at], other)
            yield SlotDifference("number", "clash", quantity_text(claim, quantity), text, at)


def _is_bare(at: int, same: Quantity, found: Sequence[tuple[int, Quantity]]) -> bool:
    """True where the sentence has the value, too, and no word for what it counts.

    `Python 3.8 is no longer supported; use 3.9`.
    """
    return same.kind.startswith("after ") and (at, same) in found


def _rival_quantities(
    claim: Slots, found: Sequence[tuple[int, Quantity]], near: QuantityIndex
) -> dict[str, list[tuple[int, Quantity]]]:
    """For each kind of quantity those with a value that the claim gives nowhere."""
    known = {other.key for _, other in found}
    given = {
        other.key
        for one in claim.quantities
        for other in near.like(one)
        # The 3 of "Zone 3", which the sentence has, too, gives no "3 km".
        if values_agree(one, other) and (one.unit or not other.unit or one.key not in known)
    }
    rivals: dict[str, list[tuple[int, Quantity]]] = {}
    for at, other in found:
        if other.key not in given:
            rivals.setdefault(other.kind, []).append((at, other))
    return rivals


def _has_same_value(claimed: Quantity, found: Quantity) -> bool:
    """True where the values agree, and so do their units where both belong to a known family."""
    kinds = (claimed.base[0], found.base[0])
    return values_agree(claimed, found) and (
        kinds[0] == kinds[1] or not UNIT_FAMILIES.issuperset(kinds)
    )


def _digits(written: str) -> str:
    return "".join(letter for letter in written if letter.isdigit() or letter == ".").strip(".")


def name_whole_ranges(
    claim: Slots, context: ContextIndex, differences: Iterable[SlotDifference]
) -> tuple[SlotDifference, ...]:
    """The differences with a range as one value: `2 to 3 days`, not `2` and `3 days`."""
    own = dict(_ranges(claim))
    named = (_in_ranges(one, own, context) if one.slot == "number" else one for one in differences)
    return tuple(dict.fromkeys(named))


def _in_ranges(one: SlotDifference, own: dict[str, str], context: ContextIndex) -> SlotDifference:
    if one.manner not in ("clash", "missing", "elsewhere"):
        return one
    told = dict(_ranges(context.sentences[one.sentence])) if one.sentence >= 0 else {}
    return replace(
        one, claimed=own.get(one.claimed, one.claimed), found=told.get(one.found, one.found)
    )


def _ranges(slots: Slots) -> Iterator[tuple[str, str]]:
    """Each end of a range and the whole of it, as the text writes them.

    Not an end that the text has as a value of its own, too.
    """
    ends = Counter(quantity_text(slots, one) for one in slots.quantities)
    for low, high in pairwise(slots.quantities):
        if opens_range(slots.text, low, high):
            for end in (quantity_text(slots, low), quantity_text(slots, high)):
                if ends[end] == 1:
                    yield end, slots.text[low.start : high.unit_end].strip()


def date_differences(
    claim: Slots, alignment: Alignment, context: ContextIndex
) -> Iterator[SlotDifference]:
    """Dates and times that the aligned sentences do not have, or have with another value."""
    for date in claim.moments:
        near = [
            (at, other) for at in alignment.sentences for other in context.sentences[at].moments
        ]
        if any(is_supported_by(date, other) for _, other in near):
            continue
        written = claim.text[date.start : date.end]
        known = is_supported_in(date, context.dates) or _is_bare_hour(date, written, context)
        if not known:
            yield SlotDifference("date", "missing", written)
        rivals = [(at, other) for at, other in near if _is_rival_date(date, other, claim)]
        rival = own_rival(claim, date.start, rivals, alignment, context)
        if rival is not None:
            at, other = rival
            found = context.sentences[at].text[other.start : other.told_end]
            yield SlotDifference("date", "clash", written, found, at)


def _is_bare_hour(date: Moment, written: str, context: ContextIndex) -> bool:
    """True where the context has the hour alone: `7 pm` is not missing beside `at 7`."""
    return date.minutes is not None and written.split(":")[0].rstrip(" apmAPM.") in context.holders


def _is_rival_date(claimed: Moment, found: Moment, claim: Slots) -> bool:
    return contradicts(claimed, found) and not any(
        is_supported_by(other, found) for other in claim.moments
    )


def name_differences(
    claim: Slots, alignment: Alignment, context: ContextIndex
) -> Iterator[SlotDifference]:
    """Names that the context does not have, in whole or in part, and the names in their place."""
    rivals: list[_RivalName] | None = None
    for name in claim.names:
        lost = missing_parts(name, claim.tokens, context.holders, context.initials)
        lost = tuple(at for at in lost if not _has_equivalent(claim, alignment, at))
        if not lost:
            continue
        share = len(lost) / len(name.tokens)
        first, last = claim.tokens[lost[0]], claim.tokens[lost[-1]]
        written = claim.text[first.start : last.end]
        quoted = claim.text[name.start : name.end] if _is_common(claim, name, lost) else written
        yield SlotDifference("name", "missing", quoted, weight=share)
        if rivals is None:
            rivals = list(_rival_names(claim, alignment, context))
        found = _rival_name(claim, name, lost, rivals, alignment)
        if found is not None:
            is_sure = first.is_capital and not (found.is_place and _is_place(claim, lost[0]))
            yield SlotDifference(
                "name", "clash", written, found.strange, found.sentence, is_exclusive=is_sure
            )


def _is_common(claim: Slots, name: Name, lost: tuple[int, ...]) -> bool:
    """True where the rest of the name says nothing without the lost words: "New" of New York."""
    kept = [claim.tokens[at] for at in name.tokens if at not in lost]
    return all(vocabulary().is_common(one.stem) for one in kept)


# A name after one of these may be a place, and a place lies in others: Parma in Italy.
_BEFORE_PLACES = frozenset("in from at near across around outside inside".split())  # noqa: SIM905


def _is_place(slots: Slots, first: int) -> bool:
    return first > 0 and slots.tokens[first - 1].norm in _BEFORE_PLACES


def _has_equivalent(claim: Slots, alignment: Alignment, at: int) -> bool:
    word = bisect_left(claim.content, at)
    is_content = word < len(claim.content) and claim.content[word] == at
    return is_content and bool(alignment.equivalents[word])


class _RivalName(NamedTuple):
    """A name of an aligned sentence, perhaps a place, with words that the claim lacks.

    `which` is the place of its sentence in the alignment, `first` and `last` are the positions of
    its words in the sentence's content words.
    """

    which: int
    sentence: int
    stems: frozenset[str]
    strange: str
    first: int
    last: int
    is_place: bool


def _rival_names(claim: Slots, alignment: Alignment, context: ContextIndex) -> Iterator[_RivalName]:
    for which, at in enumerate(alignment.sentences):
        sentence = context.sentences[at]
        for name in sentence.names:
            strange = [
                part for part in name.tokens if sentence.tokens[part].stem not in claim.positions
            ]
            if strange:
                start, end = sentence.tokens[strange[0]].start, sentence.tokens[strange[-1]].end
                yield _RivalName(
                    which,
                    at,
                    frozenset(sentence.tokens[part].stem for part in name.tokens),
                    sentence.text[start:end],
                    bisect_left(sentence.content, name.tokens[0]),
                    bisect_left(sentence.content, name.tokens[-1]),
                    _is_place(sentence, strange[0]),
                )


def _rival_name(
    claim: Slots,
    name: Name,
    lost: tuple[int, ...],
    rivals: Sequence[_RivalName],
    alignment: Alignment,
) -> _RivalName | None:
    """The sentence's name in its place: one that shares words, else one with the same neighbour.

    `Space Shuttle Columbia` for `Space Shuttle Challenger`.
    """
    known = {claim.tokens[at].stem for at in name.tokens if at not in lost}
    sides = [_neighbours(claim, lost, path) for path in alignment.paths] if rivals else []
    best: tuple[int, _RivalName] | None = None
    for rival in rivals:
        shared = len(known & rival.stems)
        left, right = sides[rival.which]
        is_in_place = shared or left == rival.first - 1 or right == rival.last + 1
        if is_in_place and (best is None or shared > best[0]):
            best = (shared, rival)
    return best[1] if best else None


def _neighbours(
    claim: Slots, lost: tuple[int, ...], path: tuple[int | None, ...]
) -> tuple[int, int]:
    """The positions in a sentence of the words around the lost ones; -9 where there is none."""
    before, after = bisect_left(claim.content, lost[0]) - 1, bisect_right(claim.content, lost[-1])
    left = path[before] if before >= 0 else None
    right = path[after] if after < len(claim.content) else None
    return -9 if left is None else left, -9 if right is None else right


def identifier_differences(
    claim: Slots, alignment: Alignment, context: ContextIndex
) -> Iterator[SlotDifference]:
    """Identifiers that the context does not have in any spelling, and those in their place."""
    if not claim.identifiers:
        return
    near = [
        (at, other) for at in alignment.sentences for other in context.sentences[at].identifiers
    ]
    given = {one.key for one in claim.identifiers}
    for one in claim.identifiers:
        written = claim.text[one.start : one.end]
        # `2.31` may be 2.31.1; `2.31.0`, which is the same version, is not.
        is_release = not written.endswith(".0") and f"{one.key}." in context.identifiers
        if one.key in context.identifiers or is_release or _is_told(one, context):
            continue
        slot: Slot = "name" if one.has_letters else "number"
        longer = [(at, other) for at, other in near if other.is_short_for(one)]
        for at, other in longer[:1]:
            found = context.sentences[at].text[other.start : other.end]
            yield SlotDifference(slot, "narrowed", written, found, at)
        if longer:
            continue
        yield SlotDifference(slot, "missing", written, is_exact=True)
        rival = next(
            ((at, other) for at, other in near if one.is_like(other) and other.key not in given),
            None,
        )
        if rival is not None:
            at, other = rival
            found = context.sentences[at].text[other.start : other.end]
            yield SlotDifference(slot, "clash", written, found, at, is_exact=True)


def _is_told(one: Identifier, context: ContextIndex) -> bool:
    """True where a sentence has the identifier in another spelling."""
    pattern = spelling(one)
    return any(
        pattern.search(sentence.text) or any(map(one.is_short_for, sentence.identifiers))
        for sentence in context.sentences
    )
