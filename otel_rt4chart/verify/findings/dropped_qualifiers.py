"""Restrictions of passages, such as exclusions and conditions, and those that an answer drops."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from otel_rt4chart.verify.core.model import Claim, Evidence, Finding, Label
from otel_rt4chart.verify.findings.failure_kinds import FindingName
from otel_rt4chart.verify.findings.modifiers import (
    Restriction,
    is_story_beside,
    modifiers_left_out,
)
from otel_rt4chart.verify.language.negation import denials
from otel_rt4chart.verify.language.thesaurus import all_synonyms
from otel_rt4chart.verify.language.tokens import content, stem, tokenize
from otel_rt4chart.verify.language.word_lists import (
    AT_TIMES,
    BOUND_SAID,
    COMMON_UNIVERSAL,
    DOUBT_SAID,
    HEDGED,
    PART_SAID,
    PARTIAL_SAID,
    PARTITIVE,
    RESTRICTION_DENIED,
    RESTRICTION_WORDS,
    RESULT_OPENS,
    SOLE_SAID,
    TIME_SAID,
    RestrictionKind,
)

# A restriction is said if the answer has this share of its words.
_MENTIONED = 0.5
# A restriction concerns a claim if its clause has this share of the claim's content.
_CONCERNED = 0.5
# A sentence carries a claim if it has this share of what the best one has of it.
_CARRIES = 0.75
_SHORTEST = 4  # letters of an abbreviation: "auth"
_PARTIAL, _SOLE, _BOUNDED = (
    re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    for words in (PARTIAL_SAID, SOLE_SAID, BOUND_SAID)
)
# A question with one of these is not about the restricted case: "Is it free without a ticket?".
_WIDE_QUESTION = re.compile(
    r"\b(?:without|even|regardless|always|any|all|every|not|never|only|unless|need|require[ds]?)\b"
    r"|n['’]t\b",
    re.IGNORECASE,
)
# The question tells of a case before it asks: "My card was declined. What happens now?".
_CASE_ASKED = re.compile(r"\w[.!;:]\s+[^.!]*\?")
_WORD = re.compile(r"\w+")
# The verb behind "can", or the participle behind "must be".
_ACT = re.compile(
    r"\b(?:can|could|may|might|must|should|shall)\s+(?:only\s+|also\s+)?(?:be\s+)?(?!not\b)([a-z-]+)",
    re.IGNORECASE,
)
_NEXT_PREDICATE = re.compile(
    r"\b(?:and|but)\s+(?=(?:is|are|was|were|can|will|must|may|has|have)\b)", re.IGNORECASE
)
_AT_TIMES, _TIME = (re.compile(rf"\b(?:{words})\b", re.I) for words in (AT_TIMES, TIME_SAID))
_DOUBTED = re.compile(rf"\b(?:{HEDGED}|{DOUBT_SAID})\b", re.IGNORECASE)
_PART = re.compile(rf"\b(?:{PARTITIVE}|{PARTIAL_SAID}|{PART_SAID})\b|%", re.IGNORECASE)


def dropped_qualifiers(
    answer: str, claims: Sequence[Claim], question: str = ""
) -> Iterator[Finding]:
    """Entailed claims all of whose supporting sentences have a restriction that is missing."""
    mentioned = content(answer)
    asked = {} if _WIDE_QUESTION.search(question) else content(question)
    has_case = _CASE_ASKED.search(question) is not None
    for number, claim in enumerate(claims):
        if claim.label is not Label.ENTAILED:
            continue
        supporting = _carrying(claim)
        found = [
            [
                restriction
                for restriction in _left_out(one.text, claim.text, answer, mentioned)
                if not _is_asked(restriction, claim.text, asked)
                and not (has_case and _opens_case(restriction, one.text))
            ]
            for one in supporting
        ]
        missing = list(filter(None, found))
        if not missing or len(missing) < len(supporting):
            continue
        first = missing[0][0]
        yield Finding(
            FindingName.DROPPED_QUALIFIER,
            f"the passage says “{first.text}”, the answer does not",
            kind=first.kind,
            claim=number,
            passage_ids=tuple(dict.fromkeys(evidence.passage_id for evidence in supporting)),
            evidence=tuple(supporting),
        )


def _is_asked(restriction: Restriction, claim: str, asked: Mapping[str, float]) -> bool:
    """True if the question is about that case alone: "Is parking free on Sundays?"."""
    limiting = content(restriction.text).keys() - content(claim).keys()
    return restriction.kind != "exclusion" and bool(limiting) and limiting <= asked.keys()


def _opens_case(restriction: Restriction, sentence: str) -> bool:
    """True for the "if" that opens a sentence: it names the case that the rest is about."""
    return restriction.kind == "condition" and sentence.lstrip().startswith(restriction.text)


def _carrying(claim: Claim) -> list[Evidence]:
    """The supporting sentences that have most of the claim; a judge may name lesser ones too."""
    stated = content(claim.text)
    shares = [
        (sum(weight for stem, weight in stated.items() if stem in content(one.text)), one)
        for one in claim.evidence
        if one.relation == "supports"
    ]
    most = max((share for share, _ in shares), default=0.0)
    return [one for share, one in shares if share >= _CARRIES * most]


def _left_out(
    sentence: str, claim: str, answer: str, mentioned: Mapping[str, float]
) -> tuple[Restriction, ...]:
    """What the sentence restricts by its words, then by where its phrases stand."""
    modifiers = (
        one
        for one in modifiers_left_out(sentence, claim)
        if not is_modifier_said(one, claim, answer, mentioned)
    )
    return (*dropped_restrictions(sentence, claim, mentioned), *modifiers)


def is_modifier_said(
    modifier: Restriction, claim: str, answer: str, mentioned: Mapping[str, float]
) -> bool:
    """True if the answer may say it: one of its words is enough, for it may be put otherwise."""
    if modifier.kind in ("hedge", "quantifier"):
        said = _DOUBTED if modifier.kind == "hedge" else _PART
        return any(match.group() != "May" for match in said.finditer(answer))
    # Of a phrase, what the claim has is the thing that is limited; the other words limit it.
    limiting = content(modifier.text).keys() - content(claim).keys()
    return not limiting or any(_is_among(stem, mentioned) for stem in limiting)


def dropped_restrictions(
    sentence: str, claim: str, mentioned: Mapping[str, float]
) -> tuple[Restriction, ...]:
    """The restrictions of a sentence that concern the claim and that the answer does not mention.

    Args:
        sentence: A sentence of a passage.
        claim: What the answer states.
        mentioned: The content of the whole answer: stems with their rarity.
    """
    found = restrictions(sentence)
    stated = content(claim) if found else {}  # most sentences restrict nothing
    return tuple(
        _beyond(restriction, claim)
        for one in found
        for restriction in (_second(one, claim) or one,)
        if _concerns(one, stated) and not _is_mentioned(restriction, claim, mentioned)
    )


def _second(restriction: Restriction, claim: str) -> Restriction | None:
    """The restriction behind the one that the claim gives: "within 14 days if it is unopened"."""
    rest = _beyond(restriction, claim)
    return rest if rest != restriction and _RESTRICTION.match(rest.text) else None


def _beyond(restriction: Restriction, claim: str) -> Restriction:
    """The restriction without the words of it with which the claim ends."""
    words = list(_WORD.finditer(restriction.text))
    given = [word.group().casefold() for word in words]
    said = [word.casefold() for word in _WORD.findall(claim)]
    shared = (many for many in range(len(given) - 1, 0, -1) if said[-many:] == given[:many])
    many = next(shared, 0)
    if not many:
        return restriction
    text = restriction.text[words[many].start() :]
    own = _RESTRICTION.match(text)
    kind = _kind(own.lastgroup) if own else restriction.kind
    return restriction._replace(kind=kind, text=text)


def _concerns(restriction: Restriction, claim: Mapping[str, float]) -> bool:
    shared = content(restriction.text).keys() & claim.keys()
    if restriction.kind == "quantifier" and not shared:
        return False
    # "Up to 20 kg each" does not limit "40 kg together".
    if restriction.kind == "bound" and not any(stem[:1].isdigit() for stem in shared):
        return False
    if not _may_be_same_act(restriction, claim):
        return False
    clause_content = content(restriction.clause)
    concerned = sum(weight for stem, weight in claim.items() if stem in clause_content)
    return concerned >= _CONCERNED * sum(claim.values())


def _may_be_same_act(restriction: Restriction, claim: Mapping[str, float]) -> bool:
    """False where the act that the clause allows is not the claim's, or another part is limited.

    "Only the owner can ask for a refund" does not limit "Refunds go back to the card", nor does
    "can be photographed offline and are uploaded when online" limit the photographs.
    """
    before, _, after = restriction.clause.partition(restriction.text)
    *others, own = _NEXT_PREDICATE.split(before)
    if others and claim.keys().isdisjoint(content(own)):
        return False
    act = _ACT.search(f"{own}{restriction.text}{after}")
    verb = stem(act.group(1)) if act else ""
    return not act or not claim.keys().isdisjoint({verb, *all_synonyms(verb)})


def _is_mentioned(restriction: Restriction, claim: str, mentioned: Mapping[str, float]) -> bool:
    """True if the answer has most of the restriction's content, weighted by rarity.

    The word of a bound or a quantifier must be in the claim: "plans" does not say "some plans".
    """
    if restriction.kind == "bound":
        return _BOUNDED.search(claim) is not None
    if restriction.kind == "quantifier":
        if _PARTIAL.search(restriction.text):
            return _PARTIAL.search(claim) is not None
        if _SOLE.search(claim):
            return True
        return all(_is_among(stem, mentioned) for stem in content(restriction.text))
    weights = content(restriction.text)
    if restriction.kind == "condition" and _AT_TIMES.search(claim):
        return True
    if restriction.kind == "exclusion" and denials(tokenize(claim)):
        # "A child of four should not use it" says "for everyone except children under six".
        return bool(weights.keys() & content(claim).keys())
    if restriction.text.lower().startswith("expire") and _TIME.search(claim):
        return True
    met = sum(weight for stem, weight in weights.items() if _is_among(stem, mentioned))
    return met > _MENTIONED * sum(weights.values()) or not weights


def _is_among(stem: str, mentioned: Mapping[str, float]) -> bool:
    """True for a stem that is said in full or abbreviated: "auth" says "authorization"."""
    if stem in mentioned or any(stem[:at] in mentioned for at in range(_SHORTEST, len(stem))):
        return True
    return len(stem) >= _SHORTEST and any(other.startswith(stem) for other in mentioned)


# Characters beside a restriction in which its clause is searched.
_REACH = 400
# How far a restriction goes on after its words; a quantifier's pattern holds its words itself.
_REST = {"bound": r"[^,;:()\n]{0,80}\b", "quantifier": ""}
_TO_THE_COMMA = r"[^,;:.()\n]*"
_RESTRICTION = re.compile(
    "|".join(
        rf"(?P<{kind}>{words}{_REST.get(kind, _TO_THE_COMMA)})"
        for kind, words in RESTRICTION_WORDS.items()
    ),
    re.IGNORECASE | re.VERBOSE,
)
_ANYWAY = re.compile(r"\bor\s+(?:not|any\w*|else\w*)\b", re.IGNORECASE)
_TAKES_OUT = re.compile(r"except|excluding|with\s+the\s+exception", re.IGNORECASE)
_ALL = re.compile(rf"\b(?:{COMMON_UNIVERSAL}|both|no(?:ne|body|thing)?)\b", re.IGNORECASE)
_DENIED = re.compile(RESTRICTION_DENIED, re.IGNORECASE)
_BOUNDARY = re.compile(
    r"[;:()\n“”\"]|[.!?]\s|,\s+(?=(?:and|but|while|whereas|although|though|which|who|where|as|so"
    rf"|because|or|{RESULT_OPENS})\b)",
    re.IGNORECASE,
)

_COORDINATED = re.compile(r"\b(?:and|or|but),\s*$", re.IGNORECASE)


def restrictions(sentence: str) -> tuple[Restriction, ...]:
    """The exclusions, conditions, eligibility rules, time limits, bounds and quantifiers."""
    denied = [found.span() for found in _DENIED.finditer(sentence)]
    return tuple(
        Restriction(_kind(match.lastgroup), match.group().strip(), clause)
        for match in _RESTRICTION.finditer(sentence)
        for clause in (_clause(sentence, match),)
        if (_excepts_of_all(match, clause) or not is_story_beside(clause, match.group()))
        and not _ANYWAY.search(match.group())
        and not any(start < match.start() < end for start, end in denied)
    )


def _excepts_of_all(match: re.Match[str], clause: str) -> bool:
    """True for what takes something from all: without it, even a sentence of a story is false."""
    rest = clause.replace(match.group(), " ", 1)
    return _TAKES_OUT.match(match.group()) is not None and _ALL.search(rest) is not None


def _kind(name: str | None) -> RestrictionKind:
    return next(kind for kind in RESTRICTION_WORDS if kind == name)


def _clause(sentence: str, match: re.Match[str]) -> str:
    """The clause that holds the restriction; if the restriction opens it, also the next clause."""
    before = sentence[max(0, match.start() - _REACH) : match.start()]
    start = max((one.end() for one in _BOUNDARY.finditer(before)), default=0)
    before, own = before[start:], match.group()[:_REACH]
    if _COORDINATED.search(before):  # "and, with a referral, X" restricts X alone
        before = ""
    if content(before) and not before.rstrip().endswith(","):
        return before + own
    after = sentence[match.end() : match.end() + _REACH]
    following = _BOUNDARY.search(after, 1)
    return before + own + after[: following.start() if following else None]
