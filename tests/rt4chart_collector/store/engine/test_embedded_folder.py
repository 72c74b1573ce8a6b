"""The folder of an embedded database."""

from __future__ import annotations

from pathlib import Path

import pytest

from rt4chart_collector.store.engine.embedded_folder import folder_warning


@pytest.mark.parametrize(
    ("mode", "is_warned"), [(0o700, False), (0o770, False), (0o755, False), (0o777, True)]
)
def test_a_folder_that_everybody_can_write_to_is_warned_of(
    tmp_path: Path, mode: int, is_warned: bool
) -> None:
    """With what to do; a group may write, as on volumes of Kubernetes."""
    tmp_path.chmod(mode)

    found = folder_warning(str(tmp_path))

    assert bool(found) is is_warned
    assert (f"chmod o-w {tmp_path}" in found) is is_warned
    assert folder_warning("") == ""
