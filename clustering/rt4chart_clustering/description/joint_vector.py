"""One vector of a failure: what went wrong, how it is said, what it is about, and where.

It places a failure among those of all patterns and routes of a service. Within one pattern and
route, the vector of the description alone tells failures apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeAlias

import numpy as np

from otel_rt4chart.verify.findings.classify import ClaimDifference
from otel_rt4chart.verify.findings.failure_kinds import FailureFamily, FailureKind
from rt4chart_clustering.description.embedding import Matrix

# Raise it with every change below: vectors of two versions must not be compared.
JOINT_VERSION = "joint/1"


@dataclass(frozen=True, slots=True)
class JointWeights:
    """What each block weighs against a description of length 1."""

    family: float = 1.2
    primary: float = 0.9
    fired: float = 0.25
    topic: float = 0.3
    place: float = 0.6


# The primary kind weighs most: clusters of texts alone are topics. Chosen on the split `train` by
# `python -m benchmarks.clustering.weights`.
WEIGHTS = JointWeights()
_FAMILY_AT = {family: at for at, family in enumerate(FailureFamily)}
_KIND_AT = {kind: at for at, kind in enumerate(FailureKind)}
_PLACE_BITS = 32
# Service and route.
Place: TypeAlias = tuple[str, str]


def joint_vectors(
    differences: Sequence[ClaimDifference],
    places: Sequence[Place],
    texts: Matrix,
    topics: Matrix,
    weights: JointWeights = WEIGHTS,
) -> Matrix:
    """A row of length 1 for each failure.

    `texts` are the vectors of the descriptions, `topics` those of claim and evidence, of the same
    embedder: they share columns.
    """
    families, kinds = len(_FAMILY_AT), len(_KIND_AT)
    head = np.zeros((len(differences), families + 2 * kinds + _PLACE_BITS), dtype=np.float32)
    for row, (one, place) in enumerate(zip(differences, places, strict=True)):
        head[row, _FAMILY_AT[one.kind.family]] = weights.family
        head[row, families + _KIND_AT[one.kind]] = weights.primary
        for kind in one.kinds:
            head[row, families + kinds + _KIND_AT[kind]] = weights.fired
        head[row, -_PLACE_BITS:] = weights.place * _direction(place)
    rows = np.hstack([head, texts + weights.topic * topics]).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True) if len(rows) else rows


def _direction(place: Place) -> Matrix:
    """A unit vector of the place; those of two places are nearly orthogonal."""
    digest = blake2b("\0".join(place).encode("utf-8", "surrogatepass"), digest_size=4).digest()
    bits = np.unpackbits(np.frombuffer(digest, dtype=np.uint8)).astype(np.float32)
    return (2 * bits - 1) / np.float32(np.sqrt(_PLACE_BITS))
