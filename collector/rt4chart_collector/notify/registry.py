"""The channels that the settings name, and which alerts each of them receives.

To add a channel:

1. Write `channels/NAME.py` with a class that has the members of `channels/message.py:Channel`.
2. Add one line to `CHANNELS` below: a function from the settings to the channels to send to.

If it needs settings, add them to `AlertSettings` in `settings.py`. Routing, retries, reminders,
`rt4chart alerts test` and the records of deliveries work for every channel in `CHANNELS`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from otel_rt4chart.core.errors import SettingsError
from rt4chart_collector.core.alerts.alert import Rule, Severity
from rt4chart_collector.core.settings import AlertSettings
from rt4chart_collector.core.settings_parsers import AlertRoute
from rt4chart_collector.notify.channels.alertmanager import Alertmanager
from rt4chart_collector.notify.channels.apprise import build_apprise_channels
from rt4chart_collector.notify.channels.message import Channel
from rt4chart_collector.notify.channels.pagerduty import PagerDuty
from rt4chart_collector.notify.channels.slack import SlackBot, SlackWebhook
from rt4chart_collector.notify.channels.webhook import Webhook
from rt4chart_collector.notify.deliveries import AlertReceiver

# PagerDuty wakes people up, so it receives nothing less severe unless the settings say so.
LEAST_SEVERITY = {"pagerduty": Severity.ERROR}


@dataclass(frozen=True, slots=True)
class AlertTarget:
    """A channel and the alerts that it receives."""

    receiver: AlertReceiver
    channel: Channel


def build_targets(settings: AlertSettings) -> list[AlertTarget]:
    """A target for each channel that the settings name.

    Raises SettingsError where the routing names an unknown target, severity or rule, and where
    apprise is missing.
    """
    channels = [channel for build in CHANNELS for channel in build(settings)]
    routes = {route.target: route for route in settings.alerts_routing}
    names = [channel.name for channel in channels]
    if unknown := sorted(set(routes) - set(names)):
        raise SettingsError(
            "RT4CHART_ALERTS_ROUTING: expected targets that other settings configure "
            f"({', '.join(names) or 'there is none'}); got {', '.join(unknown)}"
        )
    for route in settings.alerts_routing:
        _check_names(Severity, {route.severity})
        _check_names(Rule, route.rules)
    return [
        AlertTarget(_receiver(channel, routes.get(channel.name)), channel) for channel in channels
    ]


def _check_names(kind: type[Severity] | type[Rule], given: Collection[str]) -> None:
    if unknown := sorted(set(given) - set(kind)):
        raise SettingsError(
            f"RT4CHART_ALERTS_ROUTING: expected {kind.__name__.lower()} names "
            f"({', '.join(kind)}); got {', '.join(unknown)}"
        )


def _receiver(channel: Channel, route: AlertRoute | None) -> AlertReceiver:
    if route is None:
        route = AlertRoute(channel.name, LEAST_SEVERITY.get(channel.name, Severity.INFO))
    return AlertReceiver(channel.name, route.severity, route.rules, channel.wants)


def _pagerduty(settings: AlertSettings) -> Iterable[Channel]:
    if settings.alerts_pagerduty:
        yield PagerDuty(settings.alerts_pagerduty, url=settings.alerts_pagerduty_url)


def _slack(settings: AlertSettings) -> Iterable[Channel]:
    if settings.alerts_slack:
        yield SlackWebhook(settings.alerts_slack)
    token, channel = settings.alerts_slack_token, settings.alerts_slack_channel
    if token:
        yield SlackBot(token, channel, url=settings.alerts_slack_url)


def _webhook(settings: AlertSettings) -> Iterable[Channel]:
    if settings.alerts_webhook:
        yield Webhook(settings.alerts_webhook, settings.alerts_webhook_secret)


def _alertmanagers(settings: AlertSettings) -> Iterable[Channel]:
    """Send to every replica: replicas share their notifications, but not the alerts."""
    for number, url in enumerate(settings.alerts_alertmanager, 1):
        name = "alertmanager" if number == 1 else f"alertmanager-{number}"
        yield Alertmanager(url, name=name, token=settings.alerts_alertmanager_token)


def _apprise(settings: AlertSettings) -> Iterable[Channel]:
    # Apprise is an extra: it is imported only where an address asks for it.
    if settings.alerts_apprise:
        yield from build_apprise_channels(settings.alerts_apprise.split())


CHANNELS: tuple[Callable[[AlertSettings], Iterable[Channel]], ...] = (
    _pagerduty,
    _slack,
    _webhook,
    _alertmanagers,
    _apprise,
)
