"""Tickets as messages in Slack, PagerDuty and webhooks, sent through the alert channels."""

from __future__ import annotations

from dataclasses import replace

from otel_rt4chart.core.errors import NotifyError, TicketError
from otel_rt4chart.core.text import encodable
from rt4chart_clustering.tickets.markup import example_texts
from rt4chart_clustering.tickets.ticket import FiledTicket, Ticket, TicketUpdate
from rt4chart_clustering.triage.severity import SeverityLevel
from rt4chart_collector.notify.channels.message import Channel, Message, MessageKind
from rt4chart_collector.notify.channels.slack import SlackBot

_SEVERITY = {
    SeverityLevel.CRITICAL: "critical",
    SeverityLevel.HIGH: "error",
    SeverityLevel.MEDIUM: "warning",
    SeverityLevel.LOW: "info",
}


class ChannelTickets:
    """Sends an issue as a message. The receiver recognises a repeated one by its id."""

    def __init__(self, channel: Channel) -> None:
        """The channel decides which kinds of message it takes."""
        self._channel = channel
        self.name = channel.name

    def find(self, ticket: Ticket) -> FiledTicket | None:
        """None: the service cannot be searched, and it ignores a repeated message."""
        return None

    def create(self, ticket: Ticket) -> FiledTicket:
        """Send the issue as a message."""
        return FiledTicket(self._send(issue_message(ticket)) or ticket.marker)

    def update(self, filed: FiledTicket, ticket: Ticket, change: TicketUpdate) -> bool:
        """Send the update, in the issue's thread if the service has threads."""
        if change.kind not in self._channel.wants:
            return False
        self._send(update_message(ticket, change, thread=filed.key))
        return True

    def _send(self, message: Message) -> str:
        try:
            return self._channel.send(message)
        except NotifyError as error:
            raise TicketError(str(error)) from None


class SlackTickets(ChannelTickets):
    """Slack does not recognise a repeated message, so the channel's history is searched first."""

    def __init__(self, bot: SlackBot) -> None:
        """The bot needs the scope channels:history."""
        super().__init__(bot)
        self._bot = bot

    def find(self, ticket: Ticket) -> FiledTicket | None:
        """Search the metadata of the channel's last 200 messages."""
        try:
            thread = self._bot.find(ticket.id)
        except NotifyError as error:
            raise TicketError(str(error)) from None
        return FiledTicket(thread) if thread else None


_EXAMPLE_TEXTS = ("claim", "label", "sentence", "trace_id", "used")


def issue_message(ticket: Ticket) -> Message:
    """The message about a new issue."""
    shown = [
        {name: encodable(getattr(one, name)) for name in _EXAMPLE_TEXTS} for one in ticket.examples
    ]
    return Message(
        id=ticket.marker,
        kind=MessageKind.CREATED,
        subject=ticket.marker,
        subject_id=ticket.id,
        severity=_SEVERITY[ticket.level],
        service=ticket.service,
        route=ticket.route,
        category="failing answers",
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
        examples=tuple(example_texts(ticket)),
        command=ticket.command,
        extra={"title": encodable(ticket.title), "advice": ticket.advice, "examples": shown},
    )


def update_message(ticket: Ticket, change: TicketUpdate, *, thread: str) -> Message:
    """The message that an issue has grown or has regressed."""
    return replace(
        issue_message(ticket),
        id=f"{ticket.marker}:{change.key}",
        kind=change.kind,
        headline=change.text,
        title=change.text,
        thread=thread,
    )
