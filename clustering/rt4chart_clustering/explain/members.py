"""All failures of an issue, page by page, up to a bound."""

from __future__ import annotations

from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.assignments import assignments_of
from rt4chart_collector.store.issues.failures import Failure, failures_by_key
from rt4chart_collector.store.issues.issues import Issue

_PAGE = 500


def failures_of(client: Client, issue: Issue, *, limit: int) -> list[Failure]:
    """The issue's failures, the most typical first, at most `limit` of them."""
    keys = [one.key for one in assignments_of(client, issue.ids, limit=limit)]
    pages = (keys[start : start + _PAGE] for start in range(0, len(keys), _PAGE))
    return [failure for page in pages for failure in failures_by_key(client, page)]
