"""Ways to group failures, side by side: ours, the claim's embedding, BERTopic's and PostHog's.

BERTopic 0.17's defaults (UMAP of 15 neighbours to 5 dimensions by cosine, HDBSCAN of at least 10)
and PostHog's (PCA to 100 dimensions, HDBSCAN of at least 1% and 5, min_samples 5; its source of
2026) are rebuilt from their parts, over the same sentence vectors. UMAP is seeded.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.clustering.rows import Failing
from otel_rt4chart.judges.embedded_models import build_embedder
from otel_rt4chart.verify.findings.classify import ClaimDifference, classify_failure
from otel_rt4chart.verify.findings.failure_kinds import FailureFamily, pattern_of
from rt4chart_clustering.description.describe import FINGERPRINT_VERSION, is_explained
from rt4chart_clustering.description.embedding import MeaningEmbedder
from rt4chart_clustering.description.joint_vector import WEIGHTS, JointWeights, joint_vectors
from rt4chart_clustering.description.text_templates import describe_claim, mask_claim
from rt4chart_clustering.grouping.engine import HdbscanGrouping
from rt4chart_clustering.triage.families import family_of

Matrix = NDArray[np.float32]
Labels = NDArray[np.int64]
SEED, MIN_SAMPLES, UMAP_NEIGHBOURS = 42, 5, 15
SIZES = (5, 10, 15, 30)
SHARES = (0.01, 0.02, 0.05)


@dataclass(frozen=True, slots=True)
class Grouping:
    """A label a failure, -1 for noise, and the vectors that were grouped."""

    labels: Labels
    space: Matrix


@dataclass(frozen=True, slots=True)
class System:
    """A way to group, with the settings that are tried on the split for tuning."""

    name: str
    group: Callable[[Sequence[Failing], float], Grouping]
    settings: tuple[float, ...]
    is_ours: bool = False


@cache
def embedder() -> MeaningEmbedder:
    """The embedded encoder, for all systems alike."""
    return MeaningEmbedder(build_embedder())


def apart(rows: Sequence[Failing], *, is_marked: bool = True) -> list[ClaimDifference]:
    """The mechanical differences; without the marks, what the rules find alone."""
    return [
        classify_failure(one.claim, one.label, one.beside, clashes=one.clashes if is_marked else ())
        for one in rows
    ]


def claims(rows: Sequence[Failing], size: float) -> Grouping:
    """HDBSCAN over the claims' vectors."""
    space = embedder().embed([one.claim for one in rows])
    return Grouping(dense(space, int(size)), space)


def bertopic(rows: Sequence[Failing], size: float) -> Grouping:
    """UMAP, then HDBSCAN, as BERTopic does; fewer rows than it looks at neighbours are noise."""
    if len(rows) <= max(UMAP_NEIGHBOURS, size):
        return Grouping(np.full(len(rows), -1, dtype=np.int64), embedder().embed([""] * len(rows)))
    import hdbscan

    space = _reduced(tuple(one.claim for one in rows))
    found = hdbscan.HDBSCAN(min_cluster_size=int(size), metric="euclidean", prediction_data=True)
    return Grouping(np.asarray(found.fit_predict(space), dtype=np.int64), space)


def bertopic_all(rows: Sequence[Failing], size: float) -> Grouping:
    """The same, each outlier then in the topic whose c-TF-IDF words it shares most."""
    grouping = bertopic(rows, size)
    labels, topics = grouping.labels.copy(), sorted(set(grouping.labels.tolist()) - {-1})
    texts = [one.claim for one in rows]
    joined = [" ".join(t for t, of in zip(texts, labels, strict=True) if of == topic)
              for topic in topics]  # fmt: skip
    if not topics or not (labels == -1).any():
        return grouping
    counter = CountVectorizer().fit(joined)
    terms = counter.transform(joined).toarray().astype(np.float64)
    weights = np.log(1 + terms.sum() / len(topics) / np.maximum(terms.sum(axis=0), 1))
    topic_words = _unit(terms / np.maximum(terms.sum(axis=1, keepdims=True), 1) * weights)
    outliers = np.flatnonzero(labels == -1)
    mine = _unit(counter.transform([texts[at] for at in outliers]).toarray() * weights)
    labels[outliers] = np.array(topics)[(mine @ topic_words.T).argmax(axis=1)]
    return Grouping(labels, grouping.space)


def posthog(rows: Sequence[Failing], share: float) -> Grouping:
    """PCA, then HDBSCAN with a share of the rows as the least size."""
    vectors = embedder().embed([one.claim for one in rows])
    space = PCA(min(100, *vectors.shape), random_state=SEED).fit_transform(vectors)
    return Grouping(dense(space, max(5, int(len(rows) * share))), space.astype(np.float32))


def fingerprints(rows: Sequence[Failing], size: float, *, is_marked: bool = True) -> Grouping:
    """As issues are made on one route: a pattern by its fingerprint, the pool by its texts."""
    found = apart(rows, is_marked=is_marked)
    parts: defaultdict[str, list[int]] = defaultdict(list)
    for at, (row, one) in enumerate(zip(rows, found, strict=True)):
        parts[pattern_of(row.label, one.kind)].append(at)
    labels = np.full(len(rows), -1, dtype=np.int64)
    for pattern, part in sorted(parts.items()):
        texts = [describe_claim(rows[i].claim, rows[i].label, found[i]) for i in part]
        inside = (
            HdbscanGrouping(int(size)).labels(embedder().embed(texts))
            if not is_explained(pattern)
            else np.zeros(len(part), dtype=np.int64)
        )
        for label in sorted(set(inside.tolist()) - {-1}):
            chosen = np.array(part)[inside == label]
            if len(chosen) >= size:
                labels[chosen] = labels.max() + 1
    return Grouping(labels, joint(rows, found))


def laid_out(rows: Sequence[Failing], size: float, *, is_marked: bool = True) -> Grouping:
    """HDBSCAN over the vectors of operations and masked text."""
    space = joint(rows, apart(rows, is_marked=is_marked))
    return Grouping(dense(space, int(size)), space)


def families(rows: Sequence[Failing], size: float) -> Grouping:
    """What issues have in common across routes and labels: the primary operation's family."""
    found = apart(rows)
    names = list(FailureFamily)
    labels = np.array(
        [names.index(family_of(f"{FINGERPRINT_VERSION}:{row.label}:{one.kind}"))
         for row, one in zip(rows, found, strict=True)],
        dtype=np.int64,
    )  # fmt: skip
    return Grouping(labels, joint(rows, found))


def by_rules(system: Callable[..., Grouping]) -> Callable[[Sequence[Failing], float], Grouping]:
    """The same without a model's marks."""
    return lambda rows, size: system(rows, size, is_marked=False)


def joint(
    rows: Sequence[Failing], found: Sequence[ClaimDifference], weights: JointWeights = WEIGHTS
) -> Matrix:
    """The vectors that failures are stored with, all of one route."""
    texts = embedder().embed([mask_claim(one.claim) for one in rows])
    topics = embedder().embed([" ".join((one.claim, *one.beside)) for one in rows])
    return joint_vectors(found, [("", "")] * len(rows), texts, topics, weights)


def dense(space: Matrix, size: int) -> Labels:
    """HDBSCAN's labels; too few rows are noise."""
    if len(space) < max(size, MIN_SAMPLES):
        return np.full(len(space), -1, dtype=np.int64)
    fitted = HDBSCAN(min_cluster_size=size, min_samples=MIN_SAMPLES, algorithm="brute", copy=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.asarray(fitted.fit_predict(space), dtype=np.int64)


@cache
def _reduced(texts: tuple[str, ...]) -> Matrix:
    from umap import UMAP

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reducer: Any = UMAP(
            n_neighbors=UMAP_NEIGHBOURS,
            n_components=5,
            min_dist=0.0,
            metric="cosine",
            random_state=SEED,
        )
        return np.asarray(reducer.fit_transform(embedder().embed(texts)), dtype=np.float32)


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float64)


SYSTEMS = (
    System("claim's embedding, HDBSCAN", claims, SIZES),
    System("BERTopic: UMAP, HDBSCAN", bertopic, SIZES),
    System("BERTopic, outliers by c-TF-IDF", bertopic_all, SIZES),
    System("PostHog: PCA 100, HDBSCAN", posthog, SHARES),
    System("ours: operations and text, HDBSCAN", laid_out, SIZES, is_ours=True),
    System("ours: issues, as they are made", fingerprints, (5,), is_ours=True),
    System("ours: families, issues across routes", families, (0,), is_ours=True),
    System("ours without marks: operations and text", by_rules(laid_out), SIZES, is_ours=True),
    System("ours without marks: issues", by_rules(fingerprints), (5,), is_ours=True),
)
# Those that are also tried on each route alone.
ROUTED = tuple(one for one in SYSTEMS if not one.name.startswith("ours without"))
