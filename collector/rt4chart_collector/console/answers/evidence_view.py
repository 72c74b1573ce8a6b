"""Quotations of passages on an answer's page: which words are marked, and the text around."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from otel_rt4chart.verify.core.model import Evidence, Passage
from otel_rt4chart.verify.findings.reasons import split_at_words
from rt4chart_collector.console.view.filters import visible

# Characters of a passage on each side of a quotation that is compared with another one.
BESIDE_LENGTH = 160


@dataclass(frozen=True, slots=True)
class EvidenceView:
    """A quotation, and its anchor on the page, "" if it is not there.

    `parts` are its text, split at the words that differ from the claim's: these are marked.
    `before` and `after` are the text around it, "" where it is not stored.
    """

    evidence: Evidence
    anchor: str
    parts: tuple[tuple[str, bool], ...]
    before: str = ""
    after: str = ""


def evidence_view(
    found: Evidence, anchor: str, words: Sequence[str], passage: Passage | None
) -> EvidenceView:
    """The quotation with these words of it marked, and the text of the passage around it."""
    before = after = ""
    if passage is not None and passage.text[found.start : found.end] == found.text:
        before = _tail(passage.text[max(found.start - BESIDE_LENGTH, 0) : found.start])
        after = _tail(passage.text[found.end : found.end + BESIDE_LENGTH][::-1])[::-1]
    parts = tuple((visible(text), is_on) for text, is_on in split_at_words(found.text, words))
    return EvidenceView(found, anchor, parts, visible(before), visible(after))


def _tail(text: str) -> str:
    """The end of a text from its first whole word."""
    if len(text) < BESIDE_LENGTH:
        return text
    return "…" + text[text.find(" ") :] if " " in text else ""
