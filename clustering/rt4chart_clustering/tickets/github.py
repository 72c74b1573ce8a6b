"""GitHub issues, by the REST API of 2022-11-28 (docs.github.com/en/rest/issues)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from otel_rt4chart.core.errors import TicketError
from rt4chart_clustering.tickets.text import markdown, news_markdown
from rt4chart_clustering.tickets.ticket import Filed, News, Ticket
from rt4chart_collector.sending.sender import Sender, encoded
from rt4chart_collector.sending.text import line

API = "https://api.github.com"
_TITLE, _BODY = 256, 65_536
_VERSION = "2022-11-28"


class GitHub:
    """Issues of one repository."""

    name = "github"

    def __init__(self, repository: str, token: str, *, url: str = API) -> None:
        """`repository` is owner/name; the token may write its issues."""
        self._repository = repository
        self._api = url.rstrip("/")
        self._issues = f"{self._api}/repos/{repository}/issues"
        self._sender = Sender(self.name, (token,), error=TicketError)
        self._headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {token}",
            "X-GitHub-Api-Version": _VERSION,
        }

    def find(self, ticket: Ticket) -> Filed | None:
        """Among the newest hundred, as the search lags behind by minutes; then by search."""
        newest = {"state": "all", "sort": "created", "direction": "desc", "per_page": "100"}
        told = self._sender.send("GET", f"{self._issues}?{urlencode(newest)}", self._headers)
        if found := _marked(self._listed(told), ticket):
            return found
        wanted = {"q": f'"{ticket.marker}" in:body repo:{self._repository} is:issue'}
        told = self._sender.send(
            "GET", f"{self._api}/search/issues?{urlencode(wanted)}", self._headers
        )
        return _marked(self._listed(told.get("items") if isinstance(told, dict) else told), ticket)

    def _listed(self, told: object) -> list[Any]:
        """What is no list may hide the ticket: then none may be made."""
        if not isinstance(told, list):
            raise self._sender.failure("expected a list of issues, got another reply")
        return told

    def create(self, ticket: Ticket) -> Filed:
        """An issue whose body ends with the marker, in a comment that is not shown."""
        body = {
            "title": line(ticket.title, _TITLE),
            "body": markdown(ticket, most=_BODY, marker=_marker(ticket)),
        }
        told = self._sender.send("POST", self._issues, self._headers, encoded(body))
        if (filed := _filed(told)) is None:
            raise self._sender.failure("expected the number of the new issue, got another reply")
        return filed

    def tell(self, filed: Filed, ticket: Ticket, news: News) -> bool:
        """A comment."""
        address = f"{self._issues}/{filed.key}/comments"
        body = encoded({"body": news_markdown(news)})
        self._sender.send("POST", address, self._headers, body)
        return True


def _marker(ticket: Ticket) -> str:
    return f"<!-- {ticket.marker} -->"


def _marked(items: Iterable[Any], ticket: Ticket) -> Filed | None:
    """The oldest that ends with the marker: in its texts a user may have written another's."""
    marked = [
        filed
        for one in items
        if isinstance(one, dict)
        and "pull_request" not in one
        and str(one.get("body") or "").rstrip().endswith(_marker(ticket))
        and (filed := _filed(one)) is not None
    ]
    return min(marked, key=lambda one: int(one.key), default=None)


def _filed(told: object) -> Filed | None:
    number = told.get("number") if isinstance(told, dict) else None
    if type(number) is not int:
        return None
    return Filed(str(number), str(told.get("html_url") or "") if isinstance(told, dict) else "")
