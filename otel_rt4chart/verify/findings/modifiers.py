"""Modifiers of a sentence that a claim leaves out: by where they stand, not by what they say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from otel_rt4chart.verify.language.negation import denials
from otel_rt4chart.verify.language.slots import read_slots
from otel_rt4chart.verify.language.tokens import Token, content, tokenize, vocabulary
from otel_rt4chart.verify.language.values import Quantity
from otel_rt4chart.verify.language.word_lists import (
    ALLEGED,
    COMMON_UNIVERSAL,
    CONDITION_OPENS,
    COVERING_SAID,
    DISCOURSE,
    FRAME,
    HEDGED,
    INTERESTED,
    LASTING_SAID,
    LOCAL_SAID,
    MODIFIER_OPENS,
    PAPERS,
    PARTITIVE,
    PAST,
    PERMISSION,
    PRESENT,
    RECURRING_SAID,
    RESULT_OPENS,
    RULE_SAID,
    SOLE_SAID,
    SPOKEN,
    TIME_SAID,
    WIDENING,
    RestrictionKind,
)

# The sentence says the claim if it has this share of the claim's content.
_SAID = 0.7
# The most content words behind the verb of a rule.
_OBJECT = 4
# The most words of a modifier; more are a statement of their own.
_LONGEST = 14
# The most words of a subject.
_LONGEST_SUBJECT = 8
_CLAUSE_END = re.compile(r"[,;:()\n—–]|[.!?](?:\s|$)|\b(?:and|but|while|whereas|which)\b", re.I)
_DISCOURSE = re.compile(rf"(?:{DISCOURSE})\b", re.IGNORECASE)
_LEAD = re.compile(
    rf"\W*(?:(?:and|but|so|yet|also)\s+)?(?P<open>{CONDITION_OPENS}|{MODIFIER_OPENS})\b[^,;:]*,\s",
    re.IGNORECASE,
)
_SOURCE_LEAD = re.compile(rf"\W*according\s+to\s+{INTERESTED}\b[^,;:]*,\s", re.IGNORECASE)
_SOURCE_TRAIL = re.compile(rf",?\s+according\s+to\s+{INTERESTED}\b[^,;:]*$", re.IGNORECASE)
_TRAIL = re.compile(
    rf"\s*+(?:(?:up|out|off|down|back|over)\s++)?,?\s*+(?P<open>{CONDITION_OPENS}|{MODIFIER_OPENS})\b",
    re.IGNORECASE,
)
# The noun has no capital: a phrase with a name ("for Elm Stores") says for whom, not which group.
_FOR_MANY = re.compile(
    r"(?:[Ff]or|[Aa]mong)\s+(?!(?:the|an?|his|her|its|their)\b)(?:[\w-]+\s+){0,2}"
    r"(?!(?:reason|purpose|second|decade|time|profit|euro|dollar|pound)s\b)"
    r"(?:[a-z]\w{2,}s|\w*children|people|\w*men)\b"
    r"|[Ii]n\s+(?:[a-z]+\s+)?(?:adults|children|women|men|patients|people|infants|smokers)\b"
)
_LASTING, _RULE, _RECURRING = (
    re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    for words in (LASTING_SAID, RULE_SAID, RECURRING_SAID)
)
# Conditions and exceptions that limit an event too.
_SURE = re.compile(
    r"(?:unless|provid(?:ed|ing)|assuming|pending|barring|bar|save|except|excluding|minus)\b", re.I
)
# Behind a rule, a second clause, or what it is for: "is allowed to …".
_SECOND_CLAUSE = re.compile(r"[,;:]|\b(?:and|but|to|that|which|who)\b", re.IGNORECASE)
_WIDENS = re.compile(rf"\b(?:{WIDENING})\b", re.IGNORECASE)
_FRAME = re.compile(rf"(?:{FRAME})\b", re.IGNORECASE)
_PAPER = re.compile(
    rf"with(?:out)?\s+(?:(?:an?|the|your|their)\s+)?(?:[\w-]+\s+){{0,2}}(?:{PAPERS})s?\b", re.I
)
_LOCAL = re.compile(rf"\b(?:{LOCAL_SAID})\W*$", re.IGNORECASE)
_ENDS_RULE = re.compile(rf"\b(?:{RULE_SAID})\W*$", re.IGNORECASE)
_AMOUNT = re.compile(
    rf"\b(?:{RULE_SAID})(?:\s+(?:at|by|up\s+to|to))?\s+\W?\d[\d.,]*(?:\s?%|\s+\w+)?\W*$",
    re.IGNORECASE,
)
_SOLE_TRAIL = re.compile(r"\s+(?:[\w'’-]+\s+){1,6}only\b(?=\s*(?:[.;:!?)]|$))", re.IGNORECASE)
_SOLE = re.compile(rf"\b(?:{SOLE_SAID})\b", re.IGNORECASE)
_DUTY = re.compile(r"\b(?:must|have\s+to|need\s+to)\b", re.IGNORECASE)
_ONE_DAY = re.compile(r"on\s+(?:mon|tues|wednes|thurs|fri|satur|sun)day\b", re.IGNORECASE)
_COVERING = re.compile(rf"\b(?:{COVERING_SAID})\b", re.IGNORECASE)
# A place with a name: "in the EU". Where something is allowed, any other: "on the beach".
_NAMED_PLACE = re.compile(
    r"(?:[Ii]n|[Aa]t|[Ii]nside|[Oo]utside|[Ww]ithin|[Tt]hroughout)\s+(?:the\s+)?(?:[a-z]+\s+)?[A-Z]"
)
_PLACE = re.compile(r"(?:in|on|at|inside|outside|within)\s+\w", re.IGNORECASE)
_PERMITTED = re.compile(r"\b(?:allowed|permitted|prohibited|forbidden)\W*$", re.IGNORECASE)
_FINITE = re.compile(r"\b(?:is|are|can|may|cannot|must|have|need|get|receive|earn|pay)s?\b", re.I)
# A subject without such words stands for all of its kind.
_DEFINITE = re.compile(
    r"\b(?:whoever|there|the|this|that|these|those|my|your|our|his|her|its|their|no|some|most|many|\w+['’]s?)\b|\d"
    r"|\s(?:any|all|every|each)\s",
    re.IGNORECASE,
)
_DEFINITE_PHRASE = re.compile(
    r"\s(?:of\s(?:the|this|that|our|its|their)\s|\w+\s(?:the|this|that|these|our|its|their)\s[^A-Z]+$)"
)
_PURPOSE = re.compile(r"for\s+(?:\w+ing\b|.*\sto\s)", re.IGNORECASE)
_RESULT = re.compile(rf",\s+(?:{RESULT_OPENS})\b", re.IGNORECASE)
_ASIDE = re.compile(r"\s*,\s*(?P<what>[^,;:.]+?)\s+(?:aside|excepted|excluded)\b", re.IGNORECASE)
_POSTMODIFIER = re.compile(
    r"\s(?:who|that|whose|in|of|with|from|without|under|over|at|on|to|between|within|up\s+to|aged"
    r"|outside|below|above|\w+ing|\w+ed|bought|sold|made|held|kept|younger|older)\b",
    re.IGNORECASE,
)
_PARTITIVE = re.compile(rf"(?:{PARTITIVE})\s+(?:the\s+|its\s+|our\s+|all\s+)?$", re.IGNORECASE)
_PERMISSION = re.compile(rf"\b(?:{PERMISSION})$", re.IGNORECASE)
_UNIVERSAL = re.compile(rf"\b(?:{COMMON_UNIVERSAL}|any)\b", re.IGNORECASE)
_HEDGED = re.compile(rf"\b(?:{HEDGED})\b", re.IGNORECASE)
_ALLEGED = re.compile(rf"\b(?:{ALLEGED})\b", re.IGNORECASE)
_RELATIVE = re.compile(r"(?:when|where)\b", re.IGNORECASE)
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


def is_story_beside(clause: str, restriction: str) -> bool:
    """True for a story. "It is covered if it was locked" is none: it tells of the present."""
    if not is_narrative(clause):
        return False
    restricted = clause.replace(restriction, " ", 1)
    return is_narrative(restricted) or _PRESENT.search(restricted) is None


def is_rule(claim: str) -> bool:
    """True for what is covered, allowed or free, for who may do what, and the like."""
    return _RULE.search(claim) is not None


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

    Times, places and populations only of a rule: an event may be told with fewer details.
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
    yield from _leading(aligned, claim)
    yield from _trailing(aligned, claim)
    yield from _of_subject(aligned, claim)
    yield from _parts_of(aligned)
    yield from _contrasted(sentence, claim)


def _without(sentence: str, lead: re.Pattern[str]) -> str:
    match = lead.match(sentence)
    return sentence[match.end() :] if match else sentence


def _attitudes(aligned: _Alignment, claim: str) -> Iterator[Restriction]:
    """Who says it, and how sure it is: words right before what the claim states as a fact."""
    for shape, kind in ((_HEDGED, "hedge"), (_ALLEGED, "source")):
        if any(match.group() != "May" for match in shape.finditer(claim)):
            continue
        for match in shape.finditer(aligned.sentence):
            if match.group() == "May" or _PERMISSION.search(aligned.sentence, 0, match.end()):
                continue
            if kind == "source" and _names_any(claim, aligned.sentence[: match.start()]):
                continue
            following = aligned.after(match.end())
            if aligned.is_said(following) and not claim.lower().startswith(match.group().lower()):
                whole = aligned.sentence[: match.end()] if kind == "source" else match.group()
                yield Restriction(_known(kind), whole.strip(), aligned.sentence)
                break
    named = _SOURCE_LEAD.match(aligned.sentence) or _SOURCE_TRAIL.search(aligned.sentence)
    if named and not _names_any(claim, named.group()):
        yield Restriction("source", named.group().strip(" ,."), aligned.sentence)


def _names_any(claim: str, words: str) -> bool:
    return bool(content(words).keys() & content(claim).keys())


def _leading(aligned: _Alignment, claim: str) -> Iterator[Restriction]:
    """A phrase before the clause, set off by a comma: "In adults, …"."""
    match = _LEAD.match(aligned.sentence)
    if match is None or _DISCOURSE.match(match.group().strip(" ,")):
        return
    first = aligned.tokens[aligned.said[0]]
    if first.start >= match.end() and _is_phrase(match.group()):
        text = match.group().strip(" ,")
        if kind := _limit_of(text[match.start("open") :], claim):
            yield Restriction(kind, text, aligned.sentence)


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
    if (match := _SOLE_TRAIL.match(rest)) and not _SOLE.search(claim):
        yield Restriction("eligibility", match.group().strip(), aligned.sentence)
        return
    match = _TRAIL.match(rest)
    if match is None or _continues_with(claim, last, match["open"]):
        return
    stop = _CLAUSE_END.search(rest, match.end())
    text = rest[match.start("open") : stop.start() if stop else None].strip()
    if _is_phrase(text) and not _DISCOURSE.match(text) and not _continued(stop):
        kind = _limit_of(text, claim)
        if kind and not ("," in rest[: match.start("open")] and _RELATIVE.match(text)):
            yield Restriction(kind, text, aligned.sentence)


def _continued(stop: re.Match[str] | None) -> bool:
    """True for a phrase that goes on: "on weekdays and at weekends"."""
    return stop is not None and stop.group().lower() == "and"


def _limit_of(text: str, claim: str) -> RestrictionKind | None:
    """How a phrase limits a rule; None for a detail, such as a means, or at anything else."""
    if _FRAME.match(text) or _WIDENS.search(text):
        return None
    kind = _kind_of(text)
    if text.lower().startswith("but not") and not _UNIVERSAL.search(claim):
        return None  # "covers material and labour but not shipping" names another thing
    if _SURE.match(text):
        return kind
    rule = _RULE.search(claim)
    if rule is None or _is_long(claim[rule.end() :]):
        return None
    if kind == "time_limit":
        return kind if _is_time(text, claim) else None
    if text.lower().startswith("without"):  # "is free without a ticket" is free for more
        return "condition" if denials(tokenize(claim)) else None
    if kind != "population":
        return kind
    if _PAPER.match(text):
        return "condition"
    if _FOR_MANY.match(text) and not _PURPOSE.match(text):
        is_whole = _ENDS_RULE.search(claim) or _COVERING.search(claim) or _AMOUNT.search(claim)
        return kind if is_whole else None
    return "place" if _is_place(text, claim) else None


def _is_long(rest: str) -> bool:
    """True where what follows the verb of a rule says more than what is covered or allowed."""
    return _SECOND_CLAUSE.search(rest) is not None or len(content(rest)) > _OBJECT


def _is_time(text: str, claim: str) -> bool:
    """True for when a rule holds; not for the day of an event, or until when a duty is due."""
    if _ONE_DAY.match(text) or _DUTY.search(claim):
        return False
    return _LASTING.search(claim) is not None or _RECURRING.search(text) is not None


def _is_place(text: str, claim: str) -> bool:
    """True for where a general rule holds: "Roaming is free in the EU"."""
    is_said_of_all = _LOCAL.search(claim) and _is_general(_subject(claim))
    if not is_said_of_all and not _COVERING.search(claim):
        return False
    is_where_allowed = _PERMITTED.search(claim) and _PLACE.match(text)
    return bool(is_where_allowed or _NAMED_PLACE.match(text))


def _subject(claim: str) -> str:
    """What stands before the verb of a rule."""
    rule = _RULE.search(claim)
    if rule is None:
        return ""
    finite = _FINITE.search(claim, *rule.span())
    return claim[: (finite or rule).start()]


def _is_general(subject: str) -> bool:
    """True for all of a kind: "Theft of bicycles", "A member", but not "The Berlin office"."""
    tokens = tokenize(subject)
    names = vocabulary().names
    return (
        bool(tokens)
        and not _DEFINITE.search(subject)
        and not any(one.is_capital for one in tokens[1:])
        and not (tokens[0].stem in names and not _is_plural(tokens[0]))
    )


def _continues_with(claim: str, word: Token, preposition: str) -> bool:
    """True if the claim has that preposition right behind the word."""
    tokens = tokenize(claim)
    pairs = pairwise(tokens)
    return (word.stem, preposition.lower()) in {(one.stem, after.norm) for one, after in pairs}


def _of_subject(aligned: _Alignment, claim: str) -> Iterator[Restriction]:
    """What narrows the subject of a rule: "employees in Berlin", "theft from a locked garage"."""
    sentence, subject = aligned.sentence, _subject(claim)
    stated = content(subject)
    held = [n for n in aligned.said if aligned.tokens[n].stem in stated]
    if not held or len(held) < len(stated) or not _is_general(subject):
        return
    first, last = aligned.tokens[held[0]], aligned.tokens[held[-1]]
    if inner := _inside(aligned, held):
        yield Restriction("population", inner, sentence)
        return
    if any(one.is_capital for one in aligned.tokens[1 : held[-1] + 1]):
        return
    before = aligned.tokens[held[0] - 1] if held[0] else None
    if before and held[0] == 1 and before.is_content and _is_plural(first):
        yield Restriction("population", sentence[before.start : first.end], sentence)
        return
    gap = _gap(aligned, held[-1], claim[len(subject) :])
    if not _POSTMODIFIER.match(gap) or re.search(r"[,;:()]", gap) or not _is_phrase(gap):
        return
    if not _FRAME.match(gap.strip()) and not _DEFINITE_PHRASE.match(gap):
        yield Restriction("population", sentence[first.start : last.end] + gap, sentence)


def _inside(aligned: _Alignment, held: list[int]) -> str:
    """The subject with what stands within it: "New Team and Works customers" of "New customers"."""
    words = [aligned.tokens[at] for at in range(held[0], held[-1] + 1)]
    has_more = any(one.is_content and not aligned.is_said(one) for one in words)
    subject = aligned.sentence[words[0].start : words[-1].end]
    is_phrase = held[0] == 0 and _is_plural(words[-1]) and not re.search(r"[,;:()]", subject)
    return subject if has_more and is_phrase and len(words) <= _LONGEST_SUBJECT else ""


_VALUE_OF = re.compile(
    r"\s+(?P<for>for|on|in|at|with|under|over)\s+[^,;:.()\n]+?(?=\s+and\b|[,;:.()\n]|$)"
)


def _contrasted(sentence: str, claim: str) -> Iterator[Restriction]:
    """The case of a value beside another value for another case, where the claim names none.

    "Within 1 hour for outages" of "within 1 hour for outages and within 4 hours for other
    questions".
    """
    claimed = {one.base for one in _values_in(claim)}
    told = [(one, _VALUE_OF.match(sentence, one.unit_end)) for one in _values_in(sentence)]
    for one, case in told:
        others = [
            (other, its) for other, its in told if other.base[0] == one.base[0] and other != one
        ]
        if case is None or one.base not in claimed or not others:
            continue
        is_alone = all(
            its is not None and its["for"] == case["for"] and other.base not in claimed
            for other, its in others
        )
        if is_alone and not _names_any(claim, case.group()):
            yield Restriction("population", case.group().strip(), sentence)


def _values_in(text: str) -> Sequence[Quantity]:
    return [one for one in read_slots(text).quantities if one.unit not in ("", "#")]


def _gap(aligned: _Alignment, at: int, predicate: str) -> str:
    """What stands between that word of the sentence and the claim's verb; "" without its verb."""
    verb = tokenize(predicate)[0].norm
    following = next((n for n in aligned.said if n > at), len(aligned.tokens))
    verbs = [n for n in range(at + 1, min(following + 1, len(aligned.tokens)))
             if aligned.tokens[n].norm == verb]  # fmt: skip
    inside = [one for one in aligned.tokens[at + 1 : verbs[-1]] if one.is_content] if verbs else []
    return aligned.sentence[aligned.tokens[at].end : inside[-1].end] if inside else ""


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


def _is_phrase(text: str) -> bool:
    """True for words that say something, and not a sentence's worth of it."""
    return bool(content(text)) and len(text.split()) <= _LONGEST


_EXCEPT = re.compile(r"(?:save|bar|barring|minus|except|excluding|apart|aside|but\s+not|without)\b")
_BOUND = re.compile(
    r"\b(?:ceiling|maximum|limit|cap|most)\b|^up\s+to\b|^at\s+(?:half\b|\d[\d.,]*\s*(?:%|per))",
    re.I,
)


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
