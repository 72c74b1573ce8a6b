"""Quotations of passages on an answer's page: which words are marked, and the text around."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from otel_rt4chart.verify.core.model import Evidence, Finding, Passage, Relation
from otel_rt4chart.verify.findings.failure_kinds import MISLEADING, FindingName
from rt4chart_collector.console.view.filters import visible
from rt4chart_collector.store.answers.claims import ClaimOutline

# Characters of a passage on each side of a quotation that is compared with another one.
BESIDE_LENGTH = 160


@dataclass(frozen=True, slots=True)
class EvidenceView:
    """A quotation, and its anchor on the page, "" if it is not there.

    `parts` are its text, split where a finding names words of it: these are marked. `before` and
    `after` are the text around it, "" where it is not stored.
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
    parts = tuple((visible(text), is_on) for text, is_on in _marked_words(found.text, words))
    return EvidenceView(found, anchor, parts, visible(before), visible(after))


# The findings that say why a claim has its status.
EXPLAINING = frozenset((*MISLEADING, FindingName.OVERREACH))


def evidence_of_findings(
    findings: Sequence[Finding], outline: Sequence[ClaimOutline]
) -> defaultdict[int, list[Evidence]]:
    """The passages that findings hold against a claim, beyond the claim's own evidence."""
    found: defaultdict[int, list[Evidence]] = defaultdict(list)
    known = {
        (claim.index, place.passage, place.start, place.end)
        for claim in outline
        for place in claim.places
        if place.relation != "supports"
    }
    indexes = {claim.index for claim in outline}
    for finding in findings:
        if finding.name != FindingName.CHERRY_PICKED or finding.claim not in indexes:
            continue
        relation: Relation = "contradicts" if finding.kind == "contradiction" else "limits"
        for one in finding.evidence:
            if one.relation == "supports":  # the other side of a conflict
                continue
            place = (finding.claim, *place_of(one))
            if place not in known:
                known.add(place)
                found[finding.claim].append(replace(one, relation=relation))
    return found


def place_of(evidence: Evidence) -> tuple[str, int, int]:
    """The passage and the characters of a quotation."""
    return evidence.passage_id, evidence.start, evidence.end


def _marked_words(text: str, words: Sequence[str]) -> list[tuple[str, bool]]:
    """The text split at the first of these words that it has; True for the part that they are."""
    for one in words:
        before, found, after = text.partition(one)
        if found:
            parts = ((before, False), (found, True), (after, False))
            return [(part, is_named) for part, is_named in parts if part]
    return [(text, False)]


def _tail(text: str) -> str:
    """The end of a text from its first whole word."""
    if len(text) < BESIDE_LENGTH:
        return text
    return "…" + text[text.find(" ") :] if " " in text else ""
