"""Repair of the rollups after a crash between the writes of two tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read_int


@dataclass(frozen=True, slots=True)
class Rollup:
    """A table of sums; `keys` and `sums` map its columns to expressions over a verification.

    `time` is the time column, `start` the function that rounds a timestamp to it.
    """

    table: str
    time: str
    start: str
    where: str
    keys: Mapping[str, str]
    sums: Mapping[str, str]

    @property
    def repair(self) -> str:
        """The statement that inserts the differences, which correct the sums."""
        names = ", ".join((*self.keys, self.time, *self.sums))
        grouped = ", ".join((*self.keys, self.time))
        since = f"{self.start}(fromUnixTimestamp64Nano({{since:Int64}}))"
        made = [f"{value} AS {name}" for name, value in self.keys.items()]
        # Weighted sums are floats: differences by rounding are ignored.
        off = " OR ".join(f"abs(sum({name}_)) > 0.0001" for name in self.sums)
        return f"""
INSERT INTO {self.table} ({names})
SELECT {grouped}, {", ".join(f"sum({name}_)" for name in self.sums)}
FROM (
    WITH 1 / SampleRate AS weight, Label IN ('contradicted', 'baseless') AS unfaithful
    SELECT {", ".join(made)}, {self.start}(Timestamp) AS {self.time},
        {", ".join(f"{value} AS {name}_" for name, value in self.sums.items())}
    FROM rt4chart_verifications FINAL
    WHERE IsDeleted = 0 AND Timestamp >= {since}{self.where}
    UNION ALL
    SELECT {grouped}, {", ".join(f"-{name} AS {name}_" for name in self.sums)}
    FROM {self.table}
    WHERE {self.time} >= {since}
)
GROUP BY {grouped}
HAVING {off}
"""  # noqa: S608 - our own names alone, values are parameters


PER_MINUTE = Rollup(
    "rt4chart_route_1m",
    time="Minute",
    start="toStartOfMinute",
    where=" AND Decision = 'verified' AND SampleRate > 0",
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
    where="",
    keys={
        **{name: name for name in TICK_KEYS},
        "Decided": "toUInt16(EntailedCount + ContradictedCount + BaselessCount)",
        "Unfaithful": "toUInt16(ContradictedCount + BaselessCount)",
    },
    sums={
        "Answers": "toInt64(1)",
        "Contradicted": "toInt64(ContradictedCount)",
        "Baseless": "toInt64(BaselessCount)",
        "Undecided": "toInt64(UndecidedCount)",
    },
)
IS_EMPTY = "SELECT count() = 0 FROM (SELECT 1 FROM {table} LIMIT 1)"


def repair_rollup(client: Client, since_ns: int) -> None:
    """Insert the differences between the rollups and the verifications since then.

    A materialized view and its source are two writes: a crash in between loses or repeats one. Call
    this while no process writes verdicts, at the start of the process that writes them. An empty
    rollup is filled from all verifications.
    """
    for rollup in (PER_MINUTE, PER_TICK):
        client.command(rollup.repair, {"since": 0 if _is_empty(client, rollup) else since_ns})


def _is_empty(client: Client, rollup: Rollup) -> bool:
    return bool(read_int(client, IS_EMPTY.replace("{table}", rollup.table)))
