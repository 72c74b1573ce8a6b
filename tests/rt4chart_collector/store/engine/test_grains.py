"""Sums per five minutes, hour and day: any range of time says the same from all of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otel_rt4chart.spans.model.verdict import Decision
from otel_rt4chart.verify.core.model import Label
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine import grains
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.grains import (
    ALL_COUNTS,
    ALL_WEIGHTS,
    COUNTS,
    IN_ARRAYS,
    KEYS,
    MAPS,
    SUMS,
    TABLES,
    TIMES,
    WEIGHTED,
    Grain,
    sums_of,
)
from rt4chart_collector.store.engine.scope import MAX_TIME_NS, QueryScope
from rt4chart_collector.store.rates.rollup import complete_from
from tests.rt4chart_collector.records import NOON, SECOND, verdict

HOUR, DAY = 3600 * SECOND, 86_400 * SECOND
START = NOON // DAY * DAY
LABELS = [Label.ENTAILED, Label.CONTRADICTED, Label.BASELESS, Label.UNDECIDED, Label.NOT_A_CLAIM]
TIME = st.integers(0, 4 * 24 * 12 + 1).map(lambda tick: START + tick * 300 * SECOND)


def said(client: Client, coarsest: Grain, since_ns: int, until_ns: int) -> list[tuple[object, ...]]:
    """The sums of every key in a time, rounded as floats are."""
    weighted = ", ".join(f"round(sum({name}), 6)" for name in WEIGHTED)
    maps = ", ".join(f"mapApply((k, v) -> (k, round(v, 6)), sumMap({name}))" for name in MAPS)
    times = ", ".join(f"{keeps}({name})" for name, keeps in TIMES.items())
    counts = ", ".join(f"sum({name})" for name in COUNTS)
    scope = QueryScope(since_ns, until_ns)
    given = sums_of(client, scope, (*KEYS, *SUMS, *TIMES), coarsest=coarsest)
    rows = client.query(
        f"SELECT {', '.join(KEYS)}, {counts}, {weighted}, {maps}, {times}"  # noqa: S608
        f" FROM {given} GROUP BY {', '.join(KEYS)}"
        " HAVING sum(Answers) != 0 ORDER BY ALL",
        scope.parameters,
    )
    return [tuple(row) for row in rows.result_rows]


def emptied(client: Client) -> None:
    """Forget all verdicts and sums."""
    for table in ("rt4chart_verifications", *TABLES.values()):
        client.command(f"TRUNCATE TABLE {table}")


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    writes=st.lists(
        st.tuples(
            st.integers(1, 6),
            TIME,
            st.lists(st.sampled_from(LABELS), max_size=5),
            st.sampled_from([1.0, 0.3, 0.01]),
            st.sampled_from([Decision.VERIFIED, Decision.VERIFIED, Decision.NOT_SAMPLED]),
        ),
        min_size=1,
        max_size=8,
    ),
    ranges=st.lists(st.tuples(TIME, TIME, st.integers(0, SECOND)), min_size=1, max_size=6),
)
def test_a_range_says_the_same_from_every_grain(
    client: Client,
    writes: list[tuple[int, int, list[Label], float, Decision]],
    ranges: list[tuple[int, int, int]],
) -> None:
    """Whatever was judged again, and wherever the range begins and ends."""
    emptied(client)
    for step, (number, start_ns, labels, rate, decision) in enumerate(writes):
        one = verdict(number, labels, sample_rate=rate, decision=decision, start_ns=start_ns)
        insert_verdicts(client, [replace(one, decided_ns=NOON + step)])

    for first, second, off in [*ranges, (0, MAX_TIME_NS, 0)]:
        since_ns, until_ns = min(first, second) + off, max(first, second)
        ticks = said(client, Grain.TICK, since_ns, until_ns)
        assert said(client, Grain.HOUR, since_ns, until_ns) == ticks
        assert said(client, Grain.DAY, since_ns, until_ns) == ticks


def test_whole_days_and_hours_are_read_from_their_rows(client: Client) -> None:
    """Rows per five minutes serve the ends of the range alone."""
    times = [START + HOUR, START + 23 * HOUR, START + DAY + HOUR, START + 2 * DAY + 5 * 60 * SECOND]
    insert_verdicts(client, [verdict(n, start_ns=at) for n, at in enumerate(times)])
    scope = QueryScope(START + 3 * HOUR, START + 2 * DAY + HOUR // 2)
    given = sums_of(client, scope, ("Tick", "Answers"))

    found = client.query(
        f"SELECT Tick, Answers FROM {given} ORDER BY Tick",  # noqa: S608 - our own names
        scope.parameters,
    ).result_rows

    seconds = [int(at.timestamp()) - START // SECOND for at, _ in found]
    assert seconds == [23 * 3600, 24 * 3600, 48 * 3600 + 300]
    assert [answers for _, answers in found] == [1, 1, 1]


def test_the_arrays_have_the_sums_of_the_columns(client: Client) -> None:
    """In the order of their names, of every grain."""
    rates = [(1.0, Decision.VERIFIED), (0.25, Decision.VERIFIED), (0.5, Decision.NOT_SAMPLED)]
    insert_verdicts(
        client,
        [
            verdict(n, LABELS[: n % 5], sample_rate=rate, decision=decision, start_ns=START + n)
            for n, (rate, decision) in enumerate(rates * 4)
        ],
    )

    for grain in Grain:
        given = sums_of(client, QueryScope(), (*SUMS, *IN_ARRAYS[:2]), coarsest=grain)
        columns = ", ".join(f"toFloat64(sum({name}))" for name in (*COUNTS, *WEIGHTED))
        arrays = f"sumForEach({ALL_COUNTS}), sumForEach({ALL_WEIGHTS})"
        query = f"SELECT [{columns}], {arrays} FROM {given}"  # noqa: S608 - our own names
        ((expected, *found),) = client.query(query, QueryScope().parameters).result_rows
        assert [one for array in found for one in array] == pytest.approx(expected)
        assert len(set(expected)) > 10


@pytest.mark.parametrize("complete_ns", [START + DAY, START + 3 * DAY, None])
def test_five_minutes_serve_where_coarse_sums_are_not_filled(
    client: Client, complete_ns: int | None
) -> None:
    """As after an upgrade: nothing is missing meanwhile."""
    insert_verdicts(
        client, [verdict(n, start_ns=START + n * 7 * HOUR, sample_rate=0.5) for n in range(12)]
    )
    expected = said(client, Grain.TICK, START, START + 5 * DAY)
    client.command("TRUNCATE TABLE rt4chart_rollup_starts")
    grains._complete.discard(client)
    for table in (TABLES[Grain.HOUR], TABLES[Grain.DAY]):
        client.command(
            f"DELETE FROM {table} WHERE Tick < toDateTime({(complete_ns or 0) // SECOND})"  # noqa: S608
        )
    if complete_ns is None:
        for table in (TABLES[Grain.HOUR], TABLES[Grain.DAY]):
            client.command(f"TRUNCATE TABLE {table}")
    else:
        complete_from(client, complete_ns)

    assert said(client, Grain.DAY, START, START + 5 * DAY) == expected != []


def test_whole_hours_are_read_without_five_minutes(client: Client) -> None:
    """They would be looked through for every route."""
    whole = QueryScope(START, START + 30 * HOUR)

    assert TABLES[Grain.TICK] not in sums_of(client, whole, ["Answers"])
    assert TABLES[Grain.TICK] in sums_of(
        client, whole.of_time(START, START + 30 * HOUR + 1), ["Answers"]
    )
