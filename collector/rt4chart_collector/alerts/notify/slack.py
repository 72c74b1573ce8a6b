"""Slack: an incoming webhook, or a bot that keeps an alert in one thread (docs.slack.dev)."""

from __future__ import annotations

from typing import Any

from otel_rt4chart.core.errors import RT4ChartError
from rt4chart_collector.alerts.due import ALL, What
from rt4chart_collector.alerts.message import Message
from rt4chart_collector.sending.sender import Sender, encoded
from rt4chart_collector.sending.text import secrets_in, slack

API = "https://slack.com/api"
# Limits of Block Kit: a header, a text object; and of a message's text.
_HEADER, _TEXT, _MESSAGE = 150, 3_000, 4_000
_SIGNS = {"critical": "🔴", "error": "🟠", "warning": "🟡", "info": "🔵"}
# What mrkdwn takes for emphasis, code, a link's parts, an emoji or a mention.
_UNMARKED = str.maketrans("*_~`|:@#<>&", "∗＿～'∣：＠＃‹›＋")
_QUIET = {"unfurl_links": False, "unfurl_media": False, "link_names": False}


class SlackWebhook:
    """One message after the other in the channel that the webhook was made for."""

    name = "slack"
    wants = ALL

    def __init__(self, url: str) -> None:
        """The webhook's address, which is its secret."""
        self._url = url
        self._sender = Sender(self.name, secrets_in(url))

    def send(self, message: Message) -> str:
        """Post it; what Slack answers beside its status is the word ok."""
        self._sender.send("POST", self._url, {}, encoded(_content(message)))
        return ""


class SlackBot:
    """A message for an alert, and what becomes of it in its thread."""

    name = "slack"
    wants = ALL

    def __init__(self, token: str, channel: str, *, url: str = API) -> None:
        """A bot's token that may chat:write; `channel` is an id (C…)."""
        self._channel = channel
        self._url = f"{url.rstrip('/')}/chat.postMessage"
        self._sender = Sender(self.name, (token,))
        self._headers = {"Authorization": f"Bearer {token}"}

    def send(self, message: Message) -> str:
        """Post it; the key is the time stamp of the alert's first message."""
        sent = {"channel": self._channel, **_QUIET, **_content(message)}
        if message.key:
            sent["thread_ts"] = message.key
            # Who looks at the channel alone has to see that it got worse, and that it is over.
            sent["reply_broadcast"] = message.what in (What.WORSE, What.RESOLVED)
        told = self._sender.send("POST", self._url, self._headers, encoded(sent))
        if not isinstance(told, dict) or told.get("ok") is not True:
            raise self._refused(told)
        return message.key or str(told.get("ts", ""))

    def _refused(self, told: object) -> RT4ChartError:
        """Slack answers 200 to what it refuses too."""
        if not isinstance(told, dict):
            return self._sender.failure("expected ok, got another reply")
        needed = f" (needs {told['needed']})" if "needed" in told else ""
        return self._sender.failure(f"expected ok, got {told.get('error')}{needed}")


def _content(message: Message) -> dict[str, Any]:
    """The message in blocks, and its first line alone for notifications.

    Facts are plain text. What links is mrkdwn: its addresses are the console's, and the texts of
    others in it have no character that means something there.
    """
    sign = "🟢" if message.is_over else _SIGNS.get(message.alert.severity, "")
    head = slack(f"{sign} {message.headline}", _HEADER)
    blocks: list[dict[str, Any]] = [{"type": "header", "text": _plain(head)}]
    facts = "\n".join(slack(f"{name}: {value}", 700) for name, value in message.lines)
    if facts:
        blocks.append({"type": "section", "text": _plain(facts[:_TEXT])})
    if links := _links(message):
        text = {"type": "mrkdwn", "text": links, "verbatim": True}
        blocks.append({"type": "section", "text": text})
    return {"text": slack(f"{sign} {message.headline}", _MESSAGE), "blocks": blocks}


def _links(message: Message) -> str:
    told = [(one.text, one.url) for one in message.links]
    told += [("Open the alert in the console", message.link)] if message.link else []
    return "\n".join(
        f"<{slack(url, 500)}|{slack(text.translate(_UNMARKED), 200)}>" for text, url in told
    )


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text, "emoji": False}
