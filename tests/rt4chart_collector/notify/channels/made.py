"""Messages for the tests: a plain one, and one whose texts are meant to do harm."""

from __future__ import annotations

from dataclasses import replace

from rt4chart_collector.core.alerts.alert import Alert
from rt4chart_collector.core.alerts.facts import IssueFacts
from rt4chart_collector.core.alerts.state import AlertEvent, AlertEventKind, AlertState, apply_event
from rt4chart_collector.core.alerts.stored_facts import facts_from_json
from rt4chart_collector.notify.alert_message import alert_message
from rt4chart_collector.notify.channels.message import Message, MessageKind
from tests.rt4chart_collector.notify.world import HOUR, START

FACTS: dict[str, object] = {
    "before": {"rate": 0.061, "low": 0.055, "high": 0.067, "claims": 8_000, "answers": 1_600},
    "after": {"rate": 0.12, "low": 0.09, "high": 0.15, "claims": 400, "answers": 80},
    "issues": [{"id": "00000000000000ab", "title": "Number differs", "claims": 12}],
    "worst_answers": [
        {
            "trace_id": "a" * 32,
            "span_id": "b" * 16,
            "claim_index": 2,
            "unfaithful": 3,
            "decided": 4,
            "claim": "It is free for ever.",
        }
    ],
}
ALERT = Alert(
    *("route_drift", "critical", "shop", "billing", 0),
    *("Answers of shop billing got worse", facts_from_json("route_drift", FACTS), START),
)
EVIL_TEXT = (
    "@everyone <!channel> <https://evil.example|x> [x](https://evil.example) *b* `c` & "
    "<script>alert(1)</script>\r\nBcc: all@example.com\x1b[2J\u202e\ud800"
)
EVIL = Alert(
    *("new_issue", "error", EVIL_TEXT, EVIL_TEXT, 7, EVIL_TEXT * 20),
    IssueFacts(
        issue=EVIL_TEXT,
        title=EVIL_TEXT,
        since_ns=START,
        unknown={EVIL_TEXT: [EVIL_TEXT * 50] * 50, "n": {"deep": [[[[[EVIL_TEXT]]]]]}},
    ),
    START,
)


def told(
    alert: Alert = ALERT,
    what: MessageKind = MessageKind.FIRED,
    *,
    thread: str = "",
    with_texts: bool = False,
) -> Message:
    """The message that says this of the alert, an hour after it fired."""
    state = apply_event(AlertState(alert), AlertEvent(alert, START, AlertEventKind.FIRED))
    now_ns = START + HOUR
    if what is MessageKind.ACKNOWLEDGED:
        state = replace(state, acknowledged_ns=now_ns, acknowledged_by="ann")
    elif what is MessageKind.RESOLVED:
        state = apply_event(state, AlertEvent(alert, now_ns, AlertEventKind.RESOLVED))
    return alert_message(
        state,
        what,
        f"{alert.id}-{what}",
        now_ns,
        console="https://rt4chart.example/",
        with_texts=with_texts,
        thread=thread,
    )
