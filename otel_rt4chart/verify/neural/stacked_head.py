"""The heads over slots and network together: fitted on top of one network, shipped with it."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.verify.local.features import FEATURES, Reading
from otel_rt4chart.verify.local.heads import Head, read_head
from otel_rt4chart.verify.neural.cross_encoder import Read

NETWORK, KIND = "network", "network_kind"
NAMES = (*FEATURES, NETWORK, KIND)
FILE = "head.json"
_MOST = 6.0  # of a logit: beyond, a network knows no more than that it is sure


@dataclass(frozen=True, slots=True)
class Stack:
    """`unfaithful` against entailed, then, of the unfaithful, `contradicted` against baseless.

    Words of a claim that the network holds wrong with at least `marked_from` are told. `digest`
    tells one fit from another.
    """

    unfaithful: Head
    contradicted: Head
    marked_from: float
    digest: str


def read_stack(folder: Path) -> Stack:
    """The heads beside the network; SettingsError where they are not of this version's features."""
    path = folder / FILE
    try:
        written = path.read_bytes()
        fitted = json.loads(written)
        heads = [read_head(fitted[name], NAMES) for name in ("unfaithful", "contradicted")]
        digest = hashlib.blake2b(written, digest_size=3).hexdigest()
        return Stack(heads[0], heads[1], float(fitted["marked_from"]), digest)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingsError(
            f"{path}: expected the heads of this version's judge, got "
            f"{type(error).__name__} ({error}): install rt4chart-models of the same version"
        ) from error


def values(reading: Reading, read: Read) -> dict[str, float]:
    """Slots and network of one claim, by name; more speaks for unfaithful."""
    unfaithful = _either(read.contradicted, read.baseless)
    return reading.named | {
        NETWORK: _bounded(unfaithful - read.entailed),
        KIND: _bounded(read.contradicted - read.baseless),
    }


def _either(left: float, right: float) -> float:
    """The logarithm of the sum of two probabilities."""
    most = max(left, right)
    return most + math.log(math.exp(left - most) + math.exp(right - most))


def _bounded(logit: float) -> float:
    return max(-_MOST, min(_MOST, logit))
