"""The fitted heads of the rules: how likely a claim is unfaithful, and if so, contradicted."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from otel_rt4chart.verify.local.features import FEATURES
from otel_rt4chart.verify.local.head import Head, read_head


@dataclass(frozen=True, slots=True)
class Heads:
    """`unfaithful` against entailed, then, of the unfaithful, `contradicted` against baseless."""

    unfaithful: Head
    contradicted: Head


@cache
def heads() -> Heads:
    """The fitted weights shipped with the package, read once; a feature it lacks is an error."""
    fitted = json.loads(files(__package__).joinpath("weights.json").read_text("utf-8"))
    return Heads(
        read_head(fitted["unfaithful"], FEATURES), read_head(fitted["contradicted"], FEATURES)
    )
