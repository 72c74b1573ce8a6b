"""Descriptions of failures and their vectors: what grouping works on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from rt4chart_collector.store.engine.columns import (
    Partition,
    StartNs,
    StoredKey,
    StoredPartition,
    Version,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import NAME, RowTable, StoredAs, token_of
from rt4chart_collector.store.issues.failures import Failure


@dataclass(frozen=True, slots=True)
class DescriptionRow:
    """A description as it is stored; `version` is that of its claim, plus one."""

    start_ns: StartNs
    key: StoredKey
    partition: StoredPartition
    model: Annotated[str, StoredAs("EmbeddingModel", NAME)]
    text: Annotated[str, StoredAs("Text", "String")]
    vector: Annotated[tuple[float, ...], StoredAs("Embedding", "Array(Float32)")]
    version: Version


DESCRIPTIONS = RowTable("rt4chart_failure_embeddings", DescriptionRow)


@dataclass(frozen=True, slots=True)
class Description:
    """The text by which a failure is grouped, and its vector."""

    failure: Failure
    fingerprint: str
    text: str
    vector: tuple[float, ...]

    @property
    def partition(self) -> Partition:
        """What it is grouped within: service, route and fingerprint."""
        return (self.failure.service, self.failure.route, self.fingerprint)


def insert_descriptions(client: Client, found: Sequence[Description], *, model: str) -> None:
    """Write them under the embedder's name; each replaces that of an earlier verdict."""
    rows = [
        DescriptionRow(
            start_ns=one.failure.time_ns,
            key=one.failure.key,
            partition=one.partition,
            model=model,
            text=one.text,
            vector=one.vector,
            version=one.failure.version + 1,
        )
        for one in found
    ]
    written = [(*one.failure.key, model, one.failure.version, one.fingerprint) for one in found]
    DESCRIPTIONS.insert(client, rows, token=token_of("descriptions", written))
