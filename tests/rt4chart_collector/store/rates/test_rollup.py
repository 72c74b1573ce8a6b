"""The answers per five minutes: filled, repaired, and the same as the verifications say."""

from __future__ import annotations

from dataclasses import replace

from otel_rt4chart.spans.model.verdict import Decision
from otel_rt4chart.verify.core.model import Label
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine import grains
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.grains import SUMS, TABLES, Grain, complete_since_s, sums_of
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.rates.rollup import (
    DAY_NS,
    complete_from,
    correct_sums,
    fill_next_day,
    find_wrong_sums,
    repair_rollup,
)
from tests.rt4chart_collector.records import NOON, SECOND, verdict

HOUR = 3600 * SECOND
ALL = [Label.ENTAILED, Label.CONTRADICTED, Label.BASELESS, Label.UNDECIDED, Label.NOT_A_CLAIM]
TICKS = """
SELECT Route, toUnixTimestamp(Tick), Decision, SampleRate, Decided, Unfaithful, sum(Answers) AS N,
    sum(Contradicted) AS C, sum(Baseless) AS B, sum(Undecided) AS U
FROM rt4chart_route_5m GROUP BY ALL HAVING N != 0 OR C != 0 OR B != 0 OR U != 0 ORDER BY ALL
"""
EXACT = """
SELECT Route, toUnixTimestamp(toStartOfFiveMinutes(Timestamp)), Decision, SampleRate,
    toUInt16(EntailedCount + ContradictedCount + BaselessCount),
    toUInt16(ContradictedCount + BaselessCount), count(), sum(ContradictedCount),
    sum(BaselessCount), sum(UndecidedCount)
FROM rt4chart_verifications FINAL WHERE IsDeleted = 0 GROUP BY ALL ORDER BY ALL
"""


def kept(client: Client) -> list[tuple[object, ...]]:
    """The rollup's rows."""
    return [tuple(row) for row in client.query(TICKS).result_rows]


def exact(client: Client) -> list[tuple[object, ...]]:
    """What they should be."""
    return [tuple(row) for row in client.query(EXACT).result_rows]


def test_answers_stand_in_their_tick_with_their_decision(any_client: Client) -> None:
    """Those that were not verified too, as many as there were."""
    insert_verdicts(
        any_client,
        [
            verdict(1, ALL),
            verdict(2, start_ns=NOON + 2 * HOUR),
            verdict(3, decision=Decision.NOT_SAMPLED),
            verdict(4, decision=Decision.NOT_SAMPLED),
            verdict(5, decision=Decision.NO_CONTEXT),
        ],
    )

    start = NOON // SECOND // 300 * 300
    assert kept(any_client) == [
        ("support", start, "no_context", 0.5, 0, 0, 1, 0, 0, 0),
        ("support", start, "not_sampled", 0.5, 0, 0, 2, 0, 0, 0),
        ("support", start, "verified", 0.5, 3, 2, 1, 1, 1, 1),
        ("support", start + 7200, "verified", 0.5, 2, 1, 1, 0, 1, 0),
    ]


def test_a_replaced_verdict_is_taken_off_again(any_client: Client) -> None:
    """Other claims, another route, another decision: each answer is where its last verdict is."""
    insert_verdicts(any_client, [verdict(n, ALL) for n in (1, 2, 3)])

    insert_verdicts(any_client, [verdict(1, [Label.ENTAILED], decided_ns=NOON + HOUR)])
    insert_verdicts(any_client, [verdict(2, route="refunds", decided_ns=NOON + HOUR)])
    failed = verdict(3, decision=Decision.ERROR, decided_ns=NOON + HOUR)
    insert_verdicts(any_client, [failed])
    insert_verdicts(any_client, [failed])

    assert kept(any_client) == exact(any_client)
    assert [(row[0], row[2]) for row in exact(any_client)] == [
        ("refunds", "verified"),
        ("support", "error"),
        ("support", "verified"),
    ]


def test_an_empty_rollup_is_filled_from_all_verifications(any_client: Client) -> None:
    """As after an upgrade, however long ago the answers were."""
    insert_verdicts(any_client, [verdict(1, ALL), verdict(2, start_ns=NOON + 5 * HOUR)])
    for table in TABLES.values():
        any_client.command(f"TRUNCATE TABLE {table}")

    repair_rollup(any_client, NOON + 4 * HOUR)

    assert kept(any_client) == exact(any_client) != []


def test_repair_makes_the_ticks_exact(any_client: Client) -> None:
    """What was counted twice, not at all, or never was, is put right; again, nothing changes."""
    insert_verdicts(any_client, [verdict(1), verdict(2, ALL)])
    any_client.command("INSERT INTO rt4chart_route_5m SELECT * FROM rt4chart_route_5m")
    any_client.command(
        "INSERT INTO rt4chart_route_5m (ServiceName, Tick, Decided, Answers, Contradicted) "
        "SELECT 'ghost', toStartOfFiveMinutes(Timestamp), 3, 7, 2 FROM rt4chart_verifications "
        "LIMIT 1"
    )
    assert kept(any_client) != exact(any_client)

    repair_rollup(any_client, NOON - SECOND)
    once = any_client.query("SELECT count() FROM rt4chart_route_5m").result_rows
    repair_rollup(any_client, NOON - SECOND)

    assert kept(any_client) == exact(any_client)
    assert any_client.query("SELECT count() FROM rt4chart_route_5m").result_rows == once


def test_repair_leaves_what_was_before_its_time(any_client: Client) -> None:
    """Verdicts are kept for weeks and the ticks for a year: what has no verdict left stays."""
    insert_verdicts(any_client, [verdict(1), verdict(2, start_ns=NOON + 5 * HOUR)])
    before = kept(any_client)
    any_client.command("DELETE FROM rt4chart_verifications WHERE TraceId LIKE '%1'")

    repair_rollup(any_client, NOON + 4 * HOUR)

    assert kept(any_client) == before
    assert len(exact(any_client)) == 1


def test_same_batch_twice_counts_once(any_client: Client) -> None:
    """The view obeys the batch's token."""
    batch = [verdict(1), replace(verdict(2), verifier="other/1")]
    insert_verdicts(any_client, batch)
    insert_verdicts(any_client, batch)

    assert kept(any_client) == exact(any_client)


def counted_twice(client: Client) -> None:
    """As when a worker was killed between two writes, and another wrote the verdicts again."""
    for table in ("rt4chart_route_1m", "rt4chart_route_5m"):
        client.command(f"INSERT INTO {table} SELECT * FROM {table}")  # noqa: S608


def test_wrong_sums_are_corrected_while_others_write(any_client: Client) -> None:
    """What another writer adds between the two looks is left alone; a third look finds nothing."""
    insert_verdicts(any_client, [verdict(1), verdict(2, ALL), verdict(3, start_ns=NOON + 5 * HOUR)])
    counted_twice(any_client)

    found = find_wrong_sums(any_client, NOON - HOUR, NOON + 6 * HOUR)
    insert_verdicts(any_client, [verdict(4, ALL), verdict(5, start_ns=NOON + 3 * HOUR)])
    corrected = correct_sums(any_client, found)

    # In each table the answer of five hours later; per five minutes, also those at noon with other
    # counts than the new answer has.
    assert corrected >= 3
    assert kept(any_client) == exact(any_client)
    assert find_wrong_sums(any_client, NOON - HOUR, NOON + 6 * HOUR) == []


def test_difference_of_a_write_in_progress_is_left_alone(any_client: Client) -> None:
    """A verification is visible a moment before its sums: they follow."""
    insert_verdicts(any_client, [verdict(1)])
    any_client.command("CREATE TABLE aside AS rt4chart_route_5m")
    any_client.command("INSERT INTO aside SELECT * FROM rt4chart_route_5m")
    for table in TABLES.values():
        any_client.command(f"TRUNCATE TABLE {table}")

    found = find_wrong_sums(any_client, NOON - HOUR, NOON + HOUR)
    any_client.command("INSERT INTO rt4chart_route_5m SELECT * FROM aside")

    assert len(found) == 1
    assert correct_sums(any_client, found) == 0
    assert kept(any_client) == exact(any_client)


def test_sums_of_verdicts_that_have_expired_stay(any_client: Client) -> None:
    """The verdicts of thirty days ago are gone: that is no difference."""
    insert_verdicts(any_client, [verdict(1), verdict(2, start_ns=NOON + 5 * HOUR)])
    before = kept(any_client)
    any_client.command("DELETE FROM rt4chart_verifications WHERE TraceId LIKE '%1'")

    found = find_wrong_sums(any_client, NOON - HOUR, NOON + 29 * 24 * HOUR + 2 * HOUR)

    assert found == []
    assert correct_sums(any_client, found) == 0
    assert kept(any_client) == before


COARSE = (TABLES[Grain.HOUR], TABLES[Grain.DAY])


def by_grain(client: Client, grain: Grain) -> list[tuple[object, ...]]:
    """All sums by route and decision, read from rows of at most this length."""
    sums = ", ".join(f"{'sumMap' if name == 'WStatuses' else 'sum'}({name})" for name in SUMS)
    columns = ("Route", "Decision", *SUMS, "FirstTick")
    given = sums_of(client, QueryScope(), columns, coarsest=grain)
    rows = client.query(
        f"SELECT Route, Decision, {sums}, min(FirstTick) FROM {given}"  # noqa: S608
        " GROUP BY Route, Decision HAVING sum(Answers) != 0 ORDER BY ALL",
        QueryScope().parameters,
    )
    return [tuple(row) for row in rows.result_rows]


def test_wrong_sums_of_hours_and_days_are_corrected(any_client: Client) -> None:
    """Counted twice in one, lost in the other; those of five minutes stay as they are."""
    insert_verdicts(any_client, [verdict(1), verdict(2, ALL), verdict(3, start_ns=NOON + 5 * HOUR)])
    hours, days = COARSE
    any_client.command(f"INSERT INTO {hours} SELECT * FROM {hours}")  # noqa: S608
    any_client.command(f"DELETE FROM {days} WHERE Answers > 0")  # noqa: S608
    any_client.command(
        f"INSERT INTO {days} (ServiceName, Tick, Answers) SELECT 'x', Tick, 3 FROM {hours}"  # noqa: S608
    )
    ticks = kept(any_client)

    found = find_wrong_sums(any_client, NOON - 30 * HOUR, NOON + 30 * HOUR)
    corrected = correct_sums(any_client, found)

    assert {wrong.rollup.table for wrong in found} == set(COARSE)
    assert corrected >= 3
    assert kept(any_client) == ticks
    assert find_wrong_sums(any_client, NOON - 30 * HOUR, NOON + 30 * HOUR) == []
    assert by_grain(any_client, Grain.DAY) == by_grain(any_client, Grain.TICK)


def test_corrected_five_minutes_correct_their_hours_and_days(any_client: Client) -> None:
    """What was wrong everywhere is taken off everywhere once."""
    insert_verdicts(any_client, [verdict(1), verdict(2, ALL)])
    counted_twice(any_client)
    assert by_grain(any_client, Grain.DAY) == by_grain(any_client, Grain.TICK)

    repair_rollup(any_client, NOON - HOUR)

    assert kept(any_client) == exact(any_client)
    assert by_grain(any_client, Grain.DAY) == by_grain(any_client, Grain.TICK)
    assert find_wrong_sums(any_client, NOON - 30 * HOUR, NOON + 30 * HOUR) == []


def test_hours_and_days_of_before_an_upgrade_are_filled_day_by_day(any_client: Client) -> None:
    """The newest first; a day counts when it agrees, and pages read the same all the time."""
    insert_verdicts(
        any_client, [verdict(n, ALL, start_ns=NOON + n * 9 * HOUR) for n in range(1, 9)]
    )
    expected = by_grain(any_client, Grain.TICK)
    for table in (*COARSE, "rt4chart_rollup_starts"):
        any_client.command(f"TRUNCATE TABLE {table}")
    grains._complete.discard(any_client)
    now = NOON + 8 * 9 * HOUR + HOUR
    days = []

    while fill_next_day(any_client, now):
        insert_verdicts(any_client, [verdict(1, ALL, start_ns=NOON + 9 * HOUR)])
        assert by_grain(any_client, Grain.DAY) == expected
        days.append(complete_since_s(any_client))
        assert len(days) < 20

    assert by_grain(any_client, Grain.DAY) == expected
    assert complete_since_s(any_client) == 0
    assert sorted(set(days), reverse=True)[1] == now // DAY_NS * 86_400
    repair_rollup(any_client, NOON)
    assert by_grain(any_client, Grain.DAY) == expected


def test_hours_that_are_not_filled_are_no_difference(any_client: Client) -> None:
    """Before they are complete, they are not corrected piece by piece."""
    insert_verdicts(any_client, [verdict(1)])
    any_client.command("TRUNCATE TABLE rt4chart_rollup_starts")
    grains._complete.discard(any_client)
    any_client.command(f"TRUNCATE TABLE {TABLES[Grain.HOUR]}")
    complete_from(any_client, (NOON // DAY_NS + 1) * DAY_NS)

    assert find_wrong_sums(any_client, NOON - HOUR, NOON + HOUR) == []


def test_a_database_without_answers_has_complete_sums_from_its_start(any_client: Client) -> None:
    """Nothing is to be filled, by a service or by the monitor beside workers."""
    any_client.command("TRUNCATE TABLE rt4chart_rollup_starts")
    grains._complete.discard(any_client)

    assert fill_next_day(any_client, NOON) is False
    assert complete_since_s(any_client) == 0

    any_client.command("TRUNCATE TABLE rt4chart_rollup_starts")
    grains._complete.discard(any_client)
    repair_rollup(any_client, NOON)
    assert complete_since_s(any_client) == 0
