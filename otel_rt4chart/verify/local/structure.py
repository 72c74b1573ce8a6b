"""Structural doubt: order, scope and roles that stand between a claim and its nearest sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from otel_rt4chart.verify.core.model import Judgement, Label, Sentence
from otel_rt4chart.verify.decompose.coordination import listed
from otel_rt4chart.verify.language.cues import cues
from otel_rt4chart.verify.language.negation import are_opposite
from otel_rt4chart.verify.language.slots import ScopeWord, Slots
from otel_rt4chart.verify.language.values import Quantity
from otel_rt4chart.verify.language.word_lists import BOUND_DENIED, EXCLUDES
from otel_rt4chart.verify.local.bindings import rebound_value
from otel_rt4chart.verify.local.comparison import (
    Comparison,
    StructuralDoubt,
    compare,
    in_all_near,
    phrase,
)
from otel_rt4chart.verify.local.differences import negation_differences
from otel_rt4chart.verify.local.features import ClaimReading
from otel_rt4chart.verify.local.roles import exchanged_arguments, other_subject
from otel_rt4chart.verify.local.verdict import passage_name

# Pairs of function words that say the opposite of each other before the same word.
_OPPOSED = (
    (listed("before prior ahead"), listed("after")),
    (listed("for"), listed("against")),
    (listed("with"), listed("without")),
    (listed("above over"), listed("below under beneath underneath")),
    (listed("to into onto"), listed("from")),
    (listed("from since"), listed("until till")),
    (listed("inside within"), listed("outside")),
    (listed("more greater higher"), listed("less fewer lower")),
)
_TIME = 0  # before and after oppose each other whatever stands on their left
_MORE = len(_OPPOSED) - 1  # "A has more than B" is what "B has less than A" says
_GOVERNS = 4  # words behind a function word, among which is the one that it governs
_LONGEST_PHRASE = 3


class _Governed(NamedTuple):
    """A function word, by its token, and the content word behind it, by its position."""

    pair: int
    is_first: bool
    cue: int
    word: int


def _governed(slots: Slots) -> list[_Governed]:
    found = []
    places = {at: place for place, at in enumerate(slots.content)}
    for at, token in enumerate(slots.tokens):
        for pair, (first, second) in enumerate(_OPPOSED):
            if token.norm in first or token.norm in second:
                word = _first_content(slots, at, places)
                if word is not None:
                    found.append(_Governed(pair, token.norm in first, at, word))
    return found


def _first_content(slots: Slots, cue: int, places: dict[int, int]) -> int | None:
    for at in range(cue + 1, min(len(slots.tokens), cue + 1 + _GOVERNS)):
        if slots.tokens[at].starts_clause:
            return None
        if at in places:
            return places[at]
    return None


def opposed_word(comparison: Comparison) -> StructuralDoubt | None:
    """`after you travel` for `before you travel`, `for the closure` for `against the closure`."""
    return in_all_near(comparison, _opposed_in)


def _opposed_in(comparison: Comparison, at: int) -> StructuralDoubt | None:
    claim, sentence, matches = comparison.claim, comparison.sentence(at), comparison.matches[at]
    if claim.denials or sentence.denials:
        return None  # "not before" says "after"
    theirs = _governed(sentence)
    compares = any(token.norm == "than" for token in (*claim.tokens, *sentence.tokens))
    for own in _governed(claim):
        if own.pair == _MORE and compares:
            continue
        same = [one for one in theirs if one.pair == own.pair and one.word in matches[own.word]]
        if not same or any(one.is_first == own.is_first for one in same):
            continue
        left = matches[own.word - 1] if own.word else ()
        if own.pair == _TIME or any(
            one.word - 1 - place in (0, 1) for one in same for place in left
        ):
            return StructuralDoubt(
                "opposed_word", _phrase_from(claim, own), _phrase_from(sentence, same[0]), at
            )
    return None


def _phrase_from(slots: Slots, one: _Governed) -> str:
    """The function word and what it governs: `before your last working day`."""
    last = slots.content[one.word]
    for at in range(last + 1, min(len(slots.tokens), last + _LONGEST_PHRASE)):
        if slots.tokens[at].starts_clause or not slots.tokens[at].is_content:
            break
        last = at
    return phrase(slots, one.cue, last)


def opposed_bound(comparison: Comparison) -> StructuralDoubt | None:
    """`at least $200` for `up to $200`."""
    return in_all_near(comparison, _bound_in)


def _bound_in(comparison: Comparison, at: int) -> StructuralDoubt | None:
    claim, sentence = comparison.claim, comparison.sentence(at)
    if claim.denials or sentence.denials:
        return None
    for own in claim.quantities:
        same = [one for one in sentence.quantities if one.base == own.base]
        if same and all({own.bound, one.bound} == {"at_least", "at_most"} for one in same):
            return StructuralDoubt(
                "bound", _with_bound(claim, own), _with_bound(sentence, same[0]), at
            )
    return None


_BOUND_WORDS = re.compile(
    r"(?:(?:no\s+)?(?:more|less|fewer)\s+than|at\s+(?:least|most)|up\s+to|over|above|under|below"
    r"|exceed\w*|a\s+(?:minimum|maximum)\s+of)\s*[$€£¥₹]?$",
    re.IGNORECASE,
)
_BOUND_BEHIND = re.compile(r"(?:\s+\w+){0,2}\s+(?:or|and)\s+\w+|\s?\+")


def _with_bound(slots: Slots, one: Quantity) -> str:
    before = _BOUND_WORDS.search(slots.text[: one.start])
    behind = None if before else _BOUND_BEHIND.match(slots.text, one.end)
    start = before.start() if before else one.start
    return slots.text[start : behind.end() if behind else one.unit_end].strip()


_EXCLUDED = re.compile(EXCLUDES, re.IGNORECASE)
_BOUND_DENIED = re.compile(BOUND_DENIED, re.IGNORECASE)
# Words that take something out of a whole; what they name is excluded from what the rest says.
_EXCEPTIONS = re.compile(
    r"except|exclud|other\s+than|apart\s+from|with\s+the\s+exception|but\s+not|not\s+including",
    re.IGNORECASE,
)

_DENIED_WHOLE = re.compile(
    r"\b(?:no|none|nothing|nobody|never|not(?!\s+including))\b", re.IGNORECASE
)


def excluded_word(comparison: Comparison) -> StructuralDoubt | None:
    """`Norway is served` where Norway stands nowhere but in `all countries except Norway`."""
    claim = comparison.claim
    if claim.denials or _EXCLUDED.search(claim.text):
        return None
    for word, stems in enumerate(comparison.equivalents):
        holders = sorted(
            {at for stem in stems for at in comparison.context.holders[stem]},
            key=lambda at: comparison.sentence(at).text,
        )
        found = [_exception_over(comparison.sentence(at), stems) for at in holders]
        if found and all(found) and holders[0] in (*comparison.near, *comparison.others):
            token = claim.tokens[claim.content[word]]
            return StructuralDoubt("exclusion", token.text, found[0] or "", holders[0])
    return None


def _exception_over(sentence: Slots, stems: tuple[str, ...]) -> str | None:
    """The words that except all of the sentence's words with these stems, and the last of them."""
    if _DENIED_WHOLE.search(sentence.text):
        return None  # "nothing apart from the tower" says it of the tower
    tokens = [sentence.content[place] for one in stems for place in sentence.positions.get(one, ())]
    found = [_excepting(sentence, at) for at in tokens]
    return found[0] if found and all(found) else None


def _excepting(sentence: Slots, at: int) -> str | None:
    token = sentence.tokens[at]
    for cue in cues(sentence.text, "exclusion"):
        start, span = sentence.text.find(cue.word), sentence.text.find(cue.span)
        if not _EXCEPTIONS.match(cue.word) or not cue.span:
            continue
        if span <= token.start < span + len(cue.span):
            end = start + len(cue.word)
            return sentence.text[min(start, token.start) : max(end, token.end)]
    return None


def other_negation(comparison: Comparison) -> StructuralDoubt | None:
    """`Keys expire after 180 days` for `Keys do not expire`, or the reverse."""
    return in_all_near(comparison, _negation_in)


def _negation_in(comparison: Comparison, at: int) -> StructuralDoubt | None:
    claim, context = comparison.claim, comparison.context
    if not _is_denied_once(claim, comparison.sentence(at)):
        return None
    for one in negation_differences(claim, comparison.alone(at), context):
        if one.manner == "clash":
            return StructuralDoubt("negation", one.claimed, one.found, at)
    return None


def _is_denied_once(claim: Slots, sentence: Slots) -> bool:
    """True where one of the two denies one thing, and the other denies and excludes nothing."""
    if any(_BOUND_DENIED.search(one.text) for one in (claim, sentence)):
        return False
    counts = [len(one.denials) + len(_EXCLUDED.findall(one.text)) for one in (claim, sentence)]
    if sorted(counts) != [0, 1]:
        return False
    stems = {token.stem for token in sentence.words}
    return not any(are_opposite(word.stem, stem) for word in claim.words for stem in stems)


_FREE = re.compile(
    r"\b(?:free\s+of\s+charge|for\s+free|complimentary|ships?\s+free"
    r"|at\s+no\s+(?:(?:extra|additional)\s+)?(?:charge|cost)"
    r"|without\s+(?:(?:extra|additional)\s+)?(?:charge|cost|fee)|(?:is|are|was|were|be)\s+free"
    r"(?!\s+(?:of|from|to|and|in|on|agent|after|until)\b)"
    r"|free\s+(?:delivery|shipping|returns?|entry|admission|parking))\b",
    re.IGNORECASE,
)
_COSTS = re.compile(
    r"[$€£¥₹]\s?\d[\d.,]*|\b\d[\d.,]*\s?(?:dollars?|euros?|pounds?|cents?)\b"
    r"|\bcosts?\s+extra\b|\bfor\s+(?:a|an\s+extra)\s+fee\b",
    re.IGNORECASE,
)


def other_price(comparison: Comparison) -> StructuralDoubt | None:
    """`Shipping is free` where the sentence names an amount, or the reverse."""
    return in_all_near(comparison, _price_in)


def _price_in(comparison: Comparison, at: int) -> StructuralDoubt | None:
    if comparison.claim.denials or comparison.sentence(at).denials:
        return None
    claim, sentence = comparison.claim.text, comparison.sentence(at).text
    for one, other in ((_FREE, _COSTS), (_COSTS, _FREE)):
        claimed, found = one.search(claim), other.search(sentence)
        if claimed and found and not other.search(claim) and not one.search(sentence):
            return StructuralDoubt("price", claimed.group(), found.group(), at)
    return None


_OF_MANY = re.compile(
    r"\b(?:one|some|two|three|several|many)\s+of\b[^,;.]{0,30}$|\bamong\b[^,;.]{0,30}$",
    re.IGNORECASE,
)
_UNRANKED = frozenset(("first", "ever", "unique", "unprecedented", "at least", "least"))


def one_of_many(comparison: Comparison) -> StructuralDoubt | None:
    """`the largest` where every sentence with that word has `one of the largest`."""
    for own in _superlatives(comparison.claim):
        if _OF_MANY.search(comparison.claim.text, 0, own.start):
            continue
        found = [
            (at, _one_of(sentence, one))
            for at, sentence in enumerate(comparison.context.sentences)
            for one in _superlatives(sentence)
            if one.norm == own.norm
        ]
        if found and all(words for _, words in found):
            at, words = min(found, key=lambda one: (one[1] or "", comparison.sentence(one[0]).text))
            claimed = comparison.claim.text[own.start : own.end]
            return StructuralDoubt("one_of_many", claimed, words or "", at)
    return None


def _superlatives(slots: Slots) -> list[ScopeWord]:
    return [one for one in slots.scope if one.kind == "superlative" and one.norm not in _UNRANKED]


def _one_of(slots: Slots, superlative: ScopeWord) -> str | None:
    before = _OF_MANY.search(slots.text[: superlative.start])
    return slots.text[before.start() : superlative.end].strip() if before else None


_CHECKS: tuple[Callable[[Comparison], StructuralDoubt | None], ...] = (
    opposed_word,
    opposed_bound,
    excluded_word,
    exchanged_arguments,
    rebound_value,
    other_negation,
    other_subject,
    other_price,
    one_of_many,
)


# Below this P(unfaithful) the reader is believed against a doubt: never, until a network is shown
# to score such claims apart from their true twins.
_BELIEVED_BELOW = 0.0


def doubt_entailed(
    judgement: Judgement, unfaithful: float, reading: ClaimReading, sentences: Sequence[Sentence]
) -> Judgement:
    """An entailed claim is undecided where a structure sets it and the passages apart.

    `unfaithful` is the probability that the reader gave the claim.
    """
    if judgement.label is not Label.ENTAILED or unfaithful < _BELIEVED_BELOW:
        return judgement
    doubt = find_doubt(reading)
    if doubt is None:
        return judgement
    sentence = sentences[doubt.sentence]
    verb = "says" if doubt.found in sentence.text else "gives"  # a table is read in other words
    reason = (
        f"not sure: {passage_name(sentence)} {verb} “{doubt.found}”, the claim “{doubt.claimed}”"
    )
    return Judgement(Label.UNDECIDED, reason=reason)


def find_doubt(reading: ClaimReading) -> StructuralDoubt | None:
    """The first structure that sets the claim and all of its nearest sentences apart."""
    if reading.claim.key in reading.context.keys:
        return None  # a copy
    comparison = compare(reading)
    return next(filter(None, (check(comparison) for check in _CHECKS)), None)
