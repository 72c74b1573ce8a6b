"""Values of one type that a passage binds to different conditions, and a claim to other ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar

from otel_rt4chart.verify.decompose.coordination import verbs
from otel_rt4chart.verify.language.slots import ContextIndex, Slots
from otel_rt4chart.verify.language.units import SIGNS
from otel_rt4chart.verify.language.values import Bound
from otel_rt4chart.verify.local.alignment import Alignment
from otel_rt4chart.verify.local.comparison import (
    ComparedClaim,
    StructuralDoubt,
    is_verb,
    stems_at,
)

_JOINTS = frozenset(("and", "or", "but", "while", "whereas"))
_MAX_VALUES = 2  # a part with more of them is a list
_MAX_IN_SENTENCE = 4  # a sentence with more of them is a row of a table
_MAX_QUANTITIES = 40  # of these, groups of digits in a phone number are one value
# Groups of digits as phone numbers have them; two of one length are a range.
_PHONE = re.compile(r"(?<![\w.,])(?!(\d{4})-\d{4}\b)\+?\d{2,5}(?:[ /-]\d{2,}){1,4}(?!\w)")
_SHORTEST_PHONE = 7  # digits
_LABELLED = re.compile(r"[\w() -]{1,40}:\s*$")
_MAX_KEY = 2  # words before a value that are surely its own


class _Value(NamedTuple):
    """A quantity, time or identifier; values of the same `type` can be taken for each other."""

    type: str
    key: object
    start: int
    end: int
    bound: Bound = "exact"


class _Placed(Protocol):
    @property
    def start(self) -> int: ...


_Told = TypeVar("_Told", bound=_Placed)


@dataclass(frozen=True, slots=True)
class BoundValue:
    """A value with the content words before and after it in its part of a sentence."""

    value: _Value
    at: int
    before: frozenset[int]
    after: frozenset[int]

    def side(self, *, is_after: bool) -> frozenset[int]:
        """The words on one side of the value."""
        return self.after if is_after else self.before


def bound_values(slots: Slots, at: int) -> Iterator[BoundValue]:
    """The values of a sentence, each in its part: parts end at punctuation and conjunctions."""
    if len(slots.quantities) > _MAX_QUANTITIES:
        return
    values = _values(slots)
    if len(values) > _MAX_IN_SENTENCE:
        return
    for tokens, within in _parts(slots, values) if values else ():
        if len(within) > _MAX_VALUES:
            continue
        words = [
            one
            for one in tokens
            if not _is_in(slots.tokens[one].start, within) and not _is_unit(slots, one)
        ]
        for number, value in enumerate(within):
            low = within[number - 1].end if number else 0
            high = within[number + 1].start if number + 1 < len(within) else len(slots.text)
            starts = [(one, slots.tokens[one].start) for one in words]
            before = [one for one, start in starts if low <= start < value.start]
            after = [one for one, start in starts if value.start < start < high]
            yield BoundValue(
                value, at, _content_positions(slots, before), _content_positions(slots, after)
            )


def _values(slots: Slots) -> list[_Value]:
    counted = [
        _Value(one.base[0], one.base, one.start, one.unit_end, one.bound)
        for one in slots.quantities
        if one.unit != "#"
    ]
    dated = [
        _Value("clock", one.parts, one.start, one.end)
        for one in slots.moments
        if one.minutes is not None
    ]
    phones = [
        _Value("phone", re.sub(r"\W", "", match.group()), *match.span())
        for match in _PHONE.finditer(slots.text)
        if sum(map(str.isdigit, match.group())) >= _SHORTEST_PHONE
        and not any(_is_in(match.start(), [one]) for one in dated)
    ]
    named = [
        _Value(f"name {one.kind}", one.key, one.start, one.end)
        for one in slots.identifiers
        if not _is_in(one.start, phones)
    ]
    named += [one for one in phones if not _is_in(one.start, named)]
    plain = [one for one in (*counted, *dated) if not _is_in(one.start, named)]
    return sorted((*plain, *named), key=lambda one: one.start)


def _parts(slots: Slots, values: list[_Value]) -> Iterator[tuple[list[int], list[_Value]]]:
    """The tokens of each part that has a value; one without any belongs to the part before it."""
    parts: list[tuple[list[int], list[_Value]]] = []
    lead: list[int] = []
    for tokens in _pieces(slots, values):
        start, end = slots.tokens[tokens[0]].start, slots.tokens[tokens[-1]].end
        within = [one for one in values if start <= one.start < end]
        is_apart = ";" in slots.text[slots.tokens[max(0, tokens[0] - 1)].end : start]
        if within:
            parts.append((lead + tokens, within))
            lead = []
        elif parts and not is_apart:
            parts[-1][0].extend(tokens)
        else:
            lead = lead + tokens
    yield from parts


def _pieces(slots: Slots, values: list[_Value]) -> Iterator[list[int]]:
    piece: list[int] = []
    for at, token in enumerate(slots.tokens):
        is_break = token.starts_clause and not _is_in(token.start, values)  # "8:30" is one value
        if piece and (is_break or token.norm in _JOINTS or _ends_start(slots, piece, at, values)):
            yield piece
            piece = []
        piece.append(at)
    if piece:
        yield piece


def _ends_start(slots: Slots, piece: list[int], at: int, values: list[_Value]) -> bool:
    """True for the "to" of "from $4 in 2023 to $5 in 2024", where words stand before it."""
    if slots.tokens[at].norm != "to" or _is_in(slots.tokens[at - 1].start, values):
        return False
    norms = [slots.tokens[one].norm for one in piece]
    return "from" in norms and any(_is_in(slots.tokens[one].start, values) for one in piece)


def _is_in(start: int, values: Iterable[_Value]) -> bool:
    return any(one.start <= start < one.end for one in values)


def _is_unit(slots: Slots, at: int) -> bool:
    """True for the month of "per month": it says what the value counts, not whose it is."""
    return at > 0 and slots.tokens[at - 1].norm == "per"


def _content_positions(slots: Slots, tokens: Iterable[int]) -> frozenset[int]:
    """The positions of these tokens in the content words."""
    places = slots.content_places
    return frozenset(places[at] for at in tokens if at in places)


def own_rival(
    claim: Slots,
    start: int,
    rivals: Sequence[tuple[int, _Told]],
    alignment: Alignment,
    context: ContextIndex,
) -> tuple[int, _Told] | None:
    """The value that its sentence gives to the subject of the claim's value at `start`.

    Of "Card refunds take 5 days, bank transfers take 10 days" it is the second beside "Bank
    transfers take 3 days". `rivals` are values with the positions of their sentences; without such
    a one it is the first, and None where there is none.
    """
    if not rivals:
        return None
    at = rivals[0][0]
    in_sentence = {other.start: other for where, other in rivals if where == at}
    if len(in_sentence) > 1:
        words = _own_words(claim, start)
        matches = alignment.matches[alignment.sentences.index(at)]
        shares = {
            told: sum(
                alignment.weights[word] for word in words if not own.isdisjoint(matches[word])
            )
            for told, own in _words_beside(context.sentences[at]).items()
            if told in in_sentence
        }
        most = max(shares.values(), default=0.0)
        best = [one for one, share in shares.items() if share == most]
        if most and len(best) == 1:
            return at, in_sentence[best[0]]
    return rivals[0]


def _own_words(claim: Slots, start: int) -> frozenset[int]:
    """The words that the claim binds to the value at `start`; all of them for a range's end."""
    claimed = list(bound_values(claim, -1))
    own = [_words_of(claim, one, claimed) for one in claimed if one.value.start == start]
    return (own[0] if own else frozenset()) or frozenset(range(len(claim.content)))


def _words_beside(sentence: Slots) -> Mapping[int, frozenset[int]]:
    """For each value, by its start, the words that are of it alone.

    What leads up to the first value may be of all of them; the end of a range has those of its
    beginning.
    """
    beside: dict[int, frozenset[int]] = {}
    own: frozenset[int] = frozenset()
    for one in bound_values(sentence, 0):
        lead = one.before if beside else frozenset(sorted(one.before)[-_MAX_KEY:])
        own = (lead or own) | one.after
        beside[one.value.start] = own
    return beside


def rebound_value(comparison: ComparedClaim, known: frozenset[str]) -> StructuralDoubt | None:
    """`The store opens at 6` where the sentence has `opens at 9 and closes at 6`.

    `known` are the claim's values that are not in doubt.
    """
    text = comparison.claim.text
    claimed = [
        one
        for one in bound_values(comparison.claim, -1)
        if text[one.value.start : one.value.end] not in known
    ]
    if not claimed:
        return None
    sentences = (*comparison.near, *comparison.others)
    told = [one for at in sentences for one in bound_values(comparison.sentence(at), at)]
    for one in claimed:
        own = [other for other in told if other.value.key == one.value.key]
        rivals = [other for other in told if other.value.key != one.value.key]
        words = _words_of(comparison.claim, one, claimed)
        found = [_misbound(comparison, words, mine, rivals, own) for mine in own]
        if found and all(found):
            return _doubt(comparison, one, own[0], found[0])
    return None


def rightly_bound(comparison: ComparedClaim) -> Iterator[tuple[str, str, int]]:
    """Values that near sentences give to the claim's subject, and others to another one.

    For each the claim's words, the sentence's words and the sentence's position.
    """
    claimed = list(bound_values(comparison.claim, -1))
    told = [one for at in comparison.near for one in bound_values(comparison.sentence(at), at)]
    for one in claimed if told else ():
        words = _words_of(comparison.claim, one, claimed)
        for mine in told:
            rivals = [other for other in told if other.at == mine.at and other != mine]
            is_same = (mine.value.key, mine.value.bound) == (one.value.key, one.value.bound)
            if not is_same or not rivals:
                continue
            owners = _said_owners(comparison, words, mine, rivals)
            if owners:
                value = comparison.claim.text[one.value.start : one.value.end]
                sentence = comparison.sentence(mine.at)
                yield value, _with_word(sentence, mine.value, owners), mine.at


def _said_owners(
    comparison: ComparedClaim, words: frozenset[int], mine: BoundValue, rivals: list[BoundValue]
) -> frozenset[int]:
    """The words of this value alone that the claim has; none where it has all of a rival's."""
    said = {place for word in words for place in comparison.matches[mine.at][word]}
    found: frozenset[int] = frozenset()
    for rival in rivals:
        if rival.value.type != mine.value.type:
            continue
        for is_after in (True, False):
            theirs = _owners(comparison, rival, mine, is_after=is_after)
            if theirs and theirs <= said:
                return frozenset()
            found |= _owners(comparison, mine, rival, is_after=is_after) & said
    return found


class _Misbound(NamedTuple):
    """The claim's word that belongs to another value, and the words that own this one."""

    word: int
    owners: frozenset[int]


def _words_of(claim: Slots, one: BoundValue, claimed: list[BoundValue]) -> frozenset[int]:
    """The claim's words that it binds to this value: those of its part, if it has several."""
    if sum(other.value.type == one.value.type for other in claimed) > 1:
        return one.before | one.after
    values = [other.value for other in claimed]
    return frozenset(
        place
        for place, at in enumerate(claim.content)
        if not _is_in(claim.tokens[at].start, values)
    )


def _misbound(
    comparison: ComparedClaim,
    words: frozenset[int],
    mine: BoundValue,
    rivals: list[BoundValue],
    owned: list[BoundValue],
) -> _Misbound | None:
    """A word of the claim that only a rival has, on the side where this value has another one."""
    matches = comparison.matches
    said = {place for word in words for place in matches[mine.at][word]}
    for rival in rivals:
        for is_after in (True, False):
            if not _are_comparable(comparison, mine, rival, is_after=is_after):
                continue
            owners = _owners(comparison, mine, rival, is_after=is_after)
            if not owners or owners & said:
                continue
            keys = _key_places(mine, rival, is_after=is_after)
            for word in sorted(words, key=lambda one: (-comparison.weights[one], one)):
                places = matches[rival.at][word]
                if (
                    places
                    and keys.issuperset(places)
                    and _is_alike(comparison, word, mine, owners)
                    and not _is_owned(comparison, word, rival, owned)
                ):
                    return _Misbound(word, owners)
    return None


def _is_alike(
    comparison: ComparedClaim, word: int, mine: BoundValue, owners: frozenset[int]
) -> bool:
    """True where the word could stand in the owners' place: a verb for verbs, else none."""
    sentence, token = comparison.sentence(mine.at), comparison.claim.content[word]
    if all(is_verb(sentence, sentence.content[place]) for place in owners):
        return is_verb(comparison.claim, token)
    return comparison.claim.tokens[token].norm not in verbs()


def _is_owned(
    comparison: ComparedClaim, word: int, rival: BoundValue, owned: list[BoundValue]
) -> bool:
    """True where the claim's value has the word too, or the sentence of one elsewhere."""
    return any(
        places if one.at != rival.at else (one.before | one.after).intersection(places)
        for one in owned
        for places in (comparison.matches[one.at][word],)
    )


def _are_comparable(
    comparison: ComparedClaim, mine: BoundValue, rival: BoundValue, *, is_after: bool
) -> bool:
    """True for values that may be mistaken for each other, in sentences that are built alike."""
    if rival.value.type != mine.value.type:
        return False
    return rival.at == mine.at or _are_parallel(comparison, mine, rival, is_after=is_after)


def _are_parallel(
    comparison: ComparedClaim, mine: BoundValue, rival: BoundValue, *, is_after: bool
) -> bool:
    """True where two sentences are built alike: `Premium members get …`, `Basic members get …`.

    Or where both begin with a label: `Adults: 2 tablets`, `Children: 1 tablet`.
    """
    left = stems_at(comparison.sentence(mine.at), mine.side(is_after=is_after))
    right = stems_at(comparison.sentence(rival.at), rival.side(is_after=is_after))
    are_labelled = all(
        _LABELLED.match(comparison.sentence(one.at).text, 0, one.value.start)
        for one in (mine, rival)
    )
    return not left.isdisjoint(right) or are_labelled


def _key_places(mine: BoundValue, rival: BoundValue, *, is_after: bool) -> frozenset[int]:
    """Where the rival's own words stand: what leads up to the first value may be about both."""
    side = rival.side(is_after=is_after)
    has_lead = not is_after and rival.at == mine.at and rival.value.start < mine.value.start
    return frozenset(sorted(side)[-_MAX_KEY:]) if has_lead else side


def _owners(
    comparison: ComparedClaim, mine: BoundValue, rival: BoundValue, *, is_after: bool
) -> frozenset[int]:
    """The words on that side that only this value has; without verbs where others remain."""
    sentence = comparison.sentence(mine.at)
    shared = stems_at(comparison.sentence(rival.at), rival.side(is_after=is_after))
    mine_alone = frozenset(
        place
        for place in mine.side(is_after=is_after)
        if sentence.tokens[sentence.content[place]].stem not in shared
    )
    nouns = frozenset(one for one in mine_alone if not is_verb(sentence, sentence.content[one]))
    if not is_after and (_is_next_verb(sentence, mine, rival) or _is_counted(sentence, mine)):
        return frozenset((max(mine.before),)) & mine_alone
    return nouns or mine_alone


def _is_counted(sentence: Slots, one: BoundValue) -> bool:
    """True for "a loss of $2": the word before "of" is what the value is of."""
    return (
        bool(one.before) and re.search(r"\bof\s+\W?$", sentence.text[: one.value.start]) is not None
    )


def _is_next_verb(sentence: Slots, mine: BoundValue, rival: BoundValue) -> bool:
    """True for `leaves at 8 and arrives at 10`: what stands before the first verb is of both."""
    if mine.at != rival.at or not mine.before or len(rival.before) != 1:
        return False
    own, theirs = (sentence.content[max(one.before)] for one in (mine, rival))
    ending = sentence.tokens[own].norm[-1]
    return (
        own < theirs
        and sentence.tokens[theirs - 1].norm in _JOINTS
        and ending in "sd"
        and sentence.tokens[theirs].norm.endswith(ending)
        and is_verb(sentence, own)
        and is_verb(sentence, theirs)
    )


def _doubt(
    comparison: ComparedClaim, claimed: BoundValue, mine: BoundValue, found: _Misbound | None
) -> StructuralDoubt | None:
    if found is None:
        return None
    sentence = comparison.sentence(mine.at)
    return StructuralDoubt(
        _with_word(comparison.claim, claimed.value, [found.word]),
        _with_word(sentence, mine.value, found.owners),
        mine.at,
    )


def _with_word(slots: Slots, value: _Value, words: Iterable[int]) -> str:
    """The text from the value to the nearest of these words."""
    tokens = [slots.tokens[slots.content[word]] for word in words]
    near = min(
        tokens, key=lambda token: min(abs(token.start - value.end), abs(value.start - token.end))
    )
    start, end = min(value.start, near.start), max(value.end, near.end)
    has_sign = start > 0 and slots.text[start - 1] in SIGNS
    return slots.text[start - has_sign : end]
