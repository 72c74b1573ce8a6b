"""Many failures of many answers: no statement may join every answer with every claim."""

from __future__ import annotations

from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issue_figures import failures_by_day
from tests.rt4chart_clustering.issues import store_issue
from tests.rt4chart_clustering.made import NOON, numbers

JOINED = "SELECT sum(value) FROM system.events WHERE event = 'JoinResultRowCount'"
FAILURES = 1_500


def test_failures_by_day_joins_each_claim_once(client: Client) -> None:
    """Whatever order the engine chooses: one took 1 GiB for 2,000 answers with 10,000 claims."""
    store_issue(client, numbers(FAILURES))
    before = int(client.query(JOINED).result_rows[0][0])

    found = failures_by_day(client, now_ns=NOON + 10**9, days=7)

    joined = int(client.query(JOINED).result_rows[0][0]) - before
    assert sum(day.seen for day in found) == FAILURES
    assert FAILURES <= joined <= 3 * FAILURES
