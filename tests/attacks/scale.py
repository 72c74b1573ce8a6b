"""How large the attacks are: small within `make test`, in full within `make attack`."""

from __future__ import annotations

import os
from typing import TypeVar

T = TypeVar("T")

IS_FULL = os.environ.get("RT4CHART_ATTACK") == "full"


def scaled(small: T, full: T) -> T:
    """The value of this run."""
    return full if IS_FULL else small
