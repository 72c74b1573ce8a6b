"""What the pattern of an issue is called, in one line of text.

Apart from the templates of titles, because lists of issues need the names alone, and at once.
"""

from __future__ import annotations

from otel_rt4chart.core.text import one_line
from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.core.rates import Measure
from otel_rt4chart.verify.findings.failure_kinds import (
    kind_of_fingerprint,
    pattern_of_fingerprint,
)

MAX_LENGTH = 60
# Characters that terminals, HTML, Markdown or chats read as markup: `[red]`, `<!all>`.
_MARKUP = str.maketrans("<>[]{}`|*~\\@", "‹›()()'/··/＠")


def pattern_title(fingerprint: str) -> str:
    """How the template titles of a pattern begin: its name, true of claims of every label."""
    return _head(fingerprint)[1]


def pattern_name(fingerprint: str) -> str:
    """What a fingerprint stands for, such as "unfaithful: number not as in the source"."""
    label, head = _head(fingerprint)
    if not label:
        return head
    verdict = Measure.MISLEADING if label == Label.ENTAILED else label
    return f"{verdict}: {head[0].lower()}{head[1:]}"


def clean_line(text: str) -> str:
    """Untrusted text as part of one line: no control characters, no markup, shortened."""
    return one_line(text.translate(_MARKUP), MAX_LENGTH)


def _head(fingerprint: str) -> tuple[str, str]:
    """The label or measure, "" if it is unknown, and the name of the pattern."""
    kind, parts = kind_of_fingerprint(fingerprint), pattern_of_fingerprint(fingerprint).split(":")
    if kind is not None and len(parts) == 2:
        return parts[0], kind.label(parts[0])
    return "", clean_line(fingerprint) or "Unfaithful"
