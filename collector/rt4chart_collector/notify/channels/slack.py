"""Slack: an incoming webhook, or a bot that keeps each subject in one thread (docs.slack.dev)."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

from otel_rt4chart.core.text import one_line
from rt4chart_collector.notify.channels.http_client import HttpClient, secrets_in_url
from rt4chart_collector.notify.channels.message import ALERT_KINDS, Message, MessageKind

# Limits of Block Kit: a header, a text object; and of a message's text.
_HEADER, _TEXT, _MESSAGE = 150, 3_000, 4_000
_LINE = 700
_HISTORY = "200"
_ISSUE_EVENT = "rt4chart_issue"
_SIGNS = {"critical": "🔴", "error": "🟠", "warning": "🟡", "info": "🔵"}
# What mrkdwn takes for emphasis, code, a link's parts, an emoji or a mention.
_UNMARKED = str.maketrans("*_~`|:@#<>&", "∗＿～'∣：＠＃‹›＋")
_QUIET = {"unfurl_links": False, "unfurl_media": False, "link_names": False}


class SlackWebhook:
    """Posts one message after the other to the channel that the webhook was made for."""

    name = "slack"
    wants = ALERT_KINDS

    def __init__(self, url: str) -> None:
        """`url` is the webhook's address, which is its secret."""
        self._url = url
        self._http = HttpClient(self.name, secrets_in_url(url))

    def send(self, message: Message) -> str:
        """Post it. Slack replies with the word ok, which is not JSON."""
        self._http.request("POST", self._url, {}, _content(message))
        return ""


class SlackBot:
    """Posts a message about each alert or issue, and what follows in its thread."""

    name = "slack"
    wants = frozenset(MessageKind)

    def __init__(self, token: str, channel: str, *, url: str) -> None:
        """`token` needs chat:write, and channels:history to `find`; `channel` is an id (C…)."""
        self._channel = channel
        self._api = url.rstrip("/")
        self._http = HttpClient(self.name, (token,))
        self._headers = {"Authorization": f"Bearer {token}"}

    def send(self, message: Message) -> str:
        """Post it. The thread's key is the time stamp of the first message."""
        sent = {"channel": self._channel, **_QUIET, **_content(message)}
        if message.kind is MessageKind.CREATED:
            payload = {"issue": message.subject_id}
            sent["metadata"] = {"event_type": _ISSUE_EVENT, "event_payload": payload}
        if message.thread:
            sent["thread_ts"] = message.thread
        if message.thread and message.kind in ALERT_KINDS:
            # People who read the channel but not the threads must see that it got worse or ended.
            is_broadcast = message.kind in (MessageKind.WORSE, MessageKind.RESOLVED)
            sent["reply_broadcast"] = is_broadcast
        reply = self._request("POST", "chat.postMessage", sent)
        return message.thread or str(reply.get("ts", ""))

    def find(self, issue_id: str) -> str:
        """The thread of an issue among the channel's last 200 messages, or ""."""
        query = {"channel": self._channel, "limit": _HISTORY, "include_all_metadata": "true"}
        reply = self._request("GET", f"conversations.history?{urlencode(query)}")
        for message in reply.get("messages") or ():
            metadata = message.get("metadata") or {}
            payload = metadata.get("event_payload") or {}
            if metadata.get("event_type") == _ISSUE_EVENT and payload.get("issue") == issue_id:
                return str(message.get("ts", ""))
        return ""

    def _request(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """The reply; Slack answers a request that it refuses with status 200 too."""
        reply = self._http.request(method, f"{self._api}/{path}", self._headers, body)
        if isinstance(reply, dict) and reply.get("ok") is True:
            return reply
        if not isinstance(reply, dict):
            raise self._http.failure("expected ok, got another reply")
        needed = f" (needs {reply['needed']})" if "needed" in reply else ""
        raise self._http.failure(f"expected ok, got {reply.get('error')}{needed}")


def slack_text(text: str, limit: int) -> str:
    """One line for Slack, where & < and > are control characters (docs.slack.dev, "Formatting")."""
    escaped = one_line(text, limit).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return escaped if len(escaped) <= limit else re.sub("&[a-z]*$", "", escaped[: limit - 1]) + "…"


def _content(message: Message) -> dict[str, Any]:
    """The message in blocks, with one line for notifications.

    All blocks are plain text but that of the links, which is mrkdwn: its addresses are the
    console's, and the texts of others in it have no character that means something there.
    """
    if message.kind in (MessageKind.GROWN, MessageKind.REGRESSED):
        # The first message of the thread has the facts.
        return {"text": slack_text(message.headline, _MESSAGE)}
    header = text = message.headline
    if message.kind is MessageKind.CREATED:
        text = f"{message.labels['severity']}: {message.headline}"
    else:
        header = text = f"{'🟢' if message.is_over else _SIGNS.get(message.severity, '')} {header}"
    facts = "\n".join(f"{name}: {value}" for name, value in message.facts)
    texts = [message.description, facts, message.advice, *message.examples, message.command]
    blocks = [{"type": "header", "text": _plain(slack_text(header, _HEADER))}]
    blocks += [{"type": "section", "text": _plain(_lines(part))} for part in texts if part]
    if links := _links(message):
        mrkdwn = {"type": "mrkdwn", "text": links, "verbatim": True}
        blocks.append({"type": "section", "text": mrkdwn})
    return {"text": slack_text(text, _MESSAGE), "blocks": blocks}


def _links(message: Message) -> str:
    links = [(link.text, link.url) for link in message.links]
    links += [("Open the alert in the console", message.link)] if message.link else []
    return "\n".join(
        f"<{slack_text(url, 500)}|{slack_text(text.translate(_UNMARKED), 200)}>"
        for text, url in links
    )


def _lines(text: str) -> str:
    return "\n".join(slack_text(line, _LINE) for line in text.split("\n"))[:_TEXT]


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text, "emoji": False}
