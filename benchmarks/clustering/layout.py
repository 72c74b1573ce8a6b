"""Where a failure lies among others: its operations first, then its words without their values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from otel_rt4chart.verify.findings.classify import ClaimDifference
from otel_rt4chart.verify.findings.failure_kinds import FailureFamily, FailureKind
from rt4chart_clustering.description.embedding import Matrix

# What each block weighs against a text of length 1. The primary operation weighs most: clusters of
# texts alone are topics.
FAMILY, PRIMARY, FIRED, TEXT = 1.2, 0.9, 0.25, 1.0
_FAMILY_AT = {family: at for at, family in enumerate(FailureFamily)}
_OP_AT = {op: at for at, op in enumerate(FailureKind)}
WIDTH = len(_FAMILY_AT) + 2 * len(_OP_AT)


def layout(differences: Sequence[ClaimDifference], texts: Matrix) -> Matrix:
    """A unit row for each: the primary's family, the primary, all that fired, the text's vector.

    `texts` are vectors of descriptions, one a difference. Rows of one fingerprint differ by what
    else fired and by their texts: within a fingerprint, the texts' own vectors tell them apart.
    """
    head = np.zeros((len(differences), WIDTH), dtype=np.float32)
    families, ops = len(_FAMILY_AT), len(_OP_AT)
    for row, one in enumerate(differences):
        head[row, _FAMILY_AT[one.kind.family]] = FAMILY
        head[row, families + _OP_AT[one.kind]] = PRIMARY
        for op in one.kinds:
            head[row, families + ops + _OP_AT[op]] = FIRED
    rows = np.hstack([head, TEXT * texts]).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True) if len(rows) else rows
