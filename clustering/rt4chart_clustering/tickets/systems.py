"""The ticket systems by name, built from their settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from otel_rt4chart.core.errors import SettingsError
from rt4chart_clustering.core.settings import TicketSettings
from rt4chart_clustering.tickets.channels import ChannelTickets, SlackTickets
from rt4chart_clustering.tickets.github import GitHub
from rt4chart_clustering.tickets.jira import Jira
from rt4chart_clustering.tickets.linear import Linear
from rt4chart_clustering.tickets.ticket import TicketSystem
from rt4chart_collector.notify.channels.pagerduty import PagerDuty
from rt4chart_collector.notify.channels.slack import SlackBot
from rt4chart_collector.notify.channels.webhook import Webhook

_NEEDS: Mapping[str, tuple[str, ...]] = {
    "github": ("github_repository", "github_token"),
    "linear": ("linear_key", "linear_team"),
    "jira": ("jira_url", "jira_user", "jira_token", "jira_project"),
    "slack": ("slack_token", "slack_channel"),
    "pagerduty": ("pagerduty_key",),
    "webhook": ("webhook_url",),
}
_BUILD: Mapping[str, Callable[[TicketSettings], TicketSystem]] = {
    "github": lambda s: GitHub(s.github_repository, s.github_token, url=s.github_url),
    "linear": lambda s: Linear(s.linear_key, s.linear_team, url=s.linear_url),
    "jira": lambda s: Jira(s.jira_url, s.jira_user, s.jira_token, s.jira_project, kind=s.jira_type),
    "slack": lambda s: SlackTickets(SlackBot(s.slack_token, s.slack_channel, url=s.slack_url)),
    "pagerduty": lambda s: ChannelTickets(PagerDuty(s.pagerduty_key, url=s.pagerduty_url)),
    "webhook": lambda s: ChannelTickets(Webhook(s.webhook_url, s.webhook_secret)),
}
SYSTEMS = tuple(_NEEDS)


def build_system(name: str, settings: TicketSettings) -> TicketSystem:
    """The system of that name; SettingsError names the variables that it lacks."""
    missing = [f"RT4CHART_{one.upper()}" for one in _NEEDS[name] if not getattr(settings, one)]
    if missing:
        raise SettingsError(f"{name} needs {', '.join(missing)}: expected a value, got none")
    return _BUILD[name](settings)
