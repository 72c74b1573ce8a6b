"""Names for issues: a template for the pattern, and the value that stands out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from otel_rt4chart.verify.model import Clash

CONTRADICTED = {
    "exclusion": "Exclusion ignored",
    "number": "Number differs from the source",
    "date": "Date differs from the source",
    "entity": "Name differs from the source",
    "polarity": "Says the opposite of the source",
    "scope": "Wider than the source",
    "qualifier": "Condition or hedge dropped",
    "echo": "Restates the question against the source",
    "addition": "Goes beyond the source and against it",
    "other": "Says otherwise than the source",
}
BASELESS = {
    "exclusion": "Exclusion ignored",
    "number": "Number not in the source",
    "date": "Date not in the source",
    "entity": "Name not in the source",
    "polarity": "Opposite of what the source says nearby",
    "scope": "Wider than the source",
    "qualifier": "Condition or hedge dropped",
    "echo": "Restates the question without support",
    "addition": "Added to the source",
    "other": "Not in the source",
}
LONGEST = 60
# A value names the issue only where it is behind this share of the claims, and behind three.
STANDS_OUT, AT_LEAST = 0.3, 3


def title(fingerprint: str, route: str, clashes: Iterable[Sequence[Clash]], claims: int) -> str:
    """Such as "Number differs from the source · sales_call · 37 claims"."""
    _, label, op = fingerprint.split(":")
    head = (CONTRADICTED if label == "contradicted" else BASELESS)[op]
    value = _standing_out(clashes, claims)
    noun = "claim" if claims == 1 else "claims"
    return f"{head}{value} · {plain(route)} · {claims} {noun}"


def plain(text: str) -> str:
    """Untrusted text as part of one line: no control characters, and cut where it is long."""
    shown = "".join(c if c.isprintable() else " " for c in text).strip()
    return shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"


def _standing_out(clashes: Iterable[Sequence[Clash]], claims: int) -> str:
    """The commonest pair of values, each claim counting once for each of its pairs."""
    counts = Counter(pair for row in clashes for pair in {(one.claimed, one.found) for one in row})
    if not counts:
        return ""
    (claimed, found), number = min(counts.items(), key=lambda item: (-item[1], item[0]))
    if number < AT_LEAST or number < STANDS_OUT * claims:
        return ""
    return f": “{plain(claimed)}” for “{plain(found)}”" if found else f": “{plain(claimed)}”"
