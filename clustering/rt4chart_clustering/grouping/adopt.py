"""Issues of earlier versions come into the registry with their ids, their states and failures."""

from __future__ import annotations

from rt4chart_clustering.description.described import Between
from rt4chart_collector.store.assignments import insert_assignments
from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.former_members import former_members
from rt4chart_collector.store.issue_events import Event, last_events, record
from rt4chart_collector.store.issues import registry


def adopt(client: Client, *, now_ns: int, between: Between) -> int:
    """Take over the issues that have no birth on record; how many that is.

    The birth is written last: broken off before, an issue is taken over by the next run.
    """
    on_record = last_events(client, ("born",))
    former = [issue for issue in registry(client) if issue.id not in on_record]
    for count, issue in enumerate(former):
        between("taken over", count)
        insert_assignments(client, former_members(client, issue))
        told = [("state", issue.state, ""), ("born", issue.fingerprint, "")]
        if issue.title:
            told.insert(0, ("titled", issue.title, str(issue.claims)))
        for kind, value, note in told:
            at_ns = now_ns if kind == "state" else issue.first_ns
            record(client, [Event(issue.id, at_ns, kind, value, note)])
    return len(former)
