"""What a reader is told about a claim: its reasons, the evidence of findings, differing words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from otel_rt4chart.core.text import find_words, quoted_words
from otel_rt4chart.verify.core.model import Clash, Evidence, Finding, Relation
from otel_rt4chart.verify.findings.failure_kinds import MISLEADING, FindingName

# The findings that say why a claim has its status.
EXPLAINING = frozenset((*MISLEADING, FindingName.OVERREACH))
# A claim's number, and the passage and the characters of a quotation.
EvidencePlace = tuple[int, str, int, int]


def reasons_by_claim(findings: Sequence[Finding]) -> dict[int, tuple[str, ...]]:
    """What the findings say against each claim, by its number."""
    found: defaultdict[int, dict[str, None]] = defaultdict(dict)
    for finding in findings:
        if finding.claim is not None and finding.name in EXPLAINING:
            found[finding.claim][finding.detail] = None
    return {claim: tuple(details) for claim, details in found.items()}


def kinds_by_claim(findings: Sequence[Finding]) -> dict[int, str]:
    """The kind of failure of each claim that has one, by its number, in words."""
    return {
        finding.claim: finding.detail
        for finding in findings
        if finding.name == FindingName.FAILURE_KIND and finding.claim is not None
    }


def evidence_of_findings(
    findings: Sequence[Finding], claims: Collection[int], known: Collection[EvidencePlace]
) -> defaultdict[int, list[Evidence]]:
    """The passages that findings hold against each of these claims, by its number.

    `known` are the places of the claims' own evidence that is not in support: these are left out.
    """
    found: defaultdict[int, list[Evidence]] = defaultdict(list)
    seen = set(known)
    for finding in findings:
        claim = finding.claim
        if finding.name != FindingName.CHERRY_PICKED or claim is None or claim not in claims:
            continue
        relation: Relation = "contradicts" if finding.kind == "contradiction" else "limits"
        for one in finding.evidence:
            if one.relation == "supports":  # the other side of a conflict
                continue
            place = (claim, *place_of(one))
            if place not in seen:
                seen.add(place)
                found[claim].append(replace(one, relation=relation))
    return found


def place_of(evidence: Evidence) -> tuple[str, int, int]:
    """The passage and the characters of a quotation."""
    return evidence.passage_id, evidence.start, evidence.end


def shown_evidence(own: Sequence[Evidence], beside: Sequence[Evidence]) -> list[Evidence | None]:
    """A claim's own evidence and that of its findings; None in the place of what is not shown.

    A judge may read a passage as support that a check holds against the claim.
    """
    found = (*own, *beside)
    against = {place_of(one) for one in found if one.relation != "supports"}
    return [
        one if one.relation != "supports" or place_of(one) not in against else None for one in found
    ]


def differing_words(
    claim: str, clashes: Sequence[Clash], reasons: Sequence[str], relation: Relation
) -> list[str]:
    """The words to mark in a quotation that stands beside the claim with these reasons.

    They are those that the reasons quote, and, in a quotation that is against the claim, those that
    stand there in the place of the claim's.
    """
    quoted = [words for reason in reasons for words in quoted_words(reason) if words != claim]
    found = [clash.found for clash in clashes if clash.found]
    return quoted if relation == "supports" else [*found, *quoted]


def split_at_words(text: str, words: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """The text in pieces; True for those that are one of these words, each at its first place."""
    places: list[tuple[int, int]] = []
    for one in dict.fromkeys(words):
        start, end = find_words(text, [one])
        if end and all(end <= first or start >= last for first, last in places):
            places.append((start, end))
    done = 0
    for start, end in sorted(places):
        if done < start:
            yield text[done:start], False
        yield text[start:end], True
        done = end
    if done < len(text):
        yield text[done:], False
