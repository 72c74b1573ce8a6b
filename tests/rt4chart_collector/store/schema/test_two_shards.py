"""The cluster's tables executed: two shards give what one server gives, query by query."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from pathlib import Path

import pytest

from rt4chart_collector.store.answers.export import SOURCES
from rt4chart_collector.store.schema.cluster import LOCAL_SUFFIX, sharding_keys
from rt4chart_collector.store.schema.ddl import CreateTable, parse_statement
from rt4chart_collector.store.schema.migrate import SchemaVariant, shipped_migrations

ROOT = Path(__file__).parents[4]
ALL = shipped_migrations()
READ = (
    *("rates", "answers", "failures", "agreement", "unverified", "spans", "decided", "letters"),
    *("issues", "members", "traffic", "last", "view", "sums", "grouping"),
    *("list newest 0", "list newest 1", "list worst 0", "list worst 1"),
    *("verifiers", "ticks", "breakdown", "coverage", "criteria", "draw", "corrected", "history"),
    *("rt4chart_rates", "rt4chart_coverage", "rt4chart_unfaithful_claims"),
)


def lines(part: str, folder: Path) -> list[str]:
    """What the process says: the engine takes one configuration in each."""
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.rt4chart_collector.store.schema.two_shards",
            part,
            str(folder),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> list[str]:
    """The comparison of two shards with one server: half a minute, once for all workers."""
    folder = tmp_path_factory.mktemp("shards")
    if worker_id == "master":
        return lines("shards", folder)
    shared = tmp_path_factory.getbasetemp().parent / "two_shards.txt"
    with shared.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not shared.exists():
            shared.write_text("\n".join(lines("shards", folder)))
    return shared.read_text().splitlines()


def test_subqueries_need_the_connection_s_settings(told: list[str]) -> None:
    """Without them the engine refuses what it would read a part of; the view needs none."""
    assert told[:2] == ["without the settings: refused", "the view without the settings: read"]


@pytest.mark.parametrize("name", READ)
def test_every_query_gives_the_same(told: list[str], name: str) -> None:
    """FINAL, tombstones, joins, subqueries, the view over all tables."""
    (line,) = [one for one in told if one.startswith(f"{name}: ")]
    assert line == f"{name}: the same"


# What the shards hold of these is of other routes.
OF_NO_ROUTE = {"issues", "issue-events", "dead-letters"}


@pytest.mark.parametrize("name", SOURCES)
def test_every_export_gives_the_same(told: list[str], name: str) -> None:
    """All rows, and those of a route."""
    words = "nothing" if name == "issue-events" else "the same"
    assert f"export of {name}: {words}" in told
    of_route = "nothing" if name in OF_NO_ROUTE else "the same"
    assert f"export of {name} pay: {of_route}" in told


def test_writes_reach_both_shards_and_the_rollup(told: list[str]) -> None:
    """Also when the rollup is repaired; a batch that comes twice is stored once."""
    assert "shards with claims: 2" in told
    assert "rollup after its repair: the same" in told
    assert "rows of a batch that came twice: 2" in told


def test_look_up_by_trace_asks_one_shard_where_it_is_told_to(told: list[str]) -> None:
    """It finds the same, and stays off where a row of the last day is on another shard."""
    assert "shards asked for a trace: 2" in told
    assert "shards asked with pruning: 1" in told
    assert "look-ups with pruning: the same" in told
    (problem,) = [one for one in told if one.startswith("pruning of misplaced rows: ")]
    assert "otel_traces has rows of the last day on another shard" in problem


def test_replicas_have_places_of_their_own(tmp_path: Path) -> None:
    """A sharded table one path a shard, the others one for all, with a name no other shard has."""
    plain = [s for one in ALL for s in SchemaVariant("copies").statements(one, ALL)]
    sharded = sharding_keys(plain)
    names = [made.name for made in map(parse_statement, plain) if isinstance(made, CreateTable)]

    expected = {
        f"{name}{LOCAL_SUFFIX} /clickhouse/tables/01/copies/{name}{LOCAL_SUFFIX} a"
        if name in sharded
        else f"{name} /clickhouse/tables/copies/{name} 01-a"
        for name in (*names, "rt4chart_schema_migrations")
    }
    assert set(lines("replicas", tmp_path)) == expected


def test_a_tenant_reads_its_rows_of_every_shard(told: list[str]) -> None:
    """The engine ignores a filter of a Distributed table: those of the tables under it count."""
    assert told[-1] == "services that a tenant reads: shop of acme, ~acme/shop"
