"""All settings of grouping and of tickets, each declared once.

To add one, add a field to its section; docs/reference/settings.md follows from it
(`python -m rt4chart_clustering.core.settings` prints its tables).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from otel_rt4chart.core.settings import load, reference, setting
from otel_rt4chart.core.settings_parsers import (
    Parser,
    bearer_token,
    integer,
    matching,
    one_of,
    secure_url,
    signing_secret,
    text,
)
from otel_rt4chart.settings.application import JudgeSettings
from rt4chart_collector.core.settings import PAGERDUTY_API, SLACK_API, database_setting

EMBEDDERS = ("hashing", "local")


@dataclass(frozen=True, slots=True)
class ClusteringSettings:
    """Settings of grouping: `rt4chart cluster`, `rt4chart issues` and `rt4chart evalset`."""

    dsn: str = database_setting()
    embedder: str = setting(
        "hashing", "compares failures by their words, or by meaning", one_of(*EMBEDDERS)
    )
    marks: str = setting(
        "none",
        "marks the wrong words of claims whose judge marked none, with the embedded network",
        one_of("none", "local"),
    )
    distill: str = setting(
        "none",
        "writes phrases and names with the judge's endpoint and model",
        one_of("none", "llm"),
    )
    explain: str = setting(
        "none",
        "finds the cause of new and regressed issues with the judge's endpoint and model",
        one_of("none", "llm"),
    )
    explain_issues: int = setting(
        3, "the most issues that are explained after a run of grouping", integer(1, 100)
    )


@dataclass(frozen=True, slots=True)
class TicketSettings:
    """Settings of tickets: `rt4chart issues ticket`."""

    github_repository: str = setting(
        "", "where GitHub issues are filed", matching(r"[\w.-]+/[\w.-]+", "owner/name")
    )
    github_token: str = setting("", "a token that may write its issues", bearer_token, secret=True)
    github_url: str = setting(
        "https://api.github.com", "the API of a GitHub server of your own", secure_url, secret=True
    )
    linear_key: str = setting("", "a personal API key of Linear", bearer_token, secret=True)
    linear_team: str = setting("", "the id of the Linear team", Parser("a UUID", str))
    linear_url: str = setting(
        "https://api.linear.app/graphql", "Linear's GraphQL API", secure_url, secret=True
    )
    jira_url: str = setting(
        "", "the Jira site, such as https://x.atlassian.net", secure_url, secret=True
    )
    jira_user: str = setting("", "the e-mail address that the API token belongs to", text)
    jira_token: str = setting("", "an API token of Jira", bearer_token, secret=True)
    jira_project: str = setting(
        "", "the key of the Jira project", matching(r"\w+", "a key such as RAG")
    )
    jira_type: str = setting("Task", "the type of the Jira issues", text)
    slack_token: str = setting("", "a Slack bot's token, xoxb-…", bearer_token, secret=True)
    slack_channel: str = setting(
        "", "the channel's id for that bot", Parser("an id such as C0123456789", str)
    )
    slack_url: str = setting(SLACK_API, "Slack's Web API", secure_url, secret=True)
    pagerduty_key: str = setting(
        "", "the key of a PagerDuty Events API v2 integration", bearer_token, secret=True
    )
    pagerduty_url: str = setting(PAGERDUTY_API, "PagerDuty's Events API", secure_url, secret=True)
    webhook_url: str = setting("", "a URL that tickets are posted to", secure_url, secret=True)
    webhook_secret: str = setting("", "what signs those posts", signing_secret, secret=True)


SECTIONS = (ClusteringSettings, TicketSettings)


def check_settings() -> None:
    """Raise the SettingsError of a variable that grouping would fail on later."""
    settings = load(ClusteringSettings)
    if "llm" in (settings.distill, settings.explain):
        load(JudgeSettings)


if __name__ == "__main__":
    sys.stdout.write(reference(*SECTIONS))
