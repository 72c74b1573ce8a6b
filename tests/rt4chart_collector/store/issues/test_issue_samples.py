"""Samples of failures by issue, also while a run moves them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from clickhouse_connect.driver.query import QueryResult

from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.failure_samples import KEYS_BY_ISSUE, sampled_failures
from tests.rt4chart_collector.store.issues.test_issues import ISSUE, filled


def test_a_failure_that_came_meanwhile_is_left_out(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the first of the two statements did not see is another sample's."""
    filled(client, 2)
    asked = client.query

    def interrupted(
        query: str,
        given: Mapping[str, object] | None = None,
        *,
        settings: Mapping[str, object] | None = None,
    ) -> QueryResult:
        found = asked(query, given, settings=settings)
        if query == KEYS_BY_ISSUE:
            filled(client, 2, first=10)
        return found

    monkeypatch.setattr(client, "query", interrupted)
    before = sampled_failures(client, [ISSUE.id], each=9)
    monkeypatch.undo()

    after = sampled_failures(client, [ISSUE.id], each=9)
    assert (len(before[ISSUE.id]), len(after[ISSUE.id])) == (2, 4)
