"""What a claim's value is to it: the case that it speaks of, or a limit that it states."""

from __future__ import annotations

import re

from otel_rt4chart.verify.language.limits import FROM, UNTIL

# With one of these, or with an edge right before its value, a claim states a limit itself.
_STATES_LIMIT = re.compile(
    r"\b(?:limit|limited|maximum|max|minimum|min|deadline|ceiling|cap|threshold|latest|earliest"
    r"|at\s+most|at\s+least|no\s+more|no\s+less|only)\b",
    re.IGNORECASE,
)
_STATES_EDGE = re.compile(
    r"\b(?:(?<!is\s)(?<!are\s)opens?|closes?|starts?|begins?|ends?|finish(?:es)?|expires?|due|lasts?|valid|runs?"
    r"|for|within|until|till|by|from|to|have|has|had|up)"
    r"(?:\s+(?:at|on|in|for|the|a|an|until|about))*\s+[$€£¥₹]?$",
    re.IGNORECASE,
)
_CASE = re.compile(
    r"\s*(?:an?|any|every|each|all|those|no|for|if|when|at|on|in|whoever|anyone|someone)\b",
    re.IGNORECASE,
)
_RELATIVE = re.compile(r"\b(?:that|who|which|if|when)\b", re.IGNORECASE)
_FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|does|do|can|could|may|might|must|will|would|shall|should"
    r"|gets?|goes|go|pays?|needs?|receives?|costs?|comes?)\b",
    re.IGNORECASE,
)
_SINCE = re.compile(r"\s+(?:after|later|into|before|earlier|old)\b", re.IGNORECASE)


def is_case(text: str, start: int, end: int) -> bool:
    """True where a claim's value belongs to the case that it speaks of, not to what it says of it.

    `A refund of $35 goes to your card`, `40 minutes after it was placed`.
    """
    if _SINCE.match(text, end):
        return True
    lead = text[:start]
    is_said = bool(_FINITE.search(lead)) and not _RELATIVE.search(lead)
    return bool(_CASE.match(text)) and not is_said and bool(_FINITE.search(text, end))


def states_limit(text: str, start: int, *, is_moment: bool) -> bool:
    """True where the value at this place of a claim is a limit, an edge or a whole length."""
    lead = text[:start]
    is_edge = _STATES_EDGE.search(lead) or (is_moment and (UNTIL.search(lead) or FROM.search(lead)))
    return bool(is_edge or _STATES_LIMIT.search(text))
