"""The targets that the settings name, and who of them is told what."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from otel_rt4chart.core.errors import SettingsError
from rt4chart_collector.alerts.due import Receiver
from rt4chart_collector.alerts.message import Target
from rt4chart_collector.alerts.notify.alertmanager import Alertmanager
from rt4chart_collector.alerts.notify.by_apprise import targets_of
from rt4chart_collector.alerts.notify.pagerduty import PagerDuty
from rt4chart_collector.alerts.notify.slack import SlackBot, SlackWebhook
from rt4chart_collector.alerts.notify.webhook import Webhook
from rt4chart_collector.core.alerts.alert import Rule, Severity
from rt4chart_collector.core.settings import AlertSettings
from rt4chart_collector.core.settings_parsers import AlertRoute

# Nobody is woken for less, unless the settings say so.
LEAST = {"pagerduty": Severity.ERROR}


@dataclass(frozen=True, slots=True)
class Addressed:
    """A target, and what it is told."""

    receiver: Receiver
    target: Target


def build_targets(settings: AlertSettings) -> list[Addressed]:
    """All that the settings name, none where they name none.

    Raises SettingsError for routing to a target that there is not, and where apprise is missing.
    """
    targets = list(_targets(settings))
    routes = {one.target: one for one in settings.alerts_routing}
    names = [target.name for target in targets]
    if unknown := sorted(set(routes) - set(names)):
        raise SettingsError(
            "RT4CHART_ALERTS_ROUTING: expected targets that other settings name "
            f"({', '.join(names) or 'there is none'}); got {', '.join(unknown)}"
        )
    for one in settings.alerts_routing:
        _check_words(Severity, {one.severity})
        _check_words(Rule, one.rules)
    return [Addressed(_receiver(target, routes.get(target.name)), target) for target in targets]


def _check_words(kind: type[Severity] | type[Rule], given: Collection[str]) -> None:
    if unknown := sorted(set(given) - set(kind)):
        raise SettingsError(
            f"RT4CHART_ALERTS_ROUTING: expected {kind.__name__.lower()} names "
            f"({', '.join(kind)}); got {', '.join(unknown)}"
        )


def _receiver(target: Target, route: AlertRoute | None) -> Receiver:
    if route is None:
        route = AlertRoute(target.name, LEAST.get(target.name, Severity.INFO))
    return Receiver(target.name, route.severity, route.rules, target.wants)


def _targets(settings: AlertSettings) -> Iterator[Target]:
    if settings.alerts_pagerduty:
        yield PagerDuty(settings.alerts_pagerduty, url=settings.alerts_pagerduty_url)
    if settings.alerts_slack:
        yield SlackWebhook(settings.alerts_slack)
    if settings.alerts_slack_token:
        yield SlackBot(
            settings.alerts_slack_token,
            settings.alerts_slack_channel,
            url=settings.alerts_slack_url,
        )
    if settings.alerts_webhook:
        yield Webhook(settings.alerts_webhook, settings.alerts_webhook_secret)
    yield from _alertmanagers(settings.alerts_alertmanager, settings.alerts_alertmanager_token)
    if settings.alerts_apprise:
        yield from targets_of(settings.alerts_apprise.split())


def _alertmanagers(urls: Sequence[str], token: str) -> Iterator[Alertmanager]:
    """Every copy is told: they share what they sent, not what they were told."""
    for number, url in enumerate(urls, 1):
        name = "alertmanager" if number == 1 else f"alertmanager-{number}"
        yield Alertmanager(url, name=name, token=token)
