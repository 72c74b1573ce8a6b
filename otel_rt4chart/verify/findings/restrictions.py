"""The words of a sentence that limit what it says: exclusions, conditions, time limits."""

from __future__ import annotations

import re
from typing import NamedTuple

from otel_rt4chart.verify.language.tokens import content

# Characters beside a restriction in which its clause is looked for.
_REACH = 400
_PARTICIPLE = r"\w+(?:ed|en|wn|id|de|nt|ne)"
# "when" tells a condition only of something done: "when approval has been obtained".
_DONE = (
    rf"(?:[\w'’-]+\s+){{0,5}}(?:(?:has|have)\s+been|is|are)\s+(?:not\s+)?{_PARTICIPLE}\b"
    rf"|{_PARTICIPLE}\b"
)
_FORMALITY = (
    r"(?:prior|advance|written|request|approval|authori[sz]ation|receipt|payment|proof|notice"
    r"|confirmation|verification|registration|presentation|completion)\b"
)
_MONTH = r"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"

# In VERBOSE form. Each begins with the word that limits; the guards keep out what only sounds so.
_EXCLUSION = r"""
    \b(?: except(?:\s+(?:for|when|where|if|in))? | excluding | exclud(?:es?|ed)
        | other\s+than | apart\s+from
        | (?:is|are)\s+not\s+(?:covered|eligible|included|available)
        | do(?:es)?\s+not\s+(?:apply|cover|include)
    )\b
"""
_CONDITION = rf"""
    (?: (?<!\bas\s)(?<!\beven\s)(?<!\bwhat\s)(?<!\bsee\s)(?<!\bask\s)(?<!\bknow\s)(?<!\basked\s)
        \bif(?!\s+(?: so|not|only|any|ever|possible|you['’]ve
                    | (?:you|we|they|i)\s+(?:want|wish|like|look|think|include|would|have\s+ever)
                   )\b)
      | \bunless | \bprovided\s+(?:that|you|the) | \bon\s+condition
      | \bas\s+long\s+as(?!\s+\w+\s+(?:year|month|week|day))
      | \bsubject\s+to | \bcontingent\s+on
      | \bonly\s+(?:when|where|once|after|upon|if|with)
      | \bwith\s+(?=(?:\w+\s+)?{_FORMALITY})
      | \b(?:upon|after)\s+(?=(?:\w+\s+){{0,2}}{_FORMALITY})
      | \b(?:when|once|where|after)\s+(?={_DONE})
      | \brequires? | \b(?:is|are)\s+required | \bmust(?!\s+have\b)
    )\b
"""
_ELIGIBILITY = r"""
    \b(?: (?:(?<=\bis\s)|(?<=\bare\s))eligible | eligibility | aged\s+\d+
        | \d+\s+(?:years\s+)?(?:and|or)\s+(?:above|over|older|under|younger)
        | only\s+(?: for(?!\s+\d) | to | available\s+(?:to|for) )
        | (?:new|existing|verified|registered)\s+\w+\s+only
    )\b
"""
_TIME_LIMIT = rf"""
    \b(?: within\s+(?=\d|one|two|three|the\s+first) | only\s+available\s+within
        | no\s+later\s+than | expires? | valid\s+(?:for|until)
        | until(?=\s+(?:the\s+end|\d|{_MONTH}))
        | for\s+the\s+first\s+(?=\w)
    )\b
"""
_BOUND = r"""
    \b(?: up\s+to | at\s+most | limited\s+to | (?:a\s+)?maximum\s+of | no\s+more\s+than )
    \s+(?=\W?\d|one\b|two\b|three\b|a\b)
"""
_QUANTIFIER = r"""
    (?: (?<!\bnot\s)(?<!\bthe\s)(?<!\bhis\s)(?<!\bher\s)(?<!\btheir\s)
        \bonly(?=\s+(?!\d|a\b|one\b|two\b|three\b|for\b|just\b))
      | \ball\s+but
      | \b(?:some|most)(?=\s+\w+s\b)
    )
    (?:\s+[\w'’-]+){1,3}
"""
_TO_THE_COMMA = r"[^,;:.()\n]*"
_RESTRICTION = re.compile(
    rf"(?P<exclusion>{_EXCLUSION}{_TO_THE_COMMA})"
    rf"|(?P<condition>{_CONDITION}{_TO_THE_COMMA})"
    rf"|(?P<eligibility>{_ELIGIBILITY}{_TO_THE_COMMA})"
    rf"|(?P<time_limit>{_TIME_LIMIT}{_TO_THE_COMMA})"
    rf"|(?P<bound>{_BOUND}[^,;:()\n]{{0,40}})"
    rf"|(?P<quantifier>{_QUANTIFIER})",
    re.IGNORECASE | re.VERBOSE,
)
_BOUNDARY = re.compile(
    r"[;:()\n“”\"]|[.!?]\s|,\s+(?=(?:and|but|while|whereas|although|though|which|who|where|as|so"
    r"|because|or)\b)",
    re.IGNORECASE,
)
# What is not required, or not excluded, restricts nothing.
_DENIED = re.compile(
    r"(?:not|n['’]t)\s+(?:exclud|requir|subject|contingent|limited)\w*"
    r"|\bno(?:\s+[\w-]+){1,3}\s+(?:is|are)\s+required",
    re.IGNORECASE,
)
# A restriction holds in general; a clause in the past tense tells a story.
_PAST = re.compile(r"\b(?:was|were|had|did|said|told|went|came|took|became|began)\b", re.I)
_ENDED = re.compile(r"(?<!been\s)\b(?!need|proceed|exceed|aged\b)[a-z]{2,}ed\b", re.IGNORECASE)
_PRESENT = re.compile(
    r"\b(?:is|are|be|been|am|do|does|has|have|can|cannot|may|must|shall|will|should|requires?"
    r"|appl(?:y|ies)|covers?|offers?|gets?|receives?|lasts?|includes?|expires?|extends?)\b",
    re.IGNORECASE,
)
_SPOKEN = re.compile(r"\b(?:I|I['’]\w+|my|he|she)\b(?!\s+or\b)")


class Restriction(NamedTuple):
    """Words of a sentence that limit what it says; `kind` says how, `clause` what they limit."""

    kind: str
    text: str
    clause: str


def restrictions(sentence: str) -> tuple[Restriction, ...]:
    """The exclusions, conditions, eligibility rules, time limits, bounds and quantifiers."""
    denied = [found.span() for found in _DENIED.finditer(sentence)]
    return tuple(
        Restriction(str(match.lastgroup), match.group().strip(), clause)
        for match in _RESTRICTION.finditer(sentence)
        for clause in (_clause(sentence, match),)
        if not is_told(clause) and not any(start < match.start() < end for start, end in denied)
    )


def is_told(clause: str) -> bool:
    """True for a clause of a story or of a dialogue, which restricts nothing."""
    if _PAST.search(clause) or _SPOKEN.search(clause):
        return True
    return _ENDED.search(clause) is not None and _PRESENT.search(clause) is None


def _clause(sentence: str, match: re.Match[str]) -> str:
    """The clause that holds the restriction; for one that comes first, also the next clause."""
    before = sentence[max(0, match.start() - _REACH) : match.start()]
    start = max((one.end() for one in _BOUNDARY.finditer(before)), default=0)
    before, own = before[start:], match.group()[:_REACH]
    if content(before) and not before.rstrip().endswith(","):
        return before + own
    after = sentence[match.end() : match.end() + _REACH]
    following = _BOUNDARY.search(after, 1)
    return before + own + after[: following.start() if following else None]
