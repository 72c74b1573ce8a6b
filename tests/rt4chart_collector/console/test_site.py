"""The console as an application: what it does for clients that hang up."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import MutableMapping
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from rt4chart_collector.console.app.console import Console
from rt4chart_collector.console.app.section import TEMPLATES, Section
from rt4chart_collector.console.site import build_site
from rt4chart_collector.core.settings import ConsoleSettings
from rt4chart_collector.store.engine.connect import Client

SCOPE = {
    "type": "http",
    "method": "GET",
    "path": "/slow",
    "raw_path": b"/slow",
    "root_path": "",
    "query_string": b"",
    "scheme": "http",
    "http_version": "1.1",
    "client": ("127.0.0.1", 1),
    "headers": [(b"host", b"localhost")],
}


def no_client() -> Client:
    """These pages read nothing."""
    pytest.fail("a page opened the database")


def test_pages_whose_clients_hung_up_are_not_made() -> None:
    """Those that had begun end; the next reader waits for no other."""
    made, done = list[str](), threading.Event()

    def slow(request: Request) -> Response:
        made.append(request.url.query)
        done.wait(5)
        return PlainTextResponse("made")

    def routes(_: Console) -> list[Route]:
        return [Route("/slow", slow)]

    app = build_site(
        no_client, ConsoleSettings(console_clients=2), sections=[Section("", "", routes, TEMPLATES)]
    ).app
    sent = dict[str, list[MutableMapping[str, Any]]]()

    async def visit(name: str, hangs_up: asyncio.Event) -> None:
        begin = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive() -> MutableMapping[str, Any]:
            if begin:
                return begin.pop()
            await hangs_up.wait()
            return {"type": "http.disconnect"}

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.setdefault(name, []).append(message)

        await app({**SCOPE, "query_string": name.encode()}, receive, send)

    async def scene() -> None:
        gone, never = asyncio.Event(), asyncio.Event()
        leaving = [asyncio.create_task(visit(f"gone-{n}", gone)) for n in range(20)]
        await asyncio.sleep(0.1)
        last = asyncio.create_task(visit("last", never))
        gone.set()
        await asyncio.wait_for(asyncio.gather(*leaving), 2)
        done.set()
        await asyncio.wait_for(last, 2)

    asyncio.run(scene())

    assert made == ["gone-0", "last"]
    assert [name for name, messages in sent.items() if messages[0]["status"] == 200] == ["last"]
