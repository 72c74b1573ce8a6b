"""All findings of one answer, in the order of a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from otel_rt4chart.verify.core.judge import Judge
from otel_rt4chart.verify.core.model import Claim, Exchange, Finding
from otel_rt4chart.verify.findings.attribution import attribution, supporting_passages
from otel_rt4chart.verify.findings.cherry_picking import cherry_picked
from otel_rt4chart.verify.findings.citations import citation_findings
from otel_rt4chart.verify.findings.classify import failure_kinds, overreaching
from otel_rt4chart.verify.findings.dropped_qualifiers import dropped_qualifiers
from otel_rt4chart.verify.findings.failure_kinds import FindingName
from otel_rt4chart.verify.findings.stale import Authority, stale
from otel_rt4chart.verify.findings.sycophancy import sycophantic

# 200 passages that contradict 300 claims would give 60,000 findings.
MOST_PER_NAME = 20


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
) -> tuple[Finding, ...]:
    """Every finding; `scanner` judges single passages often, so it must be cheap."""
    return tuple(_findings(exchange, claims, notes, scanner, authority))


def _findings(
    exchange: Exchange,
    claims: Sequence[Claim],
    notes: Notes,
    scanner: Judge,
    authority: Authority | None,
) -> Iterator[Finding]:
    passages = exchange.passages
    supporting = supporting_passages(claims)
    unused = [one for one in passages if one.id not in supporting]
    yield from attribution(claims, passages)
    yield from _first(citation_findings(exchange.answer, passages, claims, scanner))
    yield from _first(cherry_picked(exchange, claims, unused, scanner))
    yield from dropped_qualifiers(exchange.answer, claims)
    restated = sycophantic(exchange.question, exchange.answer, claims)
    if restated is not None:
        yield restated
    yield from stale(exchange, claims, authority)
    yield from overreaching(claims, notes.scores)
    premise = exchange.question if restated is not None else ""
    yield from failure_kinds(claims, notes.scores, premise)
    yield from _process(notes)


def _first(found: Iterable[Finding]) -> Iterator[Finding]:
    """The first findings of a name; there can be as many as claims times passages."""
    for number, finding in enumerate(found):
        if number == MOST_PER_NAME:
            yield Finding(
                FindingName.FINDINGS_LIMITED,
                f"more than {MOST_PER_NAME} findings of {finding.name}: the others are not listed",
                kind=finding.name,
                value=MOST_PER_NAME,
            )
            return
        yield finding


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
