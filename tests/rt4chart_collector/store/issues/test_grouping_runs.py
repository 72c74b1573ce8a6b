"""The runs of grouping in the store, and the failures that wait."""

from __future__ import annotations

from rt4chart_collector.core.grouping_settings import RunCause
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.grouping_runs import (
    GroupingRun,
    insert_run,
    last_runs,
    waiting_failures,
)
from tests.rt4chart_clustering.issues import store_issue
from tests.rt4chart_clustering.made import NOON, added, numbers, verdict


def test_last_runs_come_first(client: Client) -> None:
    """Each as it was written, once; the tables keep milliseconds."""
    first = GroupingRun(NOON, NOON + 10**9, "a", RunCause.INTERVAL, failures=7, created=1)
    failed = GroupingRun(NOON + 10**9, NOON + 2 * 10**9, "b", RunCause.COMMAND, "no model")

    for run in (first, failed, first):
        insert_run(client, run)

    assert last_runs(client) == [failed, first]
    assert last_runs(client, limit=1) == [failed]
    assert failed.seconds == 1


def test_failures_in_no_issue_wait(client: Client) -> None:
    """Those of an issue do not, and those before the time are not counted."""
    insert_verdicts(client, [verdict(one) for one in added()])
    assert waiting_failures(client, since_ns=NOON) == len(added())

    store_issue(client, numbers(3))

    assert waiting_failures(client, since_ns=NOON) == len(added())
    assert waiting_failures(client, since_ns=NOON + 10**12) == 0
