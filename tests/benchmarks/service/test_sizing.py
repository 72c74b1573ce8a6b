"""The sizing table: computed, in the documentation as computed, and larger for larger loads."""

from __future__ import annotations

from pathlib import Path

from benchmarks.service.sizing import Assumed, Measured, size, table

LAYOUTS = Path(__file__).parents[3] / "docs/deploy/layouts.md"
LOADS = (1_000, 10_000, 50_000, 500_000)


def test_documented_table_is_the_computed_one() -> None:
    """Else: `python -m benchmarks.service.sizing`, and paste it there."""
    assert table([size(load, 0.1) for load in LOADS]) in LAYOUTS.read_text()


def test_processes_are_enough_for_the_load() -> None:
    """All threads together wait for as many answers as come, and half of them would do."""
    assumed = Assumed()
    for load in LOADS:
        found = size(load, 0.1, Measured(), assumed)
        capacity = found.endpoint_processes * assumed.threads / assumed.endpoint_s

        assert capacity >= assumed.spare * load / 60 * 0.1
        assert found.partitions >= 2 * max(found.endpoint_processes, found.local_cores)


def test_a_load_without_samples_still_takes_workers() -> None:
    """Each answer outside of the sample has its decision."""
    found = size(500_000, 0.0)

    assert found.local_cores == found.endpoint_processes > 10
