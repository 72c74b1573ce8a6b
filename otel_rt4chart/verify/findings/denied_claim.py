"""Wordings of a claim to compare passages with: its denial, and the parts that it asserts too."""

from __future__ import annotations

import re
from functools import lru_cache

from otel_rt4chart.verify.decompose.coordination import WORD, verbs

_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|can|could|may|might|will|would|shall|should|must|has|have|had)\b",
    re.IGNORECASE,
)
_PART = re.compile(r",?\s+(?:including|such\s+as|among\s+them|for\s+example)\s+(.+?)[.!]?$", re.I)
_LIST = re.compile(r",\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+")
_MOST_PARTS = 4
_CACHED_TEXTS = 4_096


@lru_cache(maxsize=_CACHED_TEXTS)
def deny(claim: str) -> str:
    """The claim with "not" at its verb, for an encoder: it need not be good English."""
    if match := _AUXILIARY.search(claim):
        return f"{claim[: match.end()]} not{claim[match.end() :]}"
    if verb := _verb(claim):
        return f"{claim[: verb.start()]}does not {claim[verb.start() :]}"
    first, space, rest = claim.partition(" ")
    return f"{first} not{space}{rest}"


def claim_parts(claim: str) -> tuple[str, ...]:
    """What a claim asserts of the examples that it names.

    "The policy covers imaging, including MRI" asserts that the policy covers MRI. Only behind a
    full verb: "is" before an example says something else.
    """
    match, verb = _PART.search(claim), _verb(claim)
    if match is None or verb is None or _AUXILIARY.search(claim[: match.start()]):
        return ()
    stem = claim[: verb.end()]
    items = [item.strip() for item in _LIST.split(match.group(1)) if item.strip()]
    return tuple(f"{stem} {item}." for item in items[:_MOST_PARTS])


def _verb(claim: str) -> re.Match[str] | None:
    words = list(WORD.finditer(claim))[1:]
    return next((word for word in words if word.group().lower() in verbs()), None)
