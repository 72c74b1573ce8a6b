"""These tests take minutes: they run where they are asked for."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True, scope="session")
def _asked_for() -> None:
    """`make test-integration` sets the variable."""
    if os.environ.get("RT4CHART_INTEGRATION") != "1":
        pytest.skip("takes minutes: run by `make test-integration` (RT4CHART_INTEGRATION=1)")
