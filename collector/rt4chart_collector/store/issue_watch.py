"""What the monitor asks of the issues: which are new, which came back, which grow; bounded."""

from __future__ import annotations

from dataclasses import dataclass

from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.issue_events import aliases_among, last_events

MS = 1_000_000
# An id says nothing of when: of more than there is room for, those are left out that failed last
# the longest ago.
ROWS = """
SELECT IssueId, Title, Service, Route, toUnixTimestamp64Milli(FirstSeen)
FROM rt4chart_issues FINAL WHERE IsDeleted = 0
ORDER BY LastSeen DESC, IssueId LIMIT {limit:UInt32}
"""
KINDS = ("titled", "state", "merged", "born")


@dataclass(frozen=True, slots=True)
class WatchedIssue:
    """An issue with its state, since when it is in it, and when it was born; "" is no state yet.

    `first_ns` is the time of its first failure as its row has it, `born_ns` 0 where no event says.
    """

    id: int
    title: str
    service: str
    route: str
    first_ns: int
    born_ns: int
    state: str
    state_ns: int
    aliases: tuple[int, ...] = ()


def watched_issues(client: Client, *, limit: int = 10_000) -> list[WatchedIssue]:
    """Every issue that stands for itself, by id; of the last `limit` that failed. No centroids."""
    rows = client.query(ROWS, {"limit": limit}).result_rows
    events = last_events(client, KINDS)
    roots = aliases_among(events)
    under: dict[int, list[int]] = {}
    for alias, root in roots.items():
        under.setdefault(root, []).append(alias)
    found = []
    for issue, title, service, route, first_ms in sorted(rows, key=lambda row: int(row[0])):
        if issue in roots:
            continue
        last = events.get(issue, {})
        found.append(
            WatchedIssue(
                id=issue,
                title=last["titled"].value if "titled" in last else title,
                service=service,
                route=route,
                first_ns=first_ms * MS,
                born_ns=last["born"].at_ns if "born" in last else 0,
                state=last["state"].value if "state" in last else "",
                state_ns=last["state"].at_ns if "state" in last else 0,
                aliases=tuple(sorted(under.get(issue, ()))),
            )
        )
    return found
