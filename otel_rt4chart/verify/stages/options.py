"""The parameters of one verification, and its steps, which can be left out to measure them."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from typing import NamedTuple


class PipelineStep(StrEnum):
    """What an ablation leaves out of the pipeline; everything else stays as it is."""

    LOCAL = "local"
    """No chunk is asked: each claim is judged on the whole context alone, without a hint."""
    GLOBAL = "global"
    """The label of the chunks is the final one, with the deciding chunk's evidence."""
    HINTS = "hints"
    """The global step is not told what the local one found."""
    EVIDENCE = "evidence"
    """A label stands without the evidence that it requires, and is not asked about again."""
    DECOMPOSITION = "decomposition"
    """Each sentence of the answer is one claim."""


class Options(NamedTuple):
    """The parameters of `Verifier`; see its constructor."""

    window: int
    overlap: int
    max_chunk_tokens: int
    floor: float
    dense_floor: float
    candidates: int
    reruns: int
    exhaustive: bool = False
    left_out: frozenset[PipelineStep] = frozenset()


def checked_steps(left_out: Collection[PipelineStep]) -> frozenset[PipelineStep]:
    """The steps to leave out; ValueError where no step would give a label."""
    steps = frozenset(map(PipelineStep, left_out))
    if {PipelineStep.LOCAL, PipelineStep.GLOBAL} <= steps:
        raise ValueError("expected the local or the global step to stay, got both left out")
    return steps
