"""`rt4chart alerts test` and `rules`: a test message to every target, and Prometheus rules."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from otel_rt4chart.core.errors import InputError, NotifyError, SettingsError
from otel_rt4chart.core.settings import load
from rt4chart_collector.core.alerts.alert import Alert, Rule
from rt4chart_collector.core.alerts.facts import NoteFacts
from rt4chart_collector.core.alerts.state import AlertEvent, AlertEventKind, AlertState, apply_event
from rt4chart_collector.core.printing import table, write
from rt4chart_collector.core.settings import AlertSettings
from rt4chart_collector.notify.alert_message import alert_message
from rt4chart_collector.notify.channels.message import MessageKind
from rt4chart_collector.notify.deliveries import message_id
from rt4chart_collector.notify.prometheus_rules import rule_file
from rt4chart_collector.notify.prometheus_rules import rules as prometheus_rules
from rt4chart_collector.notify.registry import AlertTarget, build_targets

NO_TARGETS = (
    "expected a target, got none: set RT4CHART_ALERTS_SLACK, RT4CHART_ALERTS_PAGERDUTY, "
    "RT4CHART_ALERTS_WEBHOOK, RT4CHART_ALERTS_ALERTMANAGER or RT4CHART_ALERTS_APPRISE "
    "(docs/operate/alerts.md)"
)


@dataclass(frozen=True, slots=True)
class TargetReply:
    """The reply of a target to a test alert and its end; `is_told` if it accepted both.

    The names of the fields are those of the JSON output.
    """

    target: str
    is_told: bool
    said: str


def send_tests(options: argparse.Namespace) -> int:
    """Send a test alert and its end to every target; the status is 1 if one refuses."""
    settings = load(AlertSettings)
    targets = build_targets(settings)
    if not targets:
        raise SettingsError(NO_TARGETS)
    names = [target.receiver.name for target in targets]
    if unknown := sorted(set(options.target) - set(names)):
        raise InputError(f"expected targets of {', '.join(names)}, got {', '.join(unknown)}")
    chosen = [
        target for target in targets if not options.target or target.receiver.name in options.target
    ]
    found = send_test_alerts(chosen, settings, options.severity, time.time_ns())
    rows = [(reply.target, "sent" if reply.is_told else "FAILED", reply.said) for reply in found]
    words = table(("target", "outcome", "reply"), rows)
    write([asdict(reply) for reply in found], words, as_json=options.json)
    return int(not all(reply.is_told for reply in found))


def send_test_alerts(
    targets: Sequence[AlertTarget], settings: AlertSettings, severity: str, now_ns: int
) -> list[TargetReply]:
    """Send each target a test alert and its end, whatever its routing says."""
    facts = NoteFacts(what="Nothing is wrong: this message was sent by rt4chart alerts test.")
    alert = Alert(Rule.TEST, severity, "rt4chart", "test", 0, "This is a test", facts, now_ns)
    fired = apply_event(AlertState(alert), AlertEvent(alert, now_ns, AlertEventKind.FIRED))
    resolved = apply_event(fired, AlertEvent(alert, now_ns, AlertEventKind.RESOLVED))
    found = []
    for target in targets:
        key = ""
        try:
            for state, kind in ((fired, MessageKind.FIRED), (resolved, MessageKind.RESOLVED)):
                message = alert_message(
                    state,
                    kind,
                    message_id(state, target.receiver, kind),
                    now_ns,
                    console=settings.alerts_console,
                    thread=key,
                )
                # The second message must refer to the first, as in a thread or an incident.
                key = target.channel.send(message)
        except NotifyError as error:
            found.append(TargetReply(target.receiver.name, False, str(error)))
        else:
            found.append(TargetReply(target.receiver.name, True, "a test alert and its end"))
    return found


def rules(options: argparse.Namespace) -> int:
    """Print the rule file."""
    if options.json:
        found = [asdict(rule) for rule in prometheus_rules(threshold=options.threshold)]
        write(found, "", as_json=True)
    else:
        sys.stdout.write(rule_file(threshold=options.threshold))
    return 0
