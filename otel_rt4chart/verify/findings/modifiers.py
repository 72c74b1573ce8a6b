"""Modifiers of a sentence that a claim leaves out: by where they stand, not by what they say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from otel_rt4chart.verify.language.tokens import Token, content, tokenize
from otel_rt4chart.verify.language.word_lists import (
    ALLEGED,
    CONDITION_OPENS,
    DISCOURSE,
    HEDGED,
    MODIFIER_OPENS,
    PARTITIVE,
    PAST,
    PRESENT,
    RESULT_OPENS,
    SPOKEN,
    TIME_SAID,
    RestrictionKind,
)

# The sentence says the claim if it has this share of the claim's content.
_SAID = 0.7
# The most words of a modifier; more are a statement of their own.
_LONGEST = 14
_CLAUSE_END = re.compile(r"[,;:()\n—–]|[.!?](?:\s|$)|\b(?:and|but|while|whereas|which)\b", re.I)
_DISCOURSE = re.compile(rf"(?:{DISCOURSE})\b", re.IGNORECASE)
_LEAD = re.compile(
    rf"\W*(?:(?:and|but|so|yet|also)\s+)?(?P<open>{CONDITION_OPENS}|{MODIFIER_OPENS})\b[^,;:]*,\s",
    re.IGNORECASE,
)
_SOURCE_LEAD = re.compile(r"\W*according\s+to\b[^,;:]*,\s", re.IGNORECASE)
_TRAIL = re.compile(
    rf"\s*(?:(?:up|out|off|down|back|over)\s+)?,?\s*(?P<open>{CONDITION_OPENS}|{MODIFIER_OPENS})\b",
    re.IGNORECASE,
)
# The noun has no capital: a phrase with a name ("for Elm Stores") says for whom, not which group.
_FOR_MANY = re.compile(
    r"(?:for|among)\s+(?!(?:the|an?|his|her|its|their)\b)(?:[\w-]+\s+){0,2}"
    r"(?:[a-z]\w{2,}s|\w*children|people|\w*men)\b"
)
_RESULT = re.compile(rf",\s+(?:{RESULT_OPENS})\b", re.IGNORECASE)
_ASIDE = re.compile(r"\s*,\s*(?P<what>[^,;:.]+?)\s+(?:aside|excepted|excluded)\b", re.IGNORECASE)
_POSTMODIFIER = re.compile(
    r"\s(?:who|that|whose|in|of|with|from|without|under|over|at|on|between|aged|outside|below"
    r"|above|\w+ing|younger|older)\b",
    re.IGNORECASE,
)
_PARTITIVE = re.compile(rf"(?:{PARTITIVE})\s+(?:the\s+|its\s+|our\s+|all\s+)?$", re.IGNORECASE)
_HEDGED = re.compile(rf"\b(?:{HEDGED})\b", re.IGNORECASE)
_ALLEGED = re.compile(rf"\b(?:{ALLEGED})\b", re.IGNORECASE)
_CONDITION = re.compile(rf"(?:{CONDITION_OPENS})\b", re.IGNORECASE)
_TIME = re.compile(rf"\b(?:{TIME_SAID})\b", re.IGNORECASE)
# A restriction holds in general; a clause in the past tense tells a story.
_PAST = re.compile(rf"\b(?:{PAST})\b", re.IGNORECASE)
_ENDED = re.compile(r"(?<!been\s)\b(?!need|proceed|exceed|aged\b)[a-z]{2,}ed\b", re.IGNORECASE)
_PRESENT = re.compile(rf"\b(?:{PRESENT})\b", re.IGNORECASE)
_SPOKEN = re.compile(rf"\b(?:{SPOKEN})\b(?!\s+or\b)")


class Restriction(NamedTuple):
    """Words of a sentence that limit its `clause`; `kind` says how."""

    kind: RestrictionKind
    text: str
    clause: str


def is_narrative(clause: str) -> bool:
    """True for a clause of a story or a dialogue, which restricts nothing."""
    if _PAST.search(clause) or _SPOKEN.search(clause):
        return True
    return _ENDED.search(clause) is not None and _PRESENT.search(clause) is None


class _Alignment(NamedTuple):
    """The words of the sentence, and which of them the claim has too."""

    sentence: str
    tokens: tuple[Token, ...]
    said: tuple[int, ...]

    def after(self, end: int) -> Token | None:
        """The first content word from that character on."""
        return next((one for one in self.tokens if one.start >= end and one.is_content), None)

    def is_said(self, token: Token | None) -> bool:
        """True for a word that the claim has."""
        return token is not None and any(self.tokens[at] is token for at in self.said)


def modifiers_left_out(sentence: str, claim: str) -> Iterator[Restriction]:
    """Modifiers that the sentence has and the claim has not, if it says the rest of the claim.

    Conditions, exceptions, times and populations only of a sentence in the present tense; a story
    may be told with fewer details.
    """
    stated = content(claim)
    tokens = tokenize(sentence)
    first: dict[str, int] = {}
    for at, token in enumerate(tokens):
        if token.stem in stated:
            first.setdefault(token.stem, at)
    said = tuple(sorted(first.values()))
    weight = sum(stated[stem] for stem in {tokens[at].stem for at in said})
    if not said or weight < _SAID * sum(stated.values()):
        return
    aligned = _Alignment(sentence, tokens, said)
    yield from _attitudes(aligned, claim)
    if is_narrative(claim) or is_narrative(_without(sentence, _LEAD)):
        return
    yield from _leading(aligned)
    yield from _trailing(aligned, claim)
    yield from _of_subject(aligned, claim)
    yield from _parts_of(aligned)


def _without(sentence: str, lead: re.Pattern[str]) -> str:
    match = lead.match(sentence)
    return sentence[match.end() :] if match else sentence


def _attitudes(aligned: _Alignment, claim: str) -> Iterator[Restriction]:
    """Who says it, and how sure it is: words right before what the claim states as a fact."""
    for shape, kind in ((_HEDGED, "hedge"), (_ALLEGED, "source")):
        if any(match.group() != "May" for match in shape.finditer(claim)):
            continue
        for match in shape.finditer(aligned.sentence):
            if match.group() == "May":
                continue
            following = aligned.after(match.end())
            if aligned.is_said(following) and not claim.lower().startswith(match.group().lower()):
                whole = aligned.sentence[: match.end()] if kind == "source" else match.group()
                yield Restriction(_known(kind), whole.strip(), aligned.sentence)
                break
    lead = _SOURCE_LEAD.match(aligned.sentence)
    if lead and not _names_any(claim, lead.group()):
        yield Restriction("source", lead.group().strip(" ,"), aligned.sentence)


def _names_any(claim: str, words: str) -> bool:
    return bool(content(words).keys() & content(claim).keys())


def _leading(aligned: _Alignment) -> Iterator[Restriction]:
    """A phrase before the clause, set off by a comma: "In adults, …"."""
    match = _LEAD.match(aligned.sentence)
    if match is None or _DISCOURSE.match(match.group().strip(" ,")):
        return
    first = aligned.tokens[aligned.said[0]]
    if first.start >= match.end() and _is_phrase(match.group()):
        text = match.group().strip(" ,")
        yield Restriction(_kind_of(text), text, aligned.sentence)


def _trailing(aligned: _Alignment, claim: str) -> Iterator[Restriction]:
    """A phrase after the last word that the claim has: "… until the end of June".

    None behind a result ("…, making it a fine present for small children"), which only describes,
    nor where the claim goes on with the same preposition: it has another phrase there.
    """
    last = aligned.tokens[aligned.said[-1]]
    end, rest = last.end, aligned.sentence[last.end :]
    if _RESULT.search(aligned.sentence, 0, end):
        return
    if match := _ASIDE.match(rest):
        yield Restriction("exclusion", match.group().strip(" ,"), aligned.sentence)
        return
    match = _TRAIL.match(rest)
    if match is None or _continues_with(claim, last, match["open"]):
        return
    stop = _CLAUSE_END.search(rest, match.end())
    text = rest[match.start("open") : stop.start() if stop else None].strip()
    if _is_phrase(text) and not _DISCOURSE.match(text):
        kind = _kind_of(text)
        # A place or a means is a detail; a condition or a time limits what is said.
        if kind != "population" or _FOR_MANY.match(text):
            yield Restriction(kind, text, aligned.sentence)


def _continues_with(claim: str, word: Token, preposition: str) -> bool:
    """True if the claim has that preposition right behind the word."""
    tokens = tokenize(claim)
    pairs = pairwise(tokens)
    return (word.stem, preposition.lower()) in {(one.stem, after.norm) for one, after in pairs}


def _of_subject(aligned: _Alignment, claim: str) -> Iterator[Restriction]:
    """What narrows a plural subject: "employees in Berlin", "a small majority of customers"."""
    head = _plural_subject(claim)
    at = next((n for n in aligned.said if head and aligned.tokens[n].stem == head.stem), None)
    if at is None or any(one.is_capital and n for n, one in enumerate(aligned.tokens[: at + 1])):
        return
    sentence, noun = aligned.sentence, aligned.tokens[at]
    before = aligned.tokens[at - 1] if at else None
    if before and at == 1 and before.is_content and not aligned.is_said(before):
        yield Restriction("population", sentence[before.start : noun.end], sentence)
        return
    following = next((n for n in aligned.said if n > at), None)
    if following is None:
        return
    inside = [one for one in aligned.tokens[at + 1 : following] if one.is_content]
    gap = sentence[noun.end : inside[-1].end] if inside else ""
    match = _POSTMODIFIER.match(gap)
    if match and not re.search(r"[,;:()]", gap) and _is_phrase(gap):
        yield Restriction("population", (noun.text + gap).strip(), sentence)


def _parts_of(aligned: _Alignment) -> Iterator[Restriction]:
    """A part of what the claim says of all: "a small majority of customers"."""
    for at in aligned.said:
        noun = aligned.tokens[at]
        match = _PARTITIVE.search(aligned.sentence[: noun.start]) if _is_plural(noun) else None
        if match:
            text = aligned.sentence[match.start() : noun.end]
            yield Restriction("quantifier", text, aligned.sentence)


def _is_plural(token: Token) -> bool:
    return token.norm.endswith("s") and not token.norm.endswith(("ss", "us", "is"))


def _plural_subject(claim: str) -> Token | None:
    """The noun of a claim that begins with a plural without a name: "Employees can …"."""
    tokens = tokenize(claim)
    for at, token in enumerate(tokens[:4]):
        if not token.is_content:
            if token.norm not in ("all", "every", "each", "the", "any"):
                return None
            continue
        return token if _is_plural(token) and not (token.is_capital and at) else None
    return None


def _is_phrase(text: str) -> bool:
    """True for words that say something, and not a sentence's worth of it."""
    return bool(content(text)) and len(text.split()) <= _LONGEST


_EXCEPT = re.compile(r"(?:save|bar|barring|minus|except|excluding|apart|aside|but\s+not|without)\b")
_BOUND = re.compile(r"\b(?:ceiling|maximum|limit|cap|most)\b", re.IGNORECASE)


def _kind_of(text: str) -> RestrictionKind:
    lowered = text.lower()
    if _EXCEPT.match(lowered) and not lowered.startswith("without"):
        return "exclusion"
    if _BOUND.search(lowered):
        return "bound"
    if _CONDITION.match(text):
        return "condition"
    return "time_limit" if _TIME.search(text) else "population"


def _known(kind: str) -> RestrictionKind:
    return "hedge" if kind == "hedge" else "source"
