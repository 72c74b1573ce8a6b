"""All findings of one answer, in the order of a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from otel_rt4chart.verify.core.judge import Judge
from otel_rt4chart.verify.core.meter import Meter
from otel_rt4chart.verify.core.model import (
    CheckPlan,
    Claim,
    Exchange,
    Finding,
    Label,
    Passage,
)
from otel_rt4chart.verify.findings.cherry_picking import cherry_picked
from otel_rt4chart.verify.findings.citations import citation_findings
from otel_rt4chart.verify.findings.classify import classify_failure, source_texts
from otel_rt4chart.verify.findings.dropped_qualifiers import dropped_qualifiers
from otel_rt4chart.verify.findings.failure_kinds import FindingName
from otel_rt4chart.verify.findings.scanner import BoundedScanner, ScanLimitError
from otel_rt4chart.verify.findings.stale import Authority, stale

# 200 passages that contradict 300 claims would give 60,000 findings.
MOST_PER_NAME = 20
# A baseless claim is on topic if a sentence has this share of its content. Of the faithful answers
# of the training split, .003 have an overreaching claim then (benchmarks/judge/findings.py).
ON_TOPIC = 0.5


class Notes(Protocol):
    """What the pipeline knows about an answer beside its claims."""

    @property
    def scores(self) -> dict[int, float]:
        """Each claim's best lexical link, in [0, 1]."""

    @property
    def linking_error(self) -> str:
        """Why the embedding model was not used; empty if it was."""

    @property
    def compressed(self) -> tuple[int, int] | None:
        """How many sentences a claim was judged on, and of how many; None for all of them."""


def find(
    exchange: Exchange,
    claims: Sequence[Claim],
    notes: Notes,
    scanner: Judge,
    authority: Authority | None = None,
    meter: Meter | None = None,
    plan: CheckPlan | None = None,
) -> tuple[Finding, ...]:
    """Every finding; `scanner` judges single passages often, so it must be cheap.

    Only the checks of the `plan` run, or all of them.

    The search for citations and for cherry-picked passages ends at the limit of `BoundedScanner`.
    """
    bounded = BoundedScanner(scanner, meter)
    return tuple(_findings(exchange, claims, notes, bounded, authority, plan or CheckPlan()))


def _findings(
    exchange: Exchange,
    claims: Sequence[Claim],
    notes: Notes,
    scanner: BoundedScanner,
    authority: Authority | None,
    plan: CheckPlan,
) -> Iterator[Finding]:
    # Findings read the finished claims and change no label, so that the rates of labels stay
    # comparable with those of other systems.
    passages = exchange.passages
    supporting = supporting_passages(claims)
    unused = [one for one in passages if one.id not in supporting]
    yield from attribution(claims, passages)
    if plan.citations:
        cited = citation_findings(exchange.answer, passages, claims, scanner)
        yield from _first(FindingName.CITATION, cited)
    if plan.cherry_picking:
        picked = cherry_picked(exchange, claims, unused, scanner)
        yield from _first(FindingName.CHERRY_PICKED, picked)
    yield from dropped_qualifiers(exchange.answer, claims)
    yield from stale(exchange, claims, authority)
    yield from overreaching(claims, notes.scores)
    yield from failure_kinds(claims, exchange.question)
    yield from _process(notes)


def _first(name: FindingName, found: Iterable[Finding]) -> Iterator[Finding]:
    """The first findings of a name; there can be as many as claims times passages."""
    number = 0
    try:
        for finding in found:
            if number == MOST_PER_NAME:
                yield _limited(
                    name, f"more than {number} findings of {name}: the others are not listed"
                )
                return
            yield finding
            number += 1
    except ScanLimitError as error:
        yield _limited(name, f"{error}: further findings of {name} were not searched")


def _limited(name: FindingName, detail: str) -> Finding:
    return Finding(FindingName.FINDINGS_LIMITED, detail, kind=name, value=MOST_PER_NAME)


def _process(notes: Notes) -> Iterator[Finding]:
    """How the verdict was reached, if not in the usual way."""
    if notes.compressed is not None:
        read, whole = notes.compressed
        yield Finding(
            FindingName.CONTEXT_COMPRESSED,
            f"the context exceeds one call: a claim was judged on the {read} most relevant of "
            f"{whole} sentences",
            value=read / whole,
        )
    if notes.linking_error:
        yield Finding(FindingName.LINKED_BY_WORDS_ONLY, notes.linking_error)


def supporting_passages(claims: Sequence[Claim]) -> frozenset[str]:
    """The ids of the passages that support a claim."""
    return frozenset(
        evidence.passage_id
        for claim in claims
        for evidence in claim.evidence
        if evidence.relation == "supports"
    )


def attribution(claims: Sequence[Claim], passages: Sequence[Passage]) -> Iterator[Finding]:
    """Both findings, for every answer; without passages, utilisation has no value."""
    supporting = supporting_passages(claims)
    ids = tuple(dict.fromkeys(passage.id for passage in passages))
    used = tuple(name for name in ids if name in supporting)
    yield Finding(
        FindingName.CHUNK_ATTRIBUTION,
        f"{len(used)} of {len(ids)} passages support a claim",
        passage_ids=used,
    )
    yield Finding(
        FindingName.CHUNK_UTILISATION,
        "the share of passages that support a claim",
        value=len(used) / len(ids) if ids else None,
    )


def overreaching(claims: Sequence[Claim], scores: Mapping[int, float]) -> Iterator[Finding]:
    """Baseless claims on the topic of the passages: linked to them but not entailed."""
    for number, claim in enumerate(claims):
        if claim.label is Label.BASELESS and scores.get(number, 0.0) >= ON_TOPIC:
            yield Finding(
                FindingName.OVERREACH,
                "the passages cover the topic but do not say it",
                claim=number,
                value=scores[number],
            )


def failure_kinds(claims: Sequence[Claim], question: str) -> Iterator[Finding]:
    """The kind of failure of each unfaithful claim, which is also the kind of its issue."""
    for number, claim in enumerate(claims):
        if claim.label.is_unfaithful:
            kind = classify_failure(
                claim.text,
                claim.label,
                source_texts(claim.evidence, claim.nearest),
                question=question,
                clashes=claim.clashes,
            ).kind
            yield Finding(
                FindingName.FAILURE_KIND,
                kind.label(claim.label),
                kind=kind.finding_id,
                claim=number,
            )
