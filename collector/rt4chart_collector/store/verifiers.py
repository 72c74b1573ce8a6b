"""Whose verdicts are shown where several verifiers judged the same answers."""

from __future__ import annotations

from rt4chart_collector.store.connect import Client

RECENT_NS = 7 * 24 * 3600 * 10**9
# Where two verify the same traffic, the one with more of it.
VERIFIERS = """
SELECT VerifierId, sum(Answers) AS N
FROM rt4chart_route_5m
WHERE Decision = 'verified' AND Tick >= fromUnixTimestamp64Nano({since:Int64})
  AND Tick <= fromUnixTimestamp64Nano({until:Int64})
GROUP BY VerifierId HAVING N > 0 ORDER BY max(Tick) DESC, N DESC, VerifierId
"""


def verifiers(client: Client, *, since_ns: int, until_ns: int) -> list[str]:
    """Everyone with verdicts on answers of this time, those of the newest answers first."""
    rows = client.query(VERIFIERS, {"since": since_ns, "until": until_ns}).result_rows
    return [name for name, _ in rows]


def main_verifier(client: Client, now_ns: int) -> str:
    """The verifier of the newest answers of the last seven days; "" where there is none."""
    found = verifiers(client, since_ns=now_ns - RECENT_NS, until_ns=now_ns)
    return found[0] if found else ""
