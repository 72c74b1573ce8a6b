"""The issues as the monitor watches them: new, regressed and growing ones, a bounded number."""

from __future__ import annotations

from dataclasses import dataclass

from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read
from rt4chart_collector.store.issues.issue_events import aliases_among, last_events
from rt4chart_collector.store.issues.issues import ISSUES

# Over the limit, the issues whose last failure is the oldest are left out.
ROWS = f"""
SELECT {ISSUES.select("id", "title", "service", "route", "first_ns")}
FROM rt4chart_issues FINAL WHERE IsDeleted = 0
ORDER BY LastSeen DESC, IssueId LIMIT {{limit:UInt32}}
"""  # noqa: S608 - our own names
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


@dataclass(frozen=True, slots=True)
class _Row:
    id: int
    title: str
    service: str
    route: str
    first_ns: int


def watched_issues(client: Client, *, limit: int = 10_000) -> list[WatchedIssue]:
    """Every issue that stands for itself, by id; of the last `limit` that failed. No centroids."""
    rows = read(client, _Row, ROWS, {"limit": limit})
    events = last_events(client, KINDS)
    roots = aliases_among(events)
    under: dict[int, list[int]] = {}
    for alias, root in roots.items():
        under.setdefault(root, []).append(alias)
    found = []
    for row in sorted(rows, key=lambda row: row.id):
        if row.id in roots:
            continue
        last = events.get(row.id, {})
        found.append(
            WatchedIssue(
                id=row.id,
                title=last["titled"].value if "titled" in last else row.title,
                service=row.service,
                route=row.route,
                first_ns=row.first_ns,
                born_ns=last["born"].at_ns if "born" in last else 0,
                state=last["state"].value if "state" in last else "",
                state_ns=last["state"].at_ns if "state" in last else 0,
                aliases=tuple(sorted(under.get(row.id, ()))),
            )
        )
    return found
