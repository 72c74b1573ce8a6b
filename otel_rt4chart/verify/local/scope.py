"""Exceptions, negations, prices, "one of" and bounds that one side has and the other reverses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from math import isclose

from otel_rt4chart.verify.core.model import AnswerRange
from otel_rt4chart.verify.language.agreement import values_agree
from otel_rt4chart.verify.language.cues import cues
from otel_rt4chart.verify.language.frequencies import frequencies
from otel_rt4chart.verify.language.negation import are_opposite, parity
from otel_rt4chart.verify.language.slots import ScopeWord, Slots, quantity_text
from otel_rt4chart.verify.language.tokens import content, stem
from otel_rt4chart.verify.language.values import Quantity
from otel_rt4chart.verify.language.word_lists import EXCLUDES
from otel_rt4chart.verify.local.alignment import Alignment, nearest_path
from otel_rt4chart.verify.local.comparison import (
    BE,
    ComparedClaim,
    StructuralDoubt,
    in_all_near,
)
from otel_rt4chart.verify.local.differences import negation_differences

_EXCLUDED = re.compile(EXCLUDES, re.IGNORECASE)
# Words that take something out of a whole; what they name is excluded from what the rest says.
_EXCEPTIONS = re.compile(
    r"except|exclud|other\s+than|apart\s+from|with\s+the\s+exception|but\s+not|not\s+including",
    re.IGNORECASE,
)

_INSTEAD = re.compile(r"\b(instead\s+of|rather\s+than)\s+([^,;:.!?()]+)", re.IGNORECASE)
# The start and end of a word that excepts, and the range of what it excepts.
_Exception = tuple[int, int, AnswerRange]
_CACHED_SENTENCES = 256  # every word of a claim is looked up in the same ones
_DENIED_WHOLE = re.compile(
    r"\b(?:no|none|nothing|nobody|never|not(?!\s+including))\b", re.IGNORECASE
)


def excluded_word(comparison: ComparedClaim) -> StructuralDoubt | None:
    """`Norway is served` where Norway stands nowhere but in `all countries except Norway`."""
    claim = comparison.claim
    if claim.denials or _EXCLUDED.search(claim.text):
        return None
    for word, stems in enumerate(comparison.equivalents):
        holders = sorted(
            {at for stem in stems for at in comparison.context.holders[stem]},
            key=lambda at: comparison.sentence(at).text,
        )
        if not holders or holders[0] not in (*comparison.near, *comparison.others):
            continue
        nearest = comparison.sentence(holders[0])
        found = _exception_over(nearest, stems)
        if (
            found
            and not _has_opposite(claim, nearest)
            and all(_exception_over(comparison.sentence(at), stems) for at in holders[1:])
        ):
            token = claim.tokens[claim.content[word]]
            return StructuralDoubt(token.text, found, holders[0])
    return None


def _has_opposite(claim: Slots, sentence: Slots) -> bool:
    """True where the claim says the opposite of some word: "closed" for "open … except"."""
    stems = {token.stem for token in sentence.words}
    return any(are_opposite(word.stem, stem) for word in claim.words for stem in stems)


def _exception_over(sentence: Slots, stems: tuple[str, ...]) -> str | None:
    """The words that except all of the sentence's words with these stems, and the last of them."""
    if _DENIED_WHOLE.search(sentence.text):
        return None  # "nothing apart from the tower" says it of the tower
    if not _exceptions(sentence.text):
        return None
    tokens = [sentence.content[place] for one in stems for place in sentence.positions.get(one, ())]
    found = [_excepting(sentence, at) for at in tokens]
    return found[0] if found and all(found) else None


def _excepting(sentence: Slots, at: int) -> str | None:
    """The words that except this token: from "except" or "instead of" to it, or from it on."""
    token = sentence.tokens[at]
    for start, end, span in _exceptions(sentence.text):
        if span.start <= token.start < span.end:
            return sentence.text[min(start, token.start) : max(end, token.end)]
    return None


@lru_cache(maxsize=_CACHED_SENTENCES)
def _exceptions(text: str) -> tuple[_Exception, ...]:
    """Where each word that excepts stands, and where what it excepts."""
    found: list[_Exception] = []
    for cue in cues(text, "exclusion"):
        start, span = text.find(cue.word), text.find(cue.span)
        if _EXCEPTIONS.match(cue.word) and cue.span:
            found.append((start, start + len(cue.word), AnswerRange(span, span + len(cue.span))))
    found += [
        (match.start(1), match.end(1), AnswerRange(*match.span(2)))
        for match in _INSTEAD.finditer(text)
    ]
    return tuple(found)


def other_negation(comparison: ComparedClaim) -> StructuralDoubt | None:
    """`Keys expire after 180 days` for `Keys do not expire`, or the reverse."""
    return in_all_near(comparison, _negation_in)


def _negation_in(comparison: ComparedClaim, at: int) -> StructuralDoubt | None:
    claim, context = comparison.claim, comparison.context
    if not _is_denied_once(claim, comparison.sentence(at)):
        return None
    for one in negation_differences(claim, _aligned_alone(comparison, at), context):
        if one.manner == "clash":
            return StructuralDoubt(one.claimed, one.found, at)
    return None


def _aligned_alone(comparison: ComparedClaim, at: int) -> Alignment:
    """The claim aligned with this sentence only."""
    matches, weights = comparison.matches[at], comparison.weights
    share = comparison.share(at, range(len(matches))) / (sum(weights) or 1.0)
    return Alignment(
        (at,), comparison.equivalents, (matches,), (nearest_path(matches),), weights, (share,),
        share,
    )  # fmt: skip


def reversed_condition(comparison: ComparedClaim) -> StructuralDoubt | None:
    """`not paid unless the seal is broken` for `not paid if the seal is broken`, or the reverse."""
    return in_all_near(comparison, _condition_in)


_CONDITION = re.compile(r"\b(unless|if|when|provided\s+that)\s+([^,;:.!?()]+)", re.IGNORECASE)


def _condition_in(comparison: ComparedClaim, at: int) -> StructuralDoubt | None:
    claimed, found, is_reversed = _conditions(comparison, at)
    return StructuralDoubt(claimed, found, at) if claimed and is_reversed else None


def same_condition(comparison: ComparedClaim, at: int) -> tuple[str, str]:
    """`paid unless the seal is broken` for `not paid if the seal is broken`; or ""."""
    claimed, found, is_reversed = _conditions(comparison, at)
    return ("", "") if is_reversed else (claimed, found)


def _conditions(comparison: ComparedClaim, at: int) -> tuple[str, str, bool]:
    """The same condition of both, behind "unless" in one, and whether they say the reverse."""
    claim, sentence = comparison.claim, comparison.sentence(at)
    own, found = _CONDITION.search(claim.text), _CONDITION.search(sentence.text)
    if (
        own is None
        or found is None
        or content(own.group(2)).keys() ^ content(found.group(2)).keys()
    ):
        return "", "", False
    if (own.group(1).lower() == "unless") == (found.group(1).lower() == "unless"):
        return "", "", False
    is_reversed = len(claim.denials) % 2 == len(sentence.denials) % 2
    return own.group().strip(), found.group().strip(), is_reversed


def _is_denied_once(claim: Slots, sentence: Slots) -> bool:
    """True where one of the two denies one thing, and the other denies and excludes nothing."""
    counts = [len(one.denials) + len(_EXCLUDED.findall(one.text)) for one in (claim, sentence)]
    if sorted(counts) != [0, 1]:
        return False
    return not _has_opposite(claim, sentence)


_FREE = re.compile(
    r"\b(?:free\s+of\s+charge|for\s+free|complimentary|ships?\s+free|no\s+(?:charge|fee|cost)"
    r"|(?:costs?|pays?|charged?)\s+(?:you\s+)?nothing"
    r"|at\s+no\s+(?:(?:extra|additional)\s+)?(?:charge|cost)"
    r"|without\s+(?:(?:extra|additional)\s+)?(?:charge|cost|fee)|(?:is|are|was|were|be)\s+free"
    r"(?!\s+(?:of|from|to|and|in|on|agent|after|until)\b)"
    r"|free\s+(?:delivery|shipping|returns?|entry|admission|parking))\b",
    re.IGNORECASE,
)
_NOT_FREE = re.compile(r"\b(?:not|never|no\s+longer)\s+(?:be\s+)?free\b", re.IGNORECASE)
_COSTS = re.compile(
    r"[$€£¥₹]\s?\d[\d.,]*|\b\d[\d.,]*\s?(?:dollars?|euros?|pounds?|cents?)\b"
    r"|\bcosts?\s+extra\b|\bfor\s+(?:a|an\s+extra)\s+fee\b",
    re.IGNORECASE,
)
_INCLUDED = re.compile(
    r"\b(?:(?:is|are|was|were|comes?)\s+(?:already\s+|always\s+)?included"
    r"|(?:is|are)\s+part\s+of\s+the\s+(?:price|package|set|delivery))\b",
    re.IGNORECASE,
)
_SEPARATE = re.compile(
    r"\b(?:(?:sold|available|charged|billed|ordered|bought|paid)\s+separately|(?:costs?|is|are)\s+extra"
    r"|(?:for|at)\s+an\s+(?:extra|additional)\s+(?:fee|charge|cost)|optional\s+extras?"
    r"|(?:is|are|was|were)(?:\s+not|n['’]t)\s+included)\b",
    re.IGNORECASE,
)


def other_price(comparison: ComparedClaim) -> StructuralDoubt | None:
    """`Shipping is free` beside an amount, `is included` beside `sold separately`, the reverse."""
    return in_all_near(comparison, _price_in)


def _price_in(comparison: ComparedClaim, at: int) -> StructuralDoubt | None:
    if comparison.claim.denials or comparison.sentence(at).denials:
        return None
    claim, sentence = comparison.claim.text, comparison.sentence(at).text
    pairs = (_FREE, _COSTS), (_COSTS, _FREE), (_INCLUDED, _SEPARATE), (_SEPARATE, _INCLUDED)
    for one, other in pairs:
        claimed, found = one.search(claim), other.search(sentence)
        if claimed and found and not other.search(claim) and not one.search(sentence):
            return StructuralDoubt(claimed.group(), found.group(), at)
    return None


def same_price(comparison: ComparedClaim, at: int) -> tuple[str, str]:
    """Two ways to say what is paid for: `costs nothing` and `free of charge`; or ""."""
    claim, sentence = comparison.claim.text, comparison.sentence(at).text
    denied, cost = _NOT_FREE.search(claim), _COSTS.search(sentence)
    if denied and cost:
        return denied.group(), cost.group()
    for same, other in ((_FREE, _COSTS), (_SEPARATE, _INCLUDED)):
        claimed, found = same.search(claim), same.search(sentence)
        if claimed and found and not other.search(claim) and not other.search(sentence):
            return claimed.group(), found.group()
    return "", ""


_OF_MANY = re.compile(
    r"\b(?:one|some|two|three|several|many)\s+of\b[^,;.]{0,30}$|\bamong\b[^,;.]{0,30}$",
    re.IGNORECASE,
)
_UNRANKED = frozenset(("first", "ever", "unique", "unprecedented", "at least", "least"))


def one_of_many(comparison: ComparedClaim) -> StructuralDoubt | None:
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
            return StructuralDoubt(claimed, words or "", at)
    return None


def _superlatives(slots: Slots) -> list[ScopeWord]:
    return [one for one in slots.scope if one.kind == "superlative" and one.norm not in _UNRANKED]


def _one_of(slots: Slots, superlative: ScopeWord) -> str | None:
    before = _OF_MANY.search(slots.text[: superlative.start])
    return slots.text[before.start() : superlative.end].strip() if before else None


def opposed_bound(comparison: ComparedClaim) -> StructuralDoubt | None:
    """`at least $200` for `up to $200`."""
    return in_all_near(comparison, _bound_in)


def _bound_in(comparison: ComparedClaim, at: int) -> StructuralDoubt | None:
    claim, sentence = comparison.claim, comparison.sentence(at)
    if claim.denials or sentence.denials:
        return None
    for own in claim.quantities:
        same = [one for one in sentence.quantities if one.base == own.base]
        if same and all({own.bound, one.bound} == {"at_least", "at_most"} for one in same):
            return StructuralDoubt(_with_bound(claim, own), _with_bound(sentence, same[0]), at)
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


_MULTIPLES = {
    stem(word): factor
    for factor, words in {0.5: "halve", 2: "double", 3: "triple treble", 4: "quadruple"}.items()
    for word in words.split()
}
_MULTIPLE = re.compile(r"\b(?:halved|(?:doubl|tripl|trebl|quadrupl)ed)\b", re.IGNORECASE)
_FROM_TO = re.compile(r"\bfrom\b(?P<low>.+?)\bto\b", re.IGNORECASE | re.DOTALL)
_ROUGHLY = 0.1  # "doubled" is said of 1.9 and 2.1 times as much


def other_multiple(comparison: ComparedClaim) -> StructuralDoubt | None:
    """`Tripled` for `rose from 1.2 million to 2.4 million`."""
    if _MULTIPLE.search(comparison.claim.text) is None:
        return None
    return in_all_near(comparison, _other_multiple_in)


def _other_multiple_in(comparison: ComparedClaim, at: int) -> StructuralDoubt | None:
    said, sentence = _MULTIPLE.search(comparison.claim.text), comparison.sentence(at)
    change = _FROM_TO.search(sentence.text)
    if said is None or change is None or _MULTIPLE.search(sentence.text):
        return None
    before = [one for one in sentence.quantities if change.start() < one.start < change.end("low")]
    after = next((one for one in sentence.quantities if one.start >= change.end()), None)
    if not before or after is None or before[0].base[0] != after.base[0]:
        return None
    low, high = before[0].base[1], after.base[1]
    factor = _MULTIPLES[stem(said.group().lower())]
    if abs(high - factor * low) <= _ROUGHLY * factor * low:
        return None
    found = sentence.text[before[0].start : after.unit_end]
    return StructuralDoubt(said.group(), found, at)


def other_frequency(comparison: ComparedClaim) -> StructuralDoubt | None:
    """`Every hour` for `daily`."""
    return in_all_near(comparison, _other_frequency_in)


def _other_frequency_in(comparison: ComparedClaim, at: int) -> StructuralDoubt | None:
    claim, sentence = comparison.claim, comparison.sentence(at)
    own, told = list(frequencies(claim)), list(frequencies(sentence))
    if (
        len(own) != 1
        or not told
        or any(isclose(own[0].times, one.times, rel_tol=0.05) for one in told)
    ):
        return None
    found = sentence.text[told[0].start : told[0].end]
    return StructuralDoubt(claim.text[own[0].start : own[0].end], found, at)


_DEFAULT = re.compile(r"(?P<by>\bby\s+)?\bdefaults?\b", re.IGNORECASE)
# What stands between "default" and its value: "default is 10 minutes", "defaults to 5".
_IS_VALUE = re.compile(
    r"\s*(?:(?:value|setting|of|is|are|was|being|to|[:=(]|at)\s*){1,3}", re.IGNORECASE
)
_MAX_DEFAULTS = 50  # sentences that say a default


def other_default(comparison: ComparedClaim) -> StructuralDoubt | None:
    """`The default is 20 seconds` where every default of that sort is another: `10 minutes`."""
    claim, context = comparison.claim, comparison.context
    own = list(_defaults(claim))
    if len(own) != 1 or claim.denials:
        return None
    found = None
    for at in context.holders.get(stem("default"), ())[:_MAX_DEFAULTS]:
        for one in _defaults(context.sentences[at]):
            if one.base[0] == own[0].base[0]:
                if values_agree(own[0], one):
                    return None
                found = found or (at, one)
    if found is None:
        return None
    at, one = found
    return StructuralDoubt(
        quantity_text(claim, own[0]), quantity_text(context.sentences[at], one), at
    )


def _defaults(slots: Slots) -> Iterator[Quantity]:
    """The quantities that a text calls a default; one alone beside "by default" is one."""
    for match in _DEFAULT.finditer(slots.text):
        is_value = None if match["by"] else _IS_VALUE.match(slots.text, match.end())
        if is_value is not None:
            yield from (one for one in slots.quantities if one.start == is_value.end())
        elif len(slots.quantities) == 1:
            yield slots.quantities[0]


_CORRELATIVE = re.compile(
    r"\bthe\s+(?:more|less|\w+er)\b[^.;]*\bthe\s+(?:more|less|\w+er)\b", re.IGNORECASE
)
_MIN_WORDS = 3  # of a claim: two have no others to speak of


def opposed_by_word(comparison: ComparedClaim) -> StructuralDoubt | None:
    """`The id is private` where `private` is said of other things, and of the id `public`.

    A sentence has all other words of the claim and the opposite of one, and no sentence has all
    words of the claim.
    """
    claim = comparison.claim
    places = (*comparison.near, *comparison.others)
    if len(claim.content) < _MIN_WORDS or any(all(comparison.matches[at]) for at in places):
        return None
    for at in places:
        missing = [word for word, found in enumerate(comparison.matches[at]) if not found]
        if len(missing) != 1 or not _is_predicate(claim, missing[0]):
            continue
        if found := _opposite_word(comparison, at, missing[0]):
            return StructuralDoubt(claim.tokens[claim.content[missing[0]]].text, found, at)
    return None


def _is_predicate(claim: Slots, word: int) -> bool:
    """True for `private` in `is private`, and `the lower …, the better`.

    `Longer than` has a converse.
    """
    at = claim.content[word]
    norms = [token.norm for token in claim.tokens]
    is_predicate = at > 0 and norms[at - 1] in BE and "than" not in norms
    return is_predicate or _CORRELATIVE.search(claim.text) is not None


def _opposite_word(comparison: ComparedClaim, at: int, word: int) -> str:
    claim, sentence = comparison.claim, comparison.sentence(at)
    token_at = claim.content[word]
    if _EXCLUDED.search(sentence.text):
        return ""  # "closed on Sunday" is what "open except on Sunday" says
    is_denied, denied = parity(claim.denials).get(token_at, False), parity(sentence.denials)
    for other in sentence.content:
        is_opposite = are_opposite(claim.tokens[token_at].stem, sentence.tokens[other].stem)
        if is_opposite and denied.get(other, False) == is_denied:
            return sentence.tokens[other].text
    return ""
