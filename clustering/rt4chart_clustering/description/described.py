"""Failures in the words that they are grouped by: each once, until its verdict is replaced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from otel_rt4chart.verify.core.failure_kinds import UNEXPLAINED
from rt4chart_clustering.description.embedding import Embedder
from rt4chart_clustering.description.enrichers import NO_ENRICHERS, Enrichers
from rt4chart_clustering.description.fingerprint import FINGERPRINT_VERSION, ClaimDifference
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.descriptions import Description, insert_descriptions
from rt4chart_collector.store.issues.failures import Failure, slices, undescribed
from rt4chart_collector.store.issues.match_failures import DescriptionWindow

PAGE = 2_000
# A model takes its time over a page, and what is written of it is kept.
WITH_MODEL = 200
# Told between pages what is done and how many failures so far; it may raise to break off there.
Between = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class Described:
    """A failure with its difference and its description."""

    failure: Failure
    difference: ClaimDifference
    text: str

    @property
    def fingerprint(self) -> str:
        """The versioned pattern, such as `fp2:contradicted:number`."""
        return f"{FINGERPRINT_VERSION}:{self.failure.label}:{self.difference.kind}"


def described_from(failure: Failure) -> Described:
    """A failure beside its evidence, or beside the nearest sentence where it has none."""
    (one,) = described_all([failure], NO_ENRICHERS)
    return one


def described_all(failures: Sequence[Failure], enrichers: Enrichers) -> list[Described]:
    """Many failures in order, with the help of optional models."""
    differences = [enrichers.difference(failure) for failure in failures]
    texts = enrichers.descriptions(failures, differences)
    return [Described(*one) for one in zip(failures, differences, texts, strict=True)]


def is_explained(fingerprint: str) -> bool:
    """True if rules explain the failure: its pattern is then its issue."""
    return fingerprint.rpartition(":")[2] not in UNEXPLAINED


def describe_new(
    client: Client,
    embedder: Embedder,
    window: DescriptionWindow,
    *,
    between: Between,
    enrichers: Enrichers = NO_ENRICHERS,
) -> tuple[int, int]:
    """Describe what is not described yet; how many that is, and how many the rules do not explain.

    Pages are written as they are made: what was broken off goes on where it stood.
    """
    seen = unexplained = 0
    size = PAGE if enrichers.writer is None else WITH_MODEL
    pieces = slices(
        client,
        model=embedder.id,
        since_ns=window.since_ns,
        until_ns=window.until_ns,
        page=PAGE,
    )
    for since_ns, until_ns in pieces:
        between("described", seen)
        found = undescribed(client, model=embedder.id, since_ns=since_ns, until_ns=until_ns)
        for start in range(0, len(found), size):
            page = described_all(found[start : start + size], enrichers)
            vectors = embedder.embed([one.text for one in page])
            insert_descriptions(
                client,
                [
                    Description(one.failure, one.fingerprint, one.text, tuple(vector.tolist()))
                    for one, vector in zip(page, vectors, strict=True)
                ],
                model=embedder.id,
            )
            seen += len(page)
            unexplained += sum(not is_explained(one.fingerprint) for one in page)
            between("described", seen)
    return seen, unexplained
