"""The engine's errors, by their texts as chdb 4.4 wrote them."""

from __future__ import annotations

import pytest

from otel_rt4chart.core.errors import StoreDamagedError
from rt4chart_collector.store.engine.engine_errors import seen_damage, store_error

DAMAGED = (
    "Code: 40. DB::Exception: Checksum doesn't match: corrupted data. Reference: 32af. Actual: "
    "bc61. Size of compressed block: 493: While reading or decompressing "
    "/db/store/6f3/6f3952ba/20261123_1_40_8/data.bin (position: 509): (while reading column "
    "Timestamp): (while reading from part /db/store/6f3/6f3952ba/20261123_1_40_8/ in table "
    "otel.otel_traces (6f3952ba-e91b-49a9-9a61-16dff753be3e) located on disk default of type "
    "local, from mark 0 with max_rows_to_read = 118): While executing MergeTreeSelect(pool: "
    "ReadPool, algorithm: Thread). (CHECKSUM_DOESNT_MATCH)"
)
LIMIT = DAMAGED.replace("Code: 40", "Code: 241").replace(
    "CHECKSUM_DOESNT_MATCH", "MEMORY_LIMIT_EXCEEDED"
)


def test_a_damaged_part_is_named_with_its_table_and_noted_for_its_database() -> None:
    """Nothing of the engine's text is kept but names."""
    found = store_error("chdb:///here", Exception(DAMAGED))

    assert isinstance(found, StoreDamagedError)
    assert str(found).startswith(
        "chdb:///here: part 20261123_1_40_8 of table otel_traces is damaged "
        "(CHECKSUM_DOESNT_MATCH): "
    )
    assert seen_damage("chdb:///here") == {"otel_traces": 1}
    assert seen_damage("chdb:///elsewhere") == {}


@pytest.mark.parametrize(
    "after", ["", " (version 26.9.2.1)", " (version 26.9.2.1 (official build))"]
)
def test_a_failure_that_came_over_http_has_its_code(after: str) -> None:
    """As one of the embedded engine: the driver and the server add to its end."""
    for end in (after, f"{after} (for url http://127.0.0.1:8123)"):
        reply = f"Received ClickHouse exception, code: 241, server response: {LIMIT}{end}"
        found = store_error("http://server", Exception(reply))
        assert found.engine_code == "MEMORY_LIMIT_EXCEEDED"


def test_another_failure_in_a_part_is_no_damage() -> None:
    """Such as a limit that a query met there; its code is kept for the log."""
    found = store_error("chdb:///limit", Exception(LIMIT))

    assert not isinstance(found, StoreDamagedError)
    assert found.engine_code == "MEMORY_LIMIT_EXCEEDED"
    assert seen_damage("chdb:///limit") == {}
    assert store_error("chdb:///limit", Exception("connection refused")).engine_code == ""
