"""What a module of these tests needs, as marks that say why it is skipped."""

from __future__ import annotations

import os

import pytest

BROKER = [
    pytest.mark.e2e,
    pytest.mark.skipif(
        os.environ.get("RT4CHART_INTEGRATION") != "1",
        reason="a broker of Maven's jars, and minutes: make test-integration",
    ),
]
MINUTES = pytest.mark.skipif(
    os.environ.get("RT4CHART_INTEGRATION") != "1", reason="minutes: make test-integration"
)
