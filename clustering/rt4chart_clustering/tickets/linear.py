"""Linear issues, by its GraphQL API (linear.app/developers/graphql)."""

from __future__ import annotations

import hashlib
from typing import Any
from uuid import UUID

from otel_rt4chart.core.errors import TicketError
from otel_rt4chart.core.text import one_line
from rt4chart_clustering.tickets.markup import ticket_markdown, update_markdown
from rt4chart_clustering.tickets.ticket import FiledTicket, Ticket, TicketUpdate
from rt4chart_clustering.triage.severity import SeverityLevel
from rt4chart_collector.notify.channels.http_client import HttpClient

_TITLE, _BODY = 255, 50_000
# Linear's numbers: 1 urgent, 2 high, 3 medium, 4 low.
_PRIORITY = {
    SeverityLevel.CRITICAL: 1,
    SeverityLevel.HIGH: 2,
    SeverityLevel.MEDIUM: 3,
    SeverityLevel.LOW: 4,
}
_FIND = """query($id: ID!) { issues(filter: {id: {eq: $id}}, includeArchived: true) {
  nodes { id identifier url } } }"""
_CREATE = """mutation($input: IssueCreateInput!) { issueCreate(input: $input) {
  success issue { id identifier url } } }"""
_COMMENT = """mutation($input: CommentCreateInput!) { commentCreate(input: $input) { success } }"""
_COMMENTS = """query($id: ID!) { comments(filter: {id: {eq: $id}}, includeArchived: true) {
  nodes { id } } }"""


class Linear:
    """Issues of one team. Their ids follow from ours, so that none can be created twice."""

    name = "linear"

    def __init__(self, key: str, team: str, *, url: str) -> None:
        """`team` is the team's UUID, `key` a personal API key."""
        self._team = team
        self._url = url
        self._http = HttpClient(self.name, (key,), error=TicketError)
        self._headers = {"Authorization": key}

    def find(self, ticket: Ticket) -> FiledTicket | None:
        """Search by the id, also in the archive."""
        nodes = self._ask(_FIND, {"id": _uuid(ticket.marker)}).get("issues", {}).get("nodes", [])
        return _filed(nodes[0]) if nodes else None

    def create(self, ticket: Ticket) -> FiledTicket:
        """Create an issue under the id that follows from ours."""
        fields = {
            "id": _uuid(ticket.marker),
            "teamId": self._team,
            "title": one_line(ticket.title, _TITLE),
            "description": ticket_markdown(ticket, most=_BODY, marker=f"`{ticket.marker}`"),
            "priority": _PRIORITY[ticket.level],
        }
        made = self._ask(_CREATE, {"input": fields}).get("issueCreate", {})
        if not made.get("success"):
            raise self._http.failure("expected a created issue, got success = false")
        return _filed(made.get("issue") or {})

    def update(self, filed: FiledTicket, ticket: Ticket, change: TicketUpdate) -> bool:
        """Add a comment under an id of its own; an earlier attempt may have created it."""
        fields = {
            "id": _uuid(f"{ticket.marker}:{change.key}"),
            "issueId": _uuid(ticket.marker) if not filed.key else filed.key,
            "body": update_markdown(change),
        }
        try:
            if not self._ask(_COMMENT, {"input": fields}).get("commentCreate", {}).get("success"):
                raise self._http.failure("expected a created comment, got success = false")
        except TicketError:
            if not self._is_posted(fields["id"]):
                raise
        return True

    def _is_posted(self, comment: str) -> bool:
        try:
            found = self._ask(_COMMENTS, {"id": comment}).get("comments") or {}
        except TicketError:
            return False
        return bool(found.get("nodes"))

    def _ask(self, query: str, variables: dict[str, Any]) -> dict[str, Any]:
        body = {"query": query, "variables": variables}
        reply = self._http.request("POST", self._url, self._headers, body)
        data = reply.get("data") if isinstance(reply, dict) else None
        errors = reply.get("errors") if isinstance(reply, dict) else None
        if errors or not isinstance(data, dict):
            raise self._http.failure(f"expected data, got {errors or reply!r}")
        return data


def _filed(node: dict[str, Any]) -> FiledTicket:
    return FiledTicket(
        str(node.get("identifier") or node.get("id") or ""), str(node.get("url") or "")
    )


def _uuid(name: str) -> str:
    """A UUID that follows from the name, in the form of version 4, which Linear requires."""
    return str(UUID(bytes=hashlib.sha256(name.encode()).digest()[:16], version=4))
