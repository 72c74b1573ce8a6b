"""Slack: one message an issue and a thread under it, by its Web API (docs.slack.dev)."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from otel_rt4chart.core.errors import TicketError
from rt4chart_clustering.tickets.text import examples
from rt4chart_clustering.tickets.ticket import Filed, News, Ticket
from rt4chart_collector.sending.sender import Sender, encoded
from rt4chart_collector.sending.text import slack

API = "https://slack.com/api"
# Limits of Block Kit: a header, a text object, blocks in a message; and of a message's text.
_HEADER, _TEXT, _MESSAGE = 150, 3_000, 4_000
_EVENT = "rt4chart_issue"
_READ = "200"


class Slack:
    """Messages in one channel; their metadata say which issue they are of."""

    name = "slack"

    def __init__(self, token: str, channel: str, *, url: str = API) -> None:
        """A bot's token that may chat:write and channels:history; `channel` is an id (C…)."""
        self._channel = channel
        self._api = url.rstrip("/")
        self._sender = Sender(self.name, (token,), error=TicketError)
        self._headers = {"Authorization": f"Bearer {token}"}

    def find(self, ticket: Ticket) -> Filed | None:
        """Among the channel's last 200 messages, by their metadata."""
        asked = {"channel": self._channel, "limit": _READ, "include_all_metadata": "true"}
        told = self._ok(
            self._sender.send(
                "GET", f"{self._api}/conversations.history?{urlencode(asked)}", self._headers
            )
        )
        for message in told.get("messages") or ():
            metadata = message.get("metadata") or {}
            payload = metadata.get("event_payload") or {}
            if metadata.get("event_type") == _EVENT and payload.get("issue") == ticket.id:
                return Filed(str(message.get("ts", "")))
        return None

    def create(self, ticket: Ticket) -> Filed:
        """A message in blocks, with the same in one line for notifications."""
        told = self._post(
            {
                "text": slack(f"{ticket.level}: {ticket.title}", _MESSAGE),
                "blocks": _blocks(ticket),
                "metadata": {"event_type": _EVENT, "event_payload": {"issue": ticket.id}},
            }
        )
        return Filed(str(told.get("ts", "")))

    def tell(self, filed: Filed, ticket: Ticket, news: News) -> bool:
        """A reply in the thread."""
        self._post({"text": slack(news.text, _MESSAGE), "thread_ts": filed.key})
        return True

    def _post(self, message: dict[str, Any]) -> dict[str, Any]:
        quiet = {"unfurl_links": False, "unfurl_media": False, "link_names": False}
        body = encoded({"channel": self._channel, **quiet, **message})
        return self._ok(
            self._sender.send("POST", f"{self._api}/chat.postMessage", self._headers, body)
        )

    def _ok(self, told: object) -> dict[str, Any]:
        """Slack answers 200 to what it refuses too."""
        if not isinstance(told, dict) or told.get("ok") is not True:
            why = told.get("error") if isinstance(told, dict) else "another reply"
            needed = (
                f" (needs {told['needed']})" if isinstance(told, dict) and "needed" in told else ""
            )
            raise self._sender.failure(f"expected ok, got {why}{needed}")
        return told


def _blocks(ticket: Ticket) -> list[dict[str, Any]]:
    texts = [ticket.summary, "\n".join(f"{name}: {value}" for name, value in ticket.facts)]
    texts += [ticket.advice, *examples(ticket), ticket.command]
    head = {"type": "plain_text", "text": slack(ticket.title, _HEADER), "emoji": False}
    return [{"type": "header", "text": head}] + [
        {"type": "section", "text": {"type": "plain_text", "text": _lines(text), "emoji": False}}
        for text in texts
        if text
    ]


def _lines(text: str) -> str:
    return "\n".join(slack(one, 700) for one in text.split("\n"))[:_TEXT]
