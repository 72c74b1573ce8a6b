"""Describes failures: the fingerprint and the text by which they are grouped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from otel_rt4chart.verify.findings.classify import ClaimDifference, source_texts
from otel_rt4chart.verify.findings.failure_kinds import UNEXPLAINED, pattern_of
from rt4chart_clustering.description.embedding import TextEmbedder
from rt4chart_clustering.description.enrichers import NO_ENRICHERS, Enrichers
from rt4chart_clustering.description.joint_vector import JOINT_VERSION, joint_vectors
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.failures import (
    Description,
    Failure,
    insert_descriptions,
    undescribed_failures,
    undescribed_slices,
)
from rt4chart_collector.store.issues.match_failures import DescriptionWindow

# Part of every fingerprint. Issues keep the version that they were created with, and matching
# ignores it, so a changed rule creates no second issue. Raise it whenever the classifier or its
# words change.
FINGERPRINT_VERSION = "fp6"
PAGE = 2_000
# With a model a page takes long, and only complete pages survive an interruption.
MODEL_PAGE = 200
# Called between pages with what was done and with how many failures. An exception ends the run.
OnProgress = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class DescribedFailure:
    """A failure with its difference and its description."""

    failure: Failure
    difference: ClaimDifference
    text: str

    @property
    def fingerprint(self) -> str:
        """The versioned pattern, such as `fp6:unfaithful:number`."""
        return f"{FINGERPRINT_VERSION}:{pattern_of(self.failure.label, self.difference.kind)}"


def describe_failure(failure: Failure) -> DescribedFailure:
    """A failure compared with its evidence, or with the nearest sentence if it has none."""
    (one,) = describe_failures([failure], NO_ENRICHERS)
    return one


def describe_failures(failures: Sequence[Failure], enrichers: Enrichers) -> list[DescribedFailure]:
    """Failures in order, with the help of optional models."""
    differences = [enrichers.difference(failure) for failure in failures]
    texts = enrichers.descriptions(failures, differences)
    return [DescribedFailure(*one) for one in zip(failures, differences, texts, strict=True)]


def is_explained(fingerprint: str) -> bool:
    """True if rules explain the failure. All failures with its pattern are then one issue."""
    return fingerprint.rpartition(":")[2] not in UNEXPLAINED


def describe_new_failures(
    client: Client,
    embedder: TextEmbedder,
    window: DescriptionWindow,
    *,
    on_progress: OnProgress,
    enrichers: Enrichers = NO_ENRICHERS,
) -> tuple[int, int]:
    """Describe the new failures; how many these are, and how many of them no rule explains.

    Each page is written at once, so that an interrupted run continues where it stopped.
    """
    seen = unexplained = 0
    size = PAGE if enrichers.writer is None else MODEL_PAGE
    pieces = undescribed_slices(
        client,
        model=embedder.id,
        since_ns=window.since_ns,
        until_ns=window.until_ns,
        page=PAGE,
    )
    for since_ns, until_ns in pieces:
        on_progress("described", seen)
        found = undescribed_failures(
            client, model=embedder.id, since_ns=since_ns, until_ns=until_ns
        )
        for start in range(0, len(found), size):
            page = describe_failures(found[start : start + size], enrichers)
            insert_descriptions(
                client, _embed(embedder, page), model=embedder.id, joint_version=JOINT_VERSION
            )
            seen += len(page)
            unexplained += sum(not is_explained(described.fingerprint) for described in page)
            on_progress("described", seen)
    return seen, unexplained


def _embed(embedder: TextEmbedder, page: Sequence[DescribedFailure]) -> list[Description]:
    """The failures with the vectors of their descriptions and their joint vectors."""
    texts = embedder.embed([described.text for described in page])
    joint = joint_vectors(
        [described.difference for described in page],
        [(described.failure.service, described.failure.route) for described in page],
        texts,
        embedder.embed([topic_text(described.failure) for described in page]),
    )
    return [
        Description(
            described.failure,
            described.fingerprint,
            described.text,
            tuple(text.tolist()),
            tuple(vector.tolist()),
        )
        for described, text, vector in zip(page, texts, joint, strict=True)
    ]


def topic_text(failure: Failure) -> str:
    """What a failure is about: its claim and the sentences that it is compared with."""
    return " ".join((failure.claim, *source_texts(failure.evidence, failure.nearest)))
