"""Names for issues: a template for the pattern, and the value that stands out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from otel_rt4chart.core.text import printable
from rt4chart_clustering.description.difference import Change, Op

CONTRADICTED = {
    Op.NUMBER: "Number differs from the source",
    Op.UNIT: "Unit differs from the source",
    Op.DATE: "Date differs from the source",
    Op.ENTITY: "Name differs from the source",
    Op.EXCLUSION: "Exclusion ignored",
    Op.POLARITY: "Negation added or dropped",
    Op.DIRECTION: "Direction reversed",
    Op.OPPOSITE: "Says the opposite of the source",
    Op.SCOPE: "Wider than the source",
    Op.QUALIFIER: "Condition dropped",
    Op.HEDGE: "Surer or less sure than the source",
    Op.ORDER: "Order or cause changed",
    Op.ECHO: "Restates the question against the source",
    Op.MISPLACED: "Said of something else in the source",
    Op.QUALITY: "Quality or degree changed",
    Op.TERM: "Another word than the source's",
    Op.ADDITION: "Goes beyond the source and against it",
    Op.OTHER: "Says otherwise than the source",
}
BASELESS = {
    Op.NUMBER: "Number not in the source",
    Op.UNIT: "Unit not in the source",
    Op.DATE: "Date not in the source",
    Op.ENTITY: "Name not in the source",
    Op.EXCLUSION: "Exclusion ignored",
    Op.POLARITY: "Negation that the source does not have",
    Op.DIRECTION: "Direction that the source does not tell",
    Op.OPPOSITE: "Opposite of what the source says nearby",
    Op.SCOPE: "Wider than the source",
    Op.QUALIFIER: "Condition dropped",
    Op.HEDGE: "Surer or less sure than the source",
    Op.ORDER: "Order or cause not in the source",
    Op.ECHO: "Restates the question without support",
    Op.MISPLACED: "Words of the source joined otherwise",
    Op.QUALITY: "Quality or degree not in the source",
    Op.TERM: "Word that the source does not have",
    Op.ADDITION: "Added to the source",
    Op.OTHER: "Not in the source",
}
LONGEST = 60
# What terminals, HTML, Markdown or chats would read as more than text: `[red]`, `<!all>`.
_MARKUP = str.maketrans("<>[]{}`|*~\\@", "‹›()()'/··/＠")
# A value names the issue only where it is behind this share of the claims, and behind three.
STANDS_OUT, AT_LEAST = 0.3, 3


def title(fingerprint: str, route: str, changes: Iterable[Change], claims: int) -> str:
    """Such as "Number differs from the source · sales_call".

    `changes` are those of some or all of the issue's claims, `claims` how many these are. A
    fingerprint that another version wrote, of another shape, stands there as it is.
    """
    label, head = _head(fingerprint)
    # What the sources have instead says little where they are silent.
    told = [one if label == "contradicted" or not one.claimed else replace(one, found="")
            for one in changes]  # fmt: skip
    value = _standing_out(told, claims)
    return f"{head}{value} · {plain(route)}"


def _head(fingerprint: str) -> tuple[str, str]:
    """The label, "" where it cannot be told, and the pattern's name."""
    match fingerprint.split(":"):
        case [_, label, op] if op in list(Op):
            return label, (CONTRADICTED if label == "contradicted" else BASELESS)[Op(op)]
    return "", plain(fingerprint) or "Unfaithful"


def plain(text: str) -> str:
    """Untrusted text as part of one line: no control characters, no markup, cut if it is long."""
    shown = " ".join(printable(text).translate(_MARKUP).split())
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
