"""A browser without scripts before the console's pages of issues and eval sets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count

from starlette.testclient import TestClient

from rt4chart_clustering.console.sections import EVALSETS, ISSUES, MAP
from rt4chart_collector.console.site import build_site
from rt4chart_collector.core.settings import ConsoleSettings
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_clustering.made import NOON, SECOND

LATER = NOON + 3600 * SECOND
HOSTILE = "<script>alert(1)</script> \" onmouseover='x' & \u202edrow\u202c שלום {{ 7*7 }}"
WHO = {"x-forwarded-email": "ann"}
_TOKEN = re.compile(r'name="csrf" value="([^"]+)"')


@contextmanager
def browsing(client: Client, **settings: object) -> Iterator[TestClient]:
    """A person that a proxy calls ann, an hour after noon; two acts are not at the same time."""
    times = count(LATER)
    given = replace(ConsoleSettings(), console_user_header="X-Forwarded-Email", **settings)  # type: ignore[arg-type]
    site = build_site(
        client.sibling, given, sections=[ISSUES, MAP, EVALSETS], clock=lambda: next(times)
    )
    headers = {"origin": "http://localhost", "accept": "text/html", **WHO}
    try:
        yield TestClient(
            site.app, base_url="http://localhost", headers=headers, client=("127.0.0.1", 5)
        )
    finally:
        site.console.close()


def token_of(browser: TestClient) -> str:
    """What a form of this browser has to send along."""
    found = re.search(r'<meta name="csrf" content="([^"]+)">', browser.get("/evalsets").text)
    assert found is not None
    return found[1]


@dataclass(frozen=True, slots=True)
class Told:
    """What came of a form."""

    status_code: int
    text: str
    headers: Mapping[str, str]


def post(browser: TestClient, path: str, **fields: str) -> Told:
    """Send a form as a page does; where it leads to is not followed."""
    data = {"csrf": token_of(browser), **fields}
    found = browser.post(path, data=data, follow_redirects=False)
    return Told(found.status_code, found.text, found.headers)


def words_of(html: str) -> str:
    """The page's text without its elements."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", html))
