"""Tickets in services that take messages: Slack, PagerDuty and webhooks, by the alert channels."""

from __future__ import annotations

from dataclasses import replace

from otel_rt4chart.core.errors import NotifyError, TicketError
from otel_rt4chart.core.text import encodable
from rt4chart_clustering.tickets.text import examples
from rt4chart_clustering.tickets.ticket import Filed, News, Ticket
from rt4chart_clustering.triage.severity import Level
from rt4chart_collector.notify.channels.message import Channel, Message, MessageKind
from rt4chart_collector.notify.channels.slack import SlackBot

_SEVERITY = {
    Level.CRITICAL: "critical",
    Level.HIGH: "error",
    Level.MEDIUM: "warning",
    Level.LOW: "info",
}


class ChannelTickets:
    """Sends an issue as a message. The receiver recognises a repeated one by its id."""

    def __init__(self, channel: Channel) -> None:
        """The channel decides which kinds of message it has a place for."""
        self._channel = channel
        self.name = channel.name

    def find(self, ticket: Ticket) -> Filed | None:
        """None: the service cannot be searched, and need not be."""
        return None

    def create(self, ticket: Ticket) -> Filed:
        """Send the issue with all that is known of it."""
        return Filed(self._send(issue_message(ticket)) or ticket.marker)

    def update(self, filed: Filed, ticket: Ticket, news: News) -> bool:
        """Send the news, in the issue's thread where the service has threads."""
        if news.kind not in self._channel.wants:
            return False
        self._send(news_message(ticket, news, thread=filed.key))
        return True

    def _send(self, message: Message) -> str:
        try:
            return self._channel.send(message)
        except NotifyError as error:
            raise TicketError(str(error)) from None


class SlackTickets(ChannelTickets):
    """Slack takes the same message twice, so the channel's history is searched first."""

    def __init__(self, bot: SlackBot) -> None:
        """The bot needs channels:history."""
        super().__init__(bot)
        self._bot = bot

    def find(self, ticket: Ticket) -> Filed | None:
        """Among the channel's last 200 messages, by their metadata."""
        try:
            thread = self._bot.find(ticket.id)
        except NotifyError as error:
            raise TicketError(str(error)) from None
        return Filed(thread) if thread else None


def issue_message(ticket: Ticket) -> Message:
    """The message that an issue was created."""
    shown = [
        {name: encodable(getattr(one, name)) for name in one.__slots__} for one in ticket.examples
    ]
    return Message(
        id=ticket.marker,
        kind=MessageKind.CREATED,
        subject=ticket.marker,
        subject_id=ticket.id,
        severity=_SEVERITY[ticket.level],
        service=ticket.service,
        route=ticket.route,
        category="unfaithful answers",
        headline=ticket.title,
        title=ticket.title,
        facts=ticket.facts,
        labels={
            "alertname": "RT4ChartIssue",
            "issue_id": ticket.id,
            "service": encodable(ticket.service),
            "route": encodable(ticket.route),
            "severity": str(ticket.level),
        },
        started_ns=ticket.first_ns,
        description=ticket.summary,
        advice=ticket.advice,
        examples=tuple(examples(ticket)),
        command=ticket.command,
        extra={"title": encodable(ticket.title), "advice": ticket.advice, "examples": shown},
    )


def news_message(ticket: Ticket, news: News, *, thread: str) -> Message:
    """The message that an issue has grown or is back."""
    return replace(
        issue_message(ticket),
        id=f"{ticket.marker}:{news.key}",
        kind=news.kind,
        headline=news.text,
        title=news.text,
        thread=thread,
    )
