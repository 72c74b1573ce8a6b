"""What the page of an answer is made of: pieces of text, passages, evidence and claims."""

from __future__ import annotations

from dataclasses import dataclass

from otel_rt4chart.verify.model import Evidence
from rt4chart_collector.store.answer import HeldBy
from rt4chart_collector.store.answer_claims import NumberedClaim
from rt4chart_collector.store.feedback import Feedback

# What became of a passage, in the order in which passages are shown.
ROLES = ("contradicts", "used", "unused", "lost")


@dataclass(frozen=True, slots=True)
class Words:
    """A piece of text as it is shown; `label` is empty where nothing is marked.

    `claims` are the numbers of all claims here, joined by spaces; `anchors` the ids that lie here;
    `describes` the id of what says more, where it is on the page.
    """

    text: str
    label: str = ""
    claims: str = ""
    href: str = ""
    describes: str = ""
    title: str = ""
    anchors: tuple[str, ...] = ()
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """Words after `skipped` characters that are not shown."""

    skipped: int
    words: tuple[Words, ...]


@dataclass(frozen=True, slots=True)
class ClaimLink:
    """A claim by its number."""

    index: int
    label: str
    href: str


@dataclass(frozen=True, slots=True)
class NamedPassage:
    """A passage without its text: `role` is one of `ROLES`."""

    number: int
    id: str
    role: str
    stages: str


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A passage beside the answer: `role` is one of `ROLES`.

    `parts` is empty where the text is gone. `more` claims concern it beside those named; `left`
    characters follow that are not shown; `unfit` pieces of evidence lie outside of the text.
    """

    number: int
    id: str
    role: str
    stages: str
    supports: tuple[ClaimLink, ...]
    contradicts: tuple[ClaimLink, ...]
    more: int
    parts: tuple[Part, ...]
    has_text: bool
    left: int
    unfit: int
    score: float | None


@dataclass(frozen=True, slots=True)
class ShownEvidence:
    """A piece of evidence, and where it stands on the page ("" where it does not)."""

    evidence: Evidence
    anchor: str


@dataclass(frozen=True, slots=True)
class ShownClaim:
    """A claim of the page with all that belongs to it."""

    index: int
    numbered: NumberedClaim
    evidence: tuple[ShownEvidence, ...]
    kind_of_failure: str
    issues: tuple[HeldBy, ...]
    feedback: tuple[Feedback, ...]
    fits: bool
