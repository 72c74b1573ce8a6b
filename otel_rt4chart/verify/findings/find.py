"""All findings of one answer, in the order in which a reader wants them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from otel_rt4chart.verify.core.judge import Judge
from otel_rt4chart.verify.core.model import Claim, Exchange, Finding
from otel_rt4chart.verify.findings.attribution import attribution, supporting_passages
from otel_rt4chart.verify.findings.cherry import cherry_picked
from otel_rt4chart.verify.findings.citations import citation_findings
from otel_rt4chart.verify.findings.failure import failure_kinds, overreaching
from otel_rt4chart.verify.findings.qualifiers import dropped_qualifiers
from otel_rt4chart.verify.findings.stale import Authority, stale
from otel_rt4chart.verify.findings.sycophancy import sycophantic

# Findings of one name in one answer; 200 passages that deny 300 claims would be 60,000.
MOST = 20


class Notes(Protocol):
    """What the pipeline knows beside the claims; `rt4chart`'s `run.Notes` is one."""

    @property
    def scores(self) -> dict[int, float]:
        """Each claim's best lexical link, in [0, 1]."""

    @property
    def linking_error(self) -> str:
        """Why meaning was not compared, or nothing."""

    @property
    def compressed(self) -> tuple[int, int] | None:
        """How many sentences a claim was judged on, of how many, where not on all."""


def find(
    exchange: Exchange,
    claims: Sequence[Claim],
    notes: Notes,
    scanner: Judge,
    authority: Authority | None = None,
) -> tuple[Finding, ...]:
    """Every finding; `scanner` judges single passages, so it should cost nothing."""
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
    """The first of findings that could be as many as claims times passages."""
    for number, finding in enumerate(found):
        if number == MOST:
            yield Finding(
                "findings_limited",
                f"more than {MOST} findings of {finding.name}: the others were not looked for",
                kind=finding.name,
                value=MOST,
            )
            return
        yield finding


def _process(notes: Notes) -> Iterator[Finding]:
    """What a reader should know of how the verdict was reached."""
    if notes.compressed is not None:
        read, whole = notes.compressed
        yield Finding(
            "context_compressed",
            f"the context exceeds one call: a claim was judged on the {read} of {whole} sentences "
            "that were selected as bearing on it",
            value=read / whole,
        )
    if notes.linking_error:
        yield Finding("linked_by_words_only", notes.linking_error)
