"""Takes claims out of a sentence that also says other things, or says that it cannot."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from otel_rt4chart.verify.core.model import Sentence
from otel_rt4chart.verify.decompose.rules import decompose
from otel_rt4chart.verify.language.tokens import content, tokenize

_SEPARATOR = re.compile(
    r"\s*[,;]\s+(?:and|but|or|while|whereas)\s+|\s+(?:and|but|or|while|whereas)\s+|\s*[,;]\s+",
    re.IGNORECASE,
)
_CONJUNCTION = re.compile(r"\b(?:and|but|or|while|whereas)\b", re.IGNORECASE)
_TAIL = re.compile(r"[.!?…]*\s*$")
_DANGLING = re.compile(
    r"(?:\b(?:and|but|or|while|whereas|which|who|that|the|an?|of|in|to|for|with|by|at|on)|[,;:])"
    r"\s*+[.!?…]*+\s*+$|^\W*(?:and|but|or)\b|,\s*,|\s{2}|\s[,.;]",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"(?:it|they|he|she|this|that|these|those|its|their)\b", re.IGNORECASE)


class _Parts(NamedTuple):
    """`texts[0] + separators[0] + texts[1] + … + tail` is the sentence."""

    texts: list[str]
    separators: list[str]
    tail: str

    def joined(self) -> str:
        pieces = [self.texts[0]]
        for separator, text in zip(self.separators, self.texts[1:], strict=True):
            pieces += [separator, text]
        return "".join(pieces) + self.tail


def without_claims(sentence: str, dropped: Sequence[str], kept: Sequence[str]) -> str | None:
    """The sentence without the dropped claims; None where its grammar or the kept ones suffer."""
    left = sentence
    for at, claim in enumerate(dropped):
        others = [*kept, *dropped[at + 1 :]]
        shorter = _without_claim(left, claim, others)
        if shorter is None or not _says_all(shorter, claim, others):
            return None
        left = shorter
    return None if _DANGLING.search(left) else left


def _says_all(left: str, dropped: str, kept: Sequence[str]) -> bool:
    """True if the rest still says each kept claim, and nothing of the dropped one alone."""
    stems = content(left).keys()
    others: set[str] = set().union(*(content(claim).keys() for claim in kept))
    if any(not content(claim).keys() <= stems for claim in kept):
        return False
    if (content(dropped).keys() - others) & stems:
        return False
    said = [draft for draft in decompose([Sentence(0, 0, len(left), left)]) if draft.is_claim]
    if len(said) == 1 and len(kept) > 1:  # a list that the rules keep whole
        return True
    wanted = sorted(sorted(content(claim)) for claim in kept)
    return wanted == sorted(sorted(content(draft.text)) for draft in said)


def _without_claim(sentence: str, claim: str, kept: Sequence[str]) -> str | None:
    parts = _split(sentence)
    own = content(claim).keys()
    others: set[str] = set().union(*(content(one).keys() for one in kept))
    holding = [at for at, text in enumerate(parts.texts) if (content(text).keys() & own) - others]
    if not holding or holding != list(range(holding[0], holding[-1] + 1)):
        return None
    first, last = holding[0], holding[-1]
    if last - first + 1 == len(parts.texts):
        return None
    # A part with a word of another claim cannot go; the first part may, up to what they share.
    if any(content(text).keys() - own for text in parts.texts[max(first, 1) : last + 1]):
        return None
    return _without_opening(parts, last, kept) if first == 0 else _without_rest(parts, first, last)


def _split(sentence: str) -> _Parts:
    body = _TAIL.sub("", sentence)
    separators = [match.group() for match in _SEPARATOR.finditer(body)]
    return _Parts(_SEPARATOR.split(body), separators, sentence[len(body) :])


def _without_opening(parts: _Parts, last: int, kept: Sequence[str]) -> str | None:
    """Without the first parts: the words before what the next claim says differently stay."""
    following = parts.texts[last + 1]
    stems = content(following).keys()
    claim = max(kept, key=lambda one: len(content(one).keys() & stems))
    opening, wanted = tokenize(parts.texts[0]), tokenize(claim)
    same = list(
        takewhile(lambda pair: pair[0].norm == pair[1].norm, zip(opening, wanted, strict=False))
    )
    rest = _Parts(
        parts.texts[last + 1 :], _rejoined(parts.separators[last + 1 :], parts), parts.tail
    )
    if not same:
        said = rest.joined()
        return None if _PRONOUN.match(said) else said[:1].upper() + said[1:]
    shared = parts.texts[0][: same[-1][0].end]
    # "Refunds take 14 days, refunds are free": the next part has its own subject already.
    if tokenize(following) and tokenize(following)[0].norm == same[0][0].norm:
        return rest.joined()[:1].upper() + rest.joined()[1:]
    return f"{shared} {rest.joined()}"


def _without_rest(parts: _Parts, first: int, last: int) -> str | None:
    """Without parts behind the first one; the conjunction stays before the last part."""
    is_last = last == len(parts.texts) - 1
    around = parts.separators[first - 1 : last + 1]
    later = parts.separators[last:]
    # Between two commas without a conjunction to follow stands an apposition, no list.
    if not is_last and not any(map(_CONJUNCTION.search, later)):
        return None
    separators = [*parts.separators[: first - 1], *parts.separators[last:]]
    if is_last:
        separators = parts.separators[: first - 1]
        if separators and not _CONJUNCTION.search(separators[-1]):
            if not _CONJUNCTION.search(around[0]):
                return None
            separators[-1] = around[0]
    texts = [*parts.texts[:first], *parts.texts[last + 1 :]]
    return _Parts(texts, _rejoined(separators, parts), parts.tail).joined()


def _rejoined(separators: Sequence[str], before: _Parts) -> list[str]:
    """Of a list that has two parts left, the comma before "and" goes."""
    if len(separators) == 1 and len(before.separators) > 1:
        return [re.sub(r"^\s*,\s+(?=(?:and|or)\b)", " ", separators[0])]
    return list(separators)
