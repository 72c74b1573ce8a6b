"""Jira Cloud issues, by the REST API v3 (developer.atlassian.com/cloud/jira/platform/rest/v3)."""

from __future__ import annotations

import base64
import json
from typing import Any

from otel_rt4chart.core.errors import TicketError
from otel_rt4chart.core.text import one_line
from rt4chart_clustering.tickets.markup import adf_document, adf_paragraph, ticket_adf
from rt4chart_clustering.tickets.ticket import FiledTicket, Ticket, TicketUpdate
from rt4chart_collector.notify.channels.http_client import HttpClient

_SUMMARY = 255


class Jira:
    """Issues of one project. A label with the issue's id identifies each."""

    name = "jira"

    def __init__(self, url: str, user: str, token: str, project: str, *, kind: str) -> None:
        """`user` is the mail address of the token's owner, `kind` the name of the issue type."""
        self._site = url.rstrip("/")
        self._project, self._kind = project, kind
        basic = base64.b64encode(f"{user}:{token}".encode()).decode()
        self._http = HttpClient(self.name, (token, basic), error=TicketError)
        self._headers = {"Authorization": f"Basic {basic}"}

    def find(self, ticket: Ticket) -> FiledTicket | None:
        """Search by the label, in any state."""
        jql = f'project = {json.dumps(self._project)} AND labels = "{_label(ticket)}"'
        body = {"jql": f"{jql} ORDER BY created ASC", "fields": ["key"], "maxResults": 1}
        reply = self._send("POST", "search/jql", body)
        found = reply.get("issues") if isinstance(reply, dict) else None
        if not isinstance(found, list):
            raise self._http.failure("expected a list of issues, got another reply")
        return self._filed(found[0]) if found else None

    def create(self, ticket: Ticket) -> FiledTicket:
        """Create an issue."""
        fields = {
            "project": {"key": self._project},
            "issuetype": {"name": self._kind},
            "summary": one_line(ticket.title, _SUMMARY),
            "description": ticket_adf(ticket),
            "labels": ["rt4chart", _label(ticket)],
        }
        return self._filed(self._send("POST", "issue", {"fields": fields}))

    def update(self, filed: FiledTicket, ticket: Ticket, change: TicketUpdate) -> bool:
        """Add a comment."""
        body = {"body": adf_document(adf_paragraph(change.text))}
        self._send("POST", f"issue/{filed.key}/comment", body)
        return True

    def _send(self, method: str, path: str, body: object) -> Any:  # noqa: ANN401 - any JSON
        address = f"{self._site}/rest/api/3/{path}"
        return self._http.request(method, address, self._headers, body)

    def _filed(self, reply: object) -> FiledTicket:
        key = reply.get("key") if isinstance(reply, dict) else None
        if not isinstance(key, str):
            raise self._http.failure("expected the key of an issue, got another reply")
        return FiledTicket(key, f"{self._site}/browse/{key}")


def _label(ticket: Ticket) -> str:
    """The label of the issue; Jira allows no spaces in it."""
    return f"rt4chart-{ticket.id}"
