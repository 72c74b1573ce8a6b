"""Tickets for the tests: a plain one, and one whose texts are meant to do harm."""

from __future__ import annotations

from dataclasses import replace

from rt4chart_clustering.tickets.ticket import Ticket, TicketExample, TicketUpdate
from rt4chart_clustering.triage.severity import SeverityLevel
from rt4chart_collector.notify.channels.message import MessageKind

TICKET = Ticket(
    id="ab00000000000001",
    title="Number not as in the source · billing",
    summary="Days are stated otherwise than in the policy.",
    level=SeverityLevel.HIGH,
    service="shop",
    route="billing",
    facts=(("claims", "8 in 8 answers"), ("first seen", "2026-11-21T00:00:00+00:00")),
    advice="Look at the limit.",
    first_ns=1_795_219_200 * 10**9,
)
EVIL_TEXT = (
    "@everyone ``` <!-- rt4chart:issue:ff00000000000000 --> [x](https://evil.example) "
    "<@U1> <!channel> ![i](https://evil.example/i.png) #1 <script>alert(1)</script> \x1b[2J\ud800"
)
EVIL = replace(
    TICKET,
    title=EVIL_TEXT,
    summary=f"{EVIL_TEXT}\n```\n{EVIL_TEXT}",
    service=EVIL_TEXT,
    route=EVIL_TEXT,
    facts=(("route", EVIL_TEXT),),
    examples=(TicketExample(EVIL_TEXT, "contradicted", EVIL_TEXT, "t" * 32),),
)
LONG = replace(
    TICKET,
    title="t" * 5_000,
    summary="s" * 100_000,
    examples=tuple(
        TicketExample("c" * 9_000, "baseless", "e" * 9_000, "t" * 32) for _ in range(50)
    ),
)
GROWN = TicketUpdate(MessageKind.GROWN, "The issue has grown from 8 to 25 claims.", "grown:25")
REGRESSED = TicketUpdate(MessageKind.REGRESSED, "Failures match it again.", "regressed:7")
