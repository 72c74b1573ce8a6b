"""The rollup's repair: what a crash between two tables left out or counted twice is put right."""

from __future__ import annotations

from rt4chart_collector.store.connect import Client

KEY = "ServiceName, Route, Environment, VerifierId, Minute"
SUMS = {
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
}
# Weighted sums are floating point: what differs by rounding alone is no difference.
REPAIR = f"""
INSERT INTO rt4chart_route_1m ({KEY}, {", ".join(SUMS)})
SELECT {KEY}, {", ".join(f"sum({name}_)" for name in SUMS)}
FROM (
    WITH 1 / SampleRate AS weight, Label IN ('contradicted', 'baseless') AS unfaithful
    SELECT {KEY.replace("Minute", "toStartOfMinute(Timestamp) AS Minute")},
        {", ".join(f"{value} AS {name}_" for name, value in SUMS.items())}
    FROM rt4chart_verifications FINAL
    WHERE Decision = 'verified' AND SampleRate > 0 AND IsDeleted = 0
      AND Timestamp >= toStartOfMinute(fromUnixTimestamp64Nano({{since:Int64}}))
    UNION ALL
    SELECT {KEY}, {", ".join(f"-{name} AS {name}_" for name in SUMS)}
    FROM rt4chart_route_1m
    WHERE Minute >= toStartOfMinute(fromUnixTimestamp64Nano({{since:Int64}}))
)
GROUP BY {KEY}
HAVING {" OR ".join(f"abs(sum({name}_)) > 0.0001" for name in SUMS)}
"""  # noqa: S608 - our own names alone, values are parameters


def repair_rollup(client: Client, since_ns: int) -> None:
    """Make the rollup since then equal to the verifications, by adding the differences.

    For a moment when no other process writes verdicts: the start of the one that does.
    """
    client.command(REPAIR, {"since": since_ns})
