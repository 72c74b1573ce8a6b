"""What failures were described as, and the vectors of those words: what grouping works on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.failures import Failure
from rt4chart_collector.store.layout import NAME, Layout, Row, token_of

DESCRIPTIONS = Layout(
    "rt4chart_failure_embeddings",
    (
        ("Timestamp", "DateTime64(9, 'UTC')"),
        ("TraceId", "String"),
        ("SpanId", "String"),
        ("ClaimIndex", "Int32"),
        ("ServiceName", NAME),
        ("Route", NAME),
        ("Fingerprint", NAME),
        ("EmbeddingModel", NAME),
        ("Text", "String"),
        ("Embedding", "Array(Float32)"),
        ("Version", "UInt64"),
    ),
)
Partition = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Description:
    """A failure in the words that it is grouped by, and their vector."""

    failure: Failure
    fingerprint: str
    text: str
    vector: tuple[float, ...]

    @property
    def partition(self) -> Partition:
        """Within what it is grouped: service, route and fingerprint."""
        return (self.failure.service, self.failure.route, self.fingerprint)


def insert_descriptions(client: Client, found: Sequence[Description], *, model: str) -> None:
    """Write them under the embedder's name; a verdict's replaces that of an earlier verdict."""
    rows: list[Row] = [
        (
            one.failure.time_ns,
            *one.failure.key,
            *one.partition,
            model,
            one.text,
            list(one.vector),
            one.failure.version + 1,
        )
        for one in found
    ]
    written = [(*one.failure.key, model, one.failure.version, one.fingerprint) for one in found]
    token = token_of("descriptions", written)
    DESCRIPTIONS.insert(client, rows, token=token)
