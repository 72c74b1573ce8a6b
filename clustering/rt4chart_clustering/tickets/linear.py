"""Linear issues, by its GraphQL API (linear.app/developers/graphql)."""

from __future__ import annotations

import hashlib
from typing import Any
from uuid import UUID

from otel_rt4chart.core.errors import TicketError
from otel_rt4chart.core.text import one_line
from rt4chart_clustering.tickets.text import markdown, news_markdown
from rt4chart_clustering.tickets.ticket import Filed, News, Ticket
from rt4chart_clustering.triage.severity import Level
from rt4chart_collector.notify.channels.http_client import HttpClient

_TITLE, _BODY = 255, 50_000
# Linear's numbers: 1 urgent, 2 high, 3 medium, 4 low.
_PRIORITY = {Level.CRITICAL: 1, Level.HIGH: 2, Level.MEDIUM: 3, Level.LOW: 4}
_FIND = """query($id: ID!) { issues(filter: {id: {eq: $id}}, includeArchived: true) {
  nodes { id identifier url } } }"""
_CREATE = """mutation($input: IssueCreateInput!) { issueCreate(input: $input) {
  success issue { id identifier url } } }"""
_COMMENT = """mutation($input: CommentCreateInput!) { commentCreate(input: $input) { success } }"""
_COMMENTS = """query($id: ID!) { comments(filter: {id: {eq: $id}}, includeArchived: true) {
  nodes { id } } }"""


class Linear:
    """Issues of one team. Their ids are ours, so the same one cannot be made twice."""

    name = "linear"

    def __init__(self, key: str, team: str, *, url: str) -> None:
        """`team` is its id, a UUID; the key is a personal one, sent as it is."""
        self._team = team
        self._url = url
        self._http = HttpClient(self.name, (key,), error=TicketError)
        self._headers = {"Authorization": key}

    def find(self, ticket: Ticket) -> Filed | None:
        """By the id, in the archive too."""
        nodes = self._ask(_FIND, {"id": _uuid(ticket.marker)}).get("issues", {}).get("nodes", [])
        return _filed(nodes[0]) if nodes else None

    def create(self, ticket: Ticket) -> Filed:
        """An issue under the id that follows from ours."""
        given = {
            "id": _uuid(ticket.marker),
            "teamId": self._team,
            "title": one_line(ticket.title, _TITLE),
            "description": markdown(ticket, most=_BODY, marker=f"`{ticket.marker}`"),
            "priority": _PRIORITY[ticket.level],
        }
        made = self._ask(_CREATE, {"input": given}).get("issueCreate", {})
        if not made.get("success"):
            raise self._http.failure("expected that the issue was created, it was not")
        return _filed(made.get("issue") or {})

    def update(self, filed: Filed, ticket: Ticket, news: News) -> bool:
        """A comment, under an id of its own; it may be there already, made and not recorded."""
        given = {
            "id": _uuid(f"{ticket.marker}:{news.key}"),
            "issueId": _uuid(ticket.marker) if not filed.key else filed.key,
            "body": news_markdown(news),
        }
        try:
            if not self._ask(_COMMENT, {"input": given}).get("commentCreate", {}).get("success"):
                raise self._http.failure("expected that the comment was created, it was not")
        except TicketError:
            if not self._is_posted(given["id"]):
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


def _filed(node: dict[str, Any]) -> Filed:
    return Filed(str(node.get("identifier") or node.get("id") or ""), str(node.get("url") or ""))


def _uuid(name: str) -> str:
    """A UUID in the form of version 4, which Linear asks for, that follows from the name."""
    return str(UUID(bytes=hashlib.sha256(name.encode()).digest()[:16], version=4))
