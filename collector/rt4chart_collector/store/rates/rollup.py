"""Repair of the rollups after a crash between the writes of two tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from rt4chart_collector.store.engine.columns import SAMPLE_WEIGHT
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read_int


@dataclass(frozen=True, slots=True)
class Rollup:
    """A table of sums; `keys` and `sums` map its columns to expressions over a verification.

    `time` is the time column, `start` the function that rounds a timestamp to it. `maps` are the
    sums that are maps, added up by key.
    """

    table: str
    time: str
    start: str
    where: str
    keys: Mapping[str, str]
    sums: Mapping[str, str]
    maps: Collection[str] = ()

    @property
    def repair(self) -> str:
        """The statement that inserts the differences, which correct the sums."""
        names = ", ".join((*self.keys, self.time, *self.sums))
        grouped = ", ".join((*self.keys, self.time))
        since = f"{self.start}(fromUnixTimestamp64Nano({{since:Int64}}))"
        made = [f"{value} AS {name}" for name, value in self.keys.items()]
        # Weighted sums are floats: differences by rounding are ignored.
        off = " OR ".join(
            f"arrayExists(v -> abs(v) > 0.0001, mapValues({self._sum(name)}))"
            if name in self.maps
            else f"abs({self._sum(name)}) > 0.0001"
            for name in self.sums
        )
        return f"""
INSERT INTO {self.table} ({names})
SELECT {grouped}, {", ".join(map(self._sum, self.sums))}
FROM (
    WITH {SAMPLE_WEIGHT} AS weight, Label IN ('contradicted', 'baseless') AS unfaithful
    SELECT {", ".join(made)}, {self.start}(Timestamp) AS {self.time},
        {", ".join(f"{value} AS {name}_" for name, value in self.sums.items())}
    FROM rt4chart_verifications FINAL
    WHERE IsDeleted = 0 AND Timestamp >= {since}{self.where}
    UNION ALL
    SELECT {grouped}, {", ".join(f"{self._negated(name)} AS {name}_" for name in self.sums)}
    FROM {self.table}
    WHERE {self.time} >= {since}
)
GROUP BY {grouped}
HAVING {off}
"""  # noqa: S608 - our own names alone, values are parameters

    def _sum(self, name: str) -> str:
        return f"sumMap({name}_)" if name in self.maps else f"sum({name}_)"

    def _negated(self, name: str) -> str:
        return f"mapApply((k, v) -> (k, -v), {name})" if name in self.maps else f"-{name}"


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
    where="",
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
