"""A browser without a screen: the console over a test's database, and what a page's forms send."""

from __future__ import annotations

import re
import time

from starlette.testclient import TestClient

from otel_rt4chart.judges.answer_verdicts import Clock
from rt4chart_collector.console.app.process_info import ProcessInfo
from rt4chart_collector.console.site import build_site
from rt4chart_collector.core.settings import ConsoleSettings
from rt4chart_collector.store.engine.connect import Client

HERE = "http://localhost:8321"


def browser(
    client: Client,
    settings: ConsoleSettings | None = None,
    *,
    facts: ProcessInfo | None = None,
    base_url: str = HERE,
    peer: str = "127.0.0.1",
    clock: Clock = time.time_ns,
) -> TestClient:
    """A visitor who wants HTML and follows no redirect by itself."""
    site = build_site(client.sibling, settings or ConsoleSettings(), facts, clock=clock)
    return TestClient(
        site.app,
        base_url=base_url,
        headers={"accept": "text/html"},
        follow_redirects=False,
        client=(peer, 50_000),
    )


def csrf_of(visitor: TestClient, path: str = "/settings") -> str:
    """What the forms of this visitor's pages carry."""
    found = re.search(r'name="csrf" content="([^"]+)"', visitor.get(path).text)
    assert found is not None
    return found.group(1)


def post(visitor: TestClient, path: str, **fields: str) -> tuple[int, str]:
    """Send a form as the page would; the status and the text."""
    csrf = csrf_of(visitor)
    base = str(visitor.base_url).rstrip("/")
    answer = visitor.post(path, data={"csrf": csrf, **fields}, headers={"origin": base})
    return answer.status_code, answer.text
