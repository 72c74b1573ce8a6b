"""GitHub issues, by the REST API of 2022-11-28 (docs.github.com/en/rest/issues)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from otel_rt4chart.core.errors import TicketError
from otel_rt4chart.core.text import one_line
from rt4chart_clustering.tickets.markup import ticket_markdown, update_markdown
from rt4chart_clustering.tickets.ticket import FiledTicket, Ticket, TicketUpdate
from rt4chart_collector.notify.channels.http_client import HttpClient

_TITLE, _BODY = 256, 65_536
_VERSION = "2022-11-28"


class GitHub:
    """Issues of one repository."""

    name = "github"

    def __init__(self, repository: str, token: str, *, url: str) -> None:
        """`repository` is owner/name; the token may write its issues."""
        self._repository = repository
        self._api = url.rstrip("/")
        self._issues = f"{self._api}/repos/{repository}/issues"
        self._http = HttpClient(self.name, (token,), error=TicketError)
        self._headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {token}",
            "X-GitHub-Api-Version": _VERSION,
        }

    def find(self, ticket: Ticket) -> FiledTicket | None:
        """Look at the newest hundred issues, then search: the search index lags by minutes."""
        newest = {"state": "all", "sort": "created", "direction": "desc", "per_page": "100"}
        reply = self._http.request("GET", f"{self._issues}?{urlencode(newest)}", self._headers)
        if found := _marked(self._listed(reply), ticket):
            return found
        wanted = {"q": f'"{ticket.marker}" in:body repo:{self._repository} is:issue'}
        reply = self._http.request(
            "GET", f"{self._api}/search/issues?{urlencode(wanted)}", self._headers
        )
        return _marked(
            self._listed(reply.get("items") if isinstance(reply, dict) else reply), ticket
        )

    def _listed(self, reply: object) -> list[Any]:
        """The list in a reply. Without a list, the ticket may exist, so none may be created."""
        if not isinstance(reply, list):
            raise self._http.failure("expected a list of issues, got another reply")
        return reply

    def create(self, ticket: Ticket) -> FiledTicket:
        """Create an issue whose body ends with the marker, in an HTML comment."""
        body = {
            "title": one_line(ticket.title, _TITLE),
            "body": ticket_markdown(ticket, most=_BODY, marker=_marker(ticket)),
        }
        reply = self._http.request("POST", self._issues, self._headers, body)
        if (filed := _filed(reply)) is None:
            raise self._http.failure("expected the number of the new issue, got another reply")
        return filed

    def update(self, filed: FiledTicket, ticket: Ticket, change: TicketUpdate) -> bool:
        """Add a comment."""
        address = f"{self._issues}/{filed.key}/comments"
        body = {"body": update_markdown(change)}
        self._http.request("POST", address, self._headers, body)
        return True


def _marker(ticket: Ticket) -> str:
    return f"<!-- {ticket.marker} -->"


def _marked(items: Iterable[Any], ticket: Ticket) -> FiledTicket | None:
    """The oldest issue that ends with the marker. Further up, a user may have quoted one."""
    marked = [
        filed
        for one in items
        if isinstance(one, dict)
        and "pull_request" not in one
        and str(one.get("body") or "").rstrip().endswith(_marker(ticket))
        and (filed := _filed(one)) is not None
    ]
    return min(marked, key=lambda one: int(one.key), default=None)


def _filed(reply: object) -> FiledTicket | None:
    number = reply.get("number") if isinstance(reply, dict) else None
    if type(number) is not int:
        return None
    return FiledTicket(
        str(number), str(reply.get("html_url") or "") if isinstance(reply, dict) else ""
    )
