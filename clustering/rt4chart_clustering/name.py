"""Names for issues: a template for the pattern, and the value that stands out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from otel_rt4chart.plain import printable
from rt4chart_clustering.difference import Change, Op

CONTRADICTED = {
    Op.EXCLUSION: "Exclusion ignored",
    Op.NUMBER: "Number differs from the source",
    Op.DATE: "Date differs from the source",
    Op.ENTITY: "Name differs from the source",
    Op.POLARITY: "Says the opposite of the source",
    Op.SCOPE: "Wider than the source",
    Op.QUALIFIER: "Condition or hedge dropped",
    Op.ECHO: "Restates the question against the source",
    Op.ADDITION: "Goes beyond the source and against it",
    Op.OTHER: "Says otherwise than the source",
}
BASELESS = {
    Op.EXCLUSION: "Exclusion ignored",
    Op.NUMBER: "Number not in the source",
    Op.DATE: "Date not in the source",
    Op.ENTITY: "Name not in the source",
    Op.POLARITY: "Opposite of what the source says nearby",
    Op.SCOPE: "Wider than the source",
    Op.QUALIFIER: "Condition or hedge dropped",
    Op.ECHO: "Restates the question without support",
    Op.ADDITION: "Added to the source",
    Op.OTHER: "Not in the source",
}
LONGEST = 60
# A value names the issue only where it is behind this share of the claims, and behind three.
STANDS_OUT, AT_LEAST = 0.3, 3


def title(fingerprint: str, route: str, changes: Iterable[Change], claims: int) -> str:
    """Such as "Number differs from the source · sales_call · 37 claims"."""
    _, label, op = fingerprint.split(":")
    head = (CONTRADICTED if label == "contradicted" else BASELESS)[Op(op)]
    # What the sources have instead says little where they are silent.
    told = [one if label == "contradicted" or not one.claimed else replace(one, found="")
            for one in changes]  # fmt: skip
    value = _standing_out(told, claims)
    noun = "claim" if claims == 1 else "claims"
    return f"{head}{value} · {plain(route)} · {claims} {noun}"


def plain(text: str) -> str:
    """Untrusted text as part of one line: no control characters, and cut where it is long."""
    shown = printable(text).strip()
    return shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"


def _standing_out(changes: Iterable[Change], claims: int) -> str:
    """The commonest pair of values among the claims, where it is common enough."""
    counts = Counter((one.claimed, one.found) for one in changes if one.claimed or one.found)
    if not counts:
        return ""
    (claimed, found), number = min(counts.items(), key=lambda item: (-item[1], item[0]))
    if number < AT_LEAST or number < STANDS_OUT * claims:
        return ""
    if not claimed:
        return f": “{plain(found)}”"
    return f": “{plain(claimed)}” for “{plain(found)}”" if found else f": “{plain(claimed)}”"
