"""What the claims of an issue are about, as against the other claims of their route."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from otel_rt4chart.verify.language.slots import read_slots
from otel_rt4chart.verify.language.tokens import Token
from otel_rt4chart.verify.language.word_lists import FINGERPRINT_META

# A subject is in three fifths of at least five different claims, and one and a half times as often
# there as in the others.
MIN_CLAIMS, MIN_SHARE, MIN_LIFT = 5, 0.6, 1.5
# Two words are said instead of one if so many of the claims with the one have both.
PAIR_SHARE = 0.8
# Endings of verbs, adverbs and adjectives: "about expressed" says nothing.
NO_NOUN = ("ed", "ing", "ly", "ive", "ous", "ful", "less", "able", "ible")
Term = tuple[str, ...]


def subject_of(claims: Sequence[str], others: Sequence[str], route: str) -> str:
    """The word or the two words that the claims share and the others lack; "" if there are none.

    Words of the route's name are no subject, because the name stands beside it.
    """
    distinct, beside = list(dict.fromkeys(claims)), list(dict.fromkeys(others))
    if len(distinct) < MIN_CLAIMS or len(beside) < MIN_CLAIMS:
        return ""
    known = {token.stem for token in read_slots(route).tokens}
    mine, theirs = _claims_by_term(distinct, known), _claims_by_term(beside, known)
    scores = {}
    for term, count in mine.items():
        share, usual = count / len(distinct), (theirs[term] + 0.5) / (len(beside) + 1)
        if share >= MIN_SHARE and share >= MIN_LIFT * usual:
            scores[term] = share * math.log(share / usual)
    words = [term for term in scores if len(term) == 1]
    if not words:
        return ""
    best = min(words, key=lambda term: (-scores[term], term))
    pairs = [term for term in mine if len(term) == 2 and best[0] in term]
    pair = min(pairs, key=lambda term: (-mine[term], term), default=best)
    chosen = pair if mine[pair] >= PAIR_SHARE * mine[best] else best
    return _as_written(distinct, chosen)


def _claims_by_term(claims: Sequence[str], known: set[str]) -> Counter[Term]:
    """In how many claims each word and each pair of neighbouring words stands."""
    found: Counter[Term] = Counter()
    for claim in claims:
        found.update({term for term, _ in _terms(claim) if not known & set(term)})
    return found


def _terms(claim: str) -> list[tuple[Term, str]]:
    """The words and pairs of a claim by their stems, each with its text.

    Units and dates are no subject: a fee of 25 euros after 30 days is not about days.
    """
    slots = read_slots(claim)
    measured = [
        *((one.start, one.unit_end) for one in slots.quantities),
        *((one.start, one.end) for one in slots.moments),
    ]
    tokens = [
        token
        for token in slots.tokens
        if not any(start <= token.start < end for start, end in measured)
    ]
    found: list[tuple[Term, str]] = [((one.stem,), one.text) for one in tokens if _is_subject(one)]
    for one, other in pairwise(tokens):
        between = claim[one.end : other.start]
        if _is_subject(one) and _is_subject(other) and between in (" ", "-"):
            found.append(((one.stem, other.stem), f"{one.text}{between}{other.text}"))
    return found


def _is_subject(token: Token) -> bool:
    """True for words that can name a subject: no numbers, no function words, no meta words."""
    is_word = token.text.replace("-", "").isalpha() and len(token.text) > 2
    is_noun = token.is_capital or not token.norm.endswith(NO_NOUN)
    return is_word and is_noun and token.is_content and token.norm not in FINGERPRINT_META


def _as_written(claims: Sequence[str], term: Term) -> str:
    """The term as most claims write it, in lower case unless it is always a capital."""
    texts = [text for claim in claims for found, text in _terms(claim) if found == term]
    written = Counter(text if text[1:] != text[1:].lower() else text.lower() for text in texts)
    return min(written, key=lambda text: (-written[text], text))
