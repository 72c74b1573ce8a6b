"""Where tickets go, from the environment; what a system lacks is told when it is asked for."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.variables import check, named, read
from rt4chart_clustering.tickets import github, linear
from rt4chart_clustering.tickets.channels import ChannelTickets, SlackTickets
from rt4chart_clustering.tickets.github import GitHub
from rt4chart_clustering.tickets.jira import Jira
from rt4chart_clustering.tickets.linear import Linear
from rt4chart_clustering.tickets.ticket import System
from rt4chart_collector.notify.channels import pagerduty, slack
from rt4chart_collector.notify.channels.http_client import is_allowed_url
from rt4chart_collector.notify.channels.pagerduty import PagerDuty
from rt4chart_collector.notify.channels.slack import SlackBot
from rt4chart_collector.notify.channels.webhook import Webhook, signing_key

_ADDRESS = "an https address, or http at the loopback, in ASCII, without a password"


def _address(name: str, default: str, text: str) -> str:
    return named(
        name,
        default,
        text,
        _ADDRESS,
        lambda value: not value or is_allowed_url(value),
        is_shown=False,
    )


def _secret(name: str, text: str) -> str:
    return named(
        name,
        "",
        text,
        "printable ASCII without spaces",
        lambda value: all("!" <= char <= "~" for char in value),
        is_shown=False,
    )


def _is_secret(value: str) -> bool:
    try:
        return bool(signing_key(value)) or not value
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class TicketSettings:
    """What each system needs; a secret stands in no error and no representation."""

    github_repository: str = named(
        "RT4CHART_GITHUB_REPOSITORY",
        "",
        "where github issues are filed",
        "owner/name",
        lambda value: not value or re.fullmatch(r"[\w.-]+/[\w.-]+", value, re.ASCII) is not None,
    )
    github_token: str = _secret("RT4CHART_GITHUB_TOKEN", "a token that may write its issues")
    github_url: str = _address("RT4CHART_GITHUB_URL", github.API, "the API of an own GitHub")
    linear_key: str = _secret("RT4CHART_LINEAR_KEY", "a personal API key")
    linear_team: str = named("RT4CHART_LINEAR_TEAM", "", "the team's id, a UUID")
    linear_url: str = _address("RT4CHART_LINEAR_URL", linear.API, "the GraphQL address")
    jira_url: str = _address("RT4CHART_JIRA_URL", "", "the site, such as https://x.atlassian.net")
    jira_user: str = named("RT4CHART_JIRA_USER", "", "the mail address that the token is of")
    jira_token: str = _secret("RT4CHART_JIRA_TOKEN", "an API token")
    jira_project: str = named(
        "RT4CHART_JIRA_PROJECT",
        "",
        "the project's key",
        "a key such as RAG",
        lambda value: not value or re.fullmatch(r"\w+", value, re.ASCII) is not None,
    )
    jira_type: str = named("RT4CHART_JIRA_TYPE", "Task", "the type of the issues")
    slack_token: str = _secret("RT4CHART_SLACK_TOKEN", "a bot's token, xoxb-…")
    slack_channel: str = named("RT4CHART_SLACK_CHANNEL", "", "the channel's id, C…")
    slack_url: str = _address("RT4CHART_SLACK_URL", slack.API, "the Web API")
    pagerduty_key: str = _secret("RT4CHART_PAGERDUTY_KEY", "the integration key of Events API v2")
    pagerduty_url: str = _address("RT4CHART_PAGERDUTY_URL", pagerduty.API, "the events' address")
    webhook_url: str = _address("RT4CHART_WEBHOOK_URL", "", "where a webhook is sent")
    webhook_secret: str = named(
        "RT4CHART_WEBHOOK_SECRET",
        "",
        "what signs it; whsec_… is read as base64",
        "a text, or whsec_ and base64",
        _is_secret,
        is_shown=False,
    )

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        check(self)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> TicketSettings:
        """The settings of this process; SettingsError names the variable that is wrong."""
        return read(cls, os.environ if environment is None else environment)


_NEEDS: Mapping[str, tuple[str, ...]] = {
    "github": ("github_repository", "github_token"),
    "linear": ("linear_key", "linear_team"),
    "jira": ("jira_url", "jira_user", "jira_token", "jira_project"),
    "slack": ("slack_token", "slack_channel"),
    "pagerduty": ("pagerduty_key",),
    "webhook": ("webhook_url",),
}
_BUILD: Mapping[str, Callable[[TicketSettings], System]] = {
    "github": lambda s: GitHub(s.github_repository, s.github_token, url=s.github_url),
    "linear": lambda s: Linear(s.linear_key, s.linear_team, url=s.linear_url),
    "jira": lambda s: Jira(s.jira_url, s.jira_user, s.jira_token, s.jira_project, kind=s.jira_type),
    "slack": lambda s: SlackTickets(SlackBot(s.slack_token, s.slack_channel, url=s.slack_url)),
    "pagerduty": lambda s: ChannelTickets(PagerDuty(s.pagerduty_key, url=s.pagerduty_url)),
    "webhook": lambda s: ChannelTickets(Webhook(s.webhook_url, s.webhook_secret)),
}
SYSTEMS = tuple(_NEEDS)


def build_system(name: str, settings: TicketSettings) -> System:
    """The system of that name; SettingsError names the variables that it lacks."""
    missing = [f"RT4CHART_{one.upper()}" for one in _NEEDS[name] if not getattr(settings, one)]
    if missing:
        raise SettingsError(f"{name} needs {', '.join(missing)}: expected a value, got none")
    return _BUILD[name](settings)
