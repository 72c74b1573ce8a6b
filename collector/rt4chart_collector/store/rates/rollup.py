"""Repair of the rollups: at the start of a process, and while others write verdicts.

Sums per minute and per five minutes are compared with the verifications, those per hour and day
with the rows per five minutes, whose corrections are added to them by their views.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from rt4chart_collector.store.engine.columns import SAMPLE_WEIGHT
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.grains import (
    KEYS,
    MAPS,
    MOST_S,
    STARTS,
    SUMS,
    TABLES,
    TIMES,
    WEIGHTS,
    Grain,
    complete_since_s,
)
from rt4chart_collector.store.engine.rows import read_int
from rt4chart_collector.store.schema.retention import TTL_IN_DAYS

# What sums per minute and per five minutes are of: a row for each answer.
ANSWERS = f"""WITH {SAMPLE_WEIGHT} AS weight, Label IN ('contradicted', 'baseless') AS unfaithful
    SELECT {{columns}} FROM rt4chart_verifications FINAL WHERE IsDeleted = 0"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class Rollup:
    """A table of sums; `keys` and `sums` map its columns to expressions over a row of `source`.

    `source` selects `{columns}` and ends with a condition; `source_time` is its time. `time` is the
    time column, `start` the function that rounds a timestamp to it. `maps` are the sums that are
    maps, added up by key; `times` are columns of times, with the function that keeps one of them.
    """

    table: str
    time: str
    start: str
    keys: Mapping[str, str]
    sums: Mapping[str, str]
    maps: Collection[str] = ()
    times: Mapping[str, str] = field(default_factory=dict)
    source: str = ANSWERS
    source_time: str = "Timestamp"

    @property
    def is_coarse(self) -> bool:
        """True for sums of the rows of another rollup, which may not be filled yet."""
        return not self.source.startswith(ANSWERS)

    @property
    def repair(self) -> str:
        """The statement that inserts the differences, which correct the sums."""
        return f"{self._insert}{self._differences}"

    @property
    def differences(self) -> str:
        """A query of the differences: two numbers of each, of its keys and of the whole of it."""
        return f"SELECT {self._of_keys}, {self._of_all}\n{self._grouped}"

    @property
    def repair_known(self) -> str:
        """As `repair`, of the differences alone whose numbers are in `known`."""
        is_known = f"({self._of_keys}, {self._of_all}) IN {{known:Array(Tuple(UInt64, UInt64))}}"
        return f"{self._insert}{self._differences} AND {is_known}"

    @property
    def _of_keys(self) -> str:
        return f"cityHash64({', '.join((*self.keys, self.time))})"

    @property
    def _of_all(self) -> str:
        # Weighted sums are floats, and are added up in any order.
        rounded = (
            f"mapApply((k, v) -> (k, round(v, 3)), {self._sum(name)})"
            if name in self.maps
            else f"round({self._sum(name)}, 3)"
            for name in self.sums
        )
        return f"cityHash64({', '.join(f'toString({one})' for one in rounded)})"

    @property
    def _insert(self) -> str:
        columns = (*self.keys, self.time, *self.sums, *self.times)
        return f"INSERT INTO {self.table} ({', '.join(columns)})\n"

    @property
    def _differences(self) -> str:
        times = (f"{keeps}({name}_)" for name, keeps in self.times.items())
        columns = (*self.keys, self.time, *map(self._sum, self.sums), *times)
        return f"SELECT {', '.join(columns)}\n{self._grouped}"

    @property
    def _grouped(self) -> str:
        grouped = ", ".join((*self.keys, self.time))
        since = f"{self.start}(fromUnixTimestamp64Nano({{since:Int64}}, 'UTC'))"
        until = f"{self.start}(fromUnixTimestamp64Nano({{until:Int64}}, 'UTC'))"
        made = [f"{value} AS {name}" for name, value in self.keys.items()]
        made.append(f"{self.start}({self.source_time}) AS {self.time}")
        made += [f"{value} AS {name}_" for name, value in self.sums.items()]
        made += [f"{self.source_time} AS {name}_" for name in self.times]
        taken = [f"{self._negated(name)} AS {name}_" for name in self.sums]
        taken += [f"{name} AS {name}_" for name in self.times]
        # Weighted sums are floats: differences by rounding are ignored, in squares of large weights
        # too.
        off = " OR ".join(
            f"arrayExists(v -> abs(v) > {LEAST_DIFFERENCE}, mapValues({self._sum(name)}))"
            if name in self.maps
            else f"abs({self._sum(name)}) > {LEAST_DIFFERENCE} + 1e-9 * sum(abs({name}_))"
            for name in self.sums
        )
        return f"""FROM (
    {self.source.replace("{columns}", ", ".join(made))}
      AND {self.source_time} >= {since} AND {self.source_time} < {until}
    UNION ALL
    SELECT {grouped}, {", ".join(taken)}
    FROM {self.table}
    WHERE {self.time} >= {since} AND {self.time} < {until}
)
GROUP BY {grouped}
HAVING ({off})"""  # noqa: S608 - our own names alone, values are parameters

    def _sum(self, name: str) -> str:
        return f"sumMap({name}_)" if name in self.maps else f"sum({name}_)"

    def _negated(self, name: str) -> str:
        return f"mapApply((k, v) -> (k, -v), {name})" if name in self.maps else f"-{name}"


PER_MINUTE = Rollup(
    "rt4chart_route_1m",
    time="Minute",
    start="toStartOfMinute",
    source=f"{ANSWERS} AND Decision = 'verified' AND SampleRate > 0",
    keys={name: name for name in ("ServiceName", "Route", "Environment", "VerifierId")},
    sums={
        "Answers": "toInt64(1)",
        "UnfaithfulAnswers": "toInt64(unfaithful)",
        "Claims": "toInt64(ClaimCount)",
        "Entailed": "toInt64(EntailedCount)",
        "Contradicted": "toInt64(ContradictedCount)",
        "Baseless": "toInt64(BaselessCount)",
        "Undecided": "toInt64(UndecidedCount)",
        "WAnswers": "weight",
        "WUnfaithfulAnswers": "weight * unfaithful",
        "WClaims": "weight * ClaimCount",
        "WEntailed": "weight * EntailedCount",
        "WContradicted": "weight * ContradictedCount",
        "WBaseless": "weight * BaselessCount",
        "Misleading": "toInt64(MisleadingCount)",
        "WMisleading": "weight * MisleadingWeight",
        "WChecked": "weight * (Checked != 'no')"
        " * (EntailedCount + ContradictedCount + BaselessCount)",
    },
)
TICK_KEYS = (
    "ServiceName",
    "Route",
    "VerifierId",
    "Environment",
    "Model",
    "PromptVersion",
    "Release",
    "Decision",
    "SampleRate",
)
PER_TICK = Rollup(
    "rt4chart_route_5m",
    time="Tick",
    start="toStartOfFiveMinutes",
    keys={
        **{name: name for name in TICK_KEYS},
        "Decided": "toUInt16(EntailedCount + ContradictedCount + BaselessCount)",
        "Unfaithful": "toUInt16(ContradictedCount + BaselessCount)",
        "Misleading": "MisleadingCount",
        "MisleadingWeight": "MisleadingWeight",
        "Checked": "Checked",
        "QuestionKind": "QuestionKind",
    },
    sums={
        "Answers": "toInt64(1)",
        "Contradicted": "toInt64(ContradictedCount)",
        "Baseless": "toInt64(BaselessCount)",
        "Undecided": "toInt64(UndecidedCount)",
        "Statuses": "rt4chart_verifications.Statuses",
        "CitingAnswers": "toInt64(Citations > 0)",
        "MiscitingAnswers": "toInt64(CitationErrors > 0)",
    },
    maps=("Statuses",),
)


def _per(grain: Grain, start: str) -> Rollup:
    """The sums of the rows per five minutes in a longer time."""
    ticks = TABLES[Grain.TICK]
    return Rollup(
        TABLES[grain],
        time="Tick",
        start=start,
        keys={name: name for name in KEYS},
        sums=SUMS,
        maps=MAPS,
        times=TIMES,
        source=f"WITH {WEIGHTS} SELECT {{columns}} FROM {ticks} WHERE true",  # noqa: S608 - our own names
        source_time=f"{ticks}.Tick",
    )


COARSE = (_per(Grain.HOUR, "toStartOfHour"), _per(Grain.DAY, "toStartOfDay"))
# In this order: a correction per five minutes corrects the coarse sums too.
ROLLUPS = (PER_MINUTE, PER_TICK, *COARSE)
FIRST_TICK = f"SELECT toUnixTimestamp(min(Tick)) FROM {TABLES[Grain.TICK]}"  # noqa: S608 - ours
IS_EMPTY = "SELECT count() = 0 FROM (SELECT 1 FROM {table} LIMIT 1)"


# In one statement, so that its parameter stays below the limit of a URL.
KNOWN_AT_ONCE = 5_000
LEAST_DIFFERENCE = 0.0001
DAY_NS = 24 * 3600 * 10**9
# Whoever corrects sums has this lease meanwhile.
SUMS_LEASE, LEASE_NS = "sums", 10 * 60 * 10**9
# As far as the engine's times in seconds reach.
FOREVER_NS = MOST_S * 10**9
ENGINES = """
SELECT engine_full FROM system.tables WHERE database = {database:String}
  AND name IN ('rt4chart_verifications', 'rt4chart_verifications_local')
"""


@dataclass(frozen=True, slots=True)
class WrongSums:
    """Sums of a rollup that differ from the verifications of a span of time.

    Each is a number of its keys, and one of the keys and the differences.
    """

    rollup: Rollup
    since_ns: int
    until_ns: int
    numbers: frozenset[tuple[int, int]]


def repair_rollup(client: Client, since_ns: int) -> None:
    """Insert the differences between the rollups and the verifications since then.

    A materialized view and its source are two writes: a crash in between loses or repeats one. Call
    this while no process writes verdicts, at the start of the process that writes them. An empty
    rollup is filled from all verifications.
    """
    if _is_empty(client, PER_TICK):
        complete_from(client, 0)
    complete_ns = complete_since_s(client) * 10**9
    for rollup in ROLLUPS:
        since = 0 if _is_empty(client, rollup) else since_ns
        if rollup.is_coarse:
            since = max(since, complete_ns)
        client.command(rollup.repair, {"since": since, "until": FOREVER_NS})


def find_wrong_sums(client: Client, since_ns: int, until_ns: int) -> list[WrongSums]:
    """The sums that differ from the verifications now, by day.

    A difference may be a write in progress: `correct_sums` a minute later takes only those that
    are still the same. Verdicts expire before sums: days that may have lost some are not compared.
    """
    kept_ns = _days_kept(client) * DAY_NS
    first_ns = max(since_ns, until_ns - kept_ns + DAY_NS) if kept_ns else since_ns
    # By day, as the tables are partitioned.
    days = range(first_ns // DAY_NS * DAY_NS, until_ns, DAY_NS)
    spans = [(max(day, first_ns), min(day + DAY_NS, until_ns)) for day in days]
    complete_ns = complete_since_s(client) * 10**9
    found = [
        _wrong_sums(client, rollup, *span)
        for rollup in ROLLUPS
        for span in spans
        if not rollup.is_coarse or span[0] >= complete_ns
    ]
    return [wrong for wrong in found if wrong.numbers]


def correct_sums(client: Client, found: Iterable[WrongSums]) -> int:
    """Correct the sums that still have the difference that was found; returns how many.

    For processes that write verdicts meanwhile. The caller has the lease SUMS_LEASE: two processes
    would both insert the difference.
    """
    corrected = 0
    for wrong in found:
        again = _wrong_sums(client, wrong.rollup, wrong.since_ns, wrong.until_ns)
        numbers = sorted(wrong.numbers & again.numbers)
        span = {"since": wrong.since_ns, "until": wrong.until_ns}
        for first in range(0, len(numbers), KNOWN_AT_ONCE):
            known = numbers[first : first + KNOWN_AT_ONCE]
            client.command(wrong.rollup.repair_known, {**span, "known": known})
        corrected += len(numbers)
    return corrected


def fill_next_day(client: Client, now_ns: int) -> bool:
    """Fill the sums per hour and day of the newest day without; False where none is left.

    The day counts as complete when nothing differs any more, which a later call finds: rows that
    are just being written are in one of the tables and not yet in the other. For one process at a
    time, which has the lease SUMS_LEASE.
    """
    since_ns = complete_since_s(client) * 10**9
    if since_ns == 0:
        return False
    day_ns = min(since_ns, (now_ns // DAY_NS + 1) * DAY_NS) - DAY_NS
    if _is_empty(client, PER_TICK) or day_ns + DAY_NS <= read_int(client, FIRST_TICK) * 10**9:
        complete_from(client, 0)
        return False
    span = {"since": day_ns, "until": day_ns + DAY_NS}
    wrong = [one for one in COARSE if client.query(one.differences, span).result_rows]
    for rollup in wrong:
        client.command(rollup.repair, span)
    if not wrong:
        complete_from(client, day_ns)
    return True


def complete_from(client: Client, since_ns: int) -> None:
    """Say that the sums per hour and day are complete from then on, the start of a day."""
    client.insert(STARTS, [[since_ns // 10**9]], ["Since"], column_type_names=["DateTime('UTC')"])


def _wrong_sums(client: Client, rollup: Rollup, since_ns: int, until_ns: int) -> WrongSums:
    rows = client.query(rollup.differences, {"since": since_ns, "until": until_ns}).result_rows
    return WrongSums(rollup, since_ns, until_ns, frozenset((keys, all_) for keys, all_ in rows))


def _days_kept(client: Client) -> int:
    """The days after which a verdict may be gone; 0 if verdicts are kept forever."""
    engines = client.query(ENGINES, {"database": client.database}).result_rows
    found = (TTL_IN_DAYS.search(engine) for (engine,) in engines)
    return min((int(ttl["days"]) for ttl in found if ttl), default=0)


def _is_empty(client: Client, rollup: Rollup) -> bool:
    return bool(read_int(client, IS_EMPTY.replace("{table}", rollup.table)))
