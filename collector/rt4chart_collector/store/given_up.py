"""What was given up in a time, of every verifier: by reason, and the last of it."""

from __future__ import annotations

from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.dead_letters import IN_FORCE, Letter, letters_in

SINCE = "State = 'dead' AND LastFailed >= fromUnixTimestamp64Nano({since:Int64})"
REASONS = f"""
SELECT Reason, count() AS Answers FROM rt4chart_dead_letters FINAL
WHERE IsDeleted = 0 AND {SINCE} GROUP BY Reason ORDER BY Answers DESC, Reason LIMIT 1000
"""  # noqa: S608 - our own names alone
LAST = f"""{IN_FORCE} AND {SINCE}
ORDER BY LastFailed DESC, TraceId, SpanId LIMIT {{limit:UInt32}}
"""


def given_up_reasons(client: Client, *, since_ns: int) -> list[tuple[str, int]]:
    """How many answers for each reason, the most first."""
    rows = client.query(REASONS, {"since": since_ns}).result_rows
    return [(str(reason), int(answers)) for reason, answers in rows]


def last_given_up(client: Client, *, since_ns: int, limit: int) -> list[Letter]:
    """The last of them, the newest first."""
    return letters_in(client, LAST, {"since": since_ns, "limit": limit})
