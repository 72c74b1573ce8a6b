"""Pages of tests show what labels say, however busy the machine is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def patient() -> Iterator[None]:
    """A first page would be shown before the labels of a test are counted."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rt4chart_collector.console.app.label_findings.FIRST_WAIT_S", 60.0)
        yield
