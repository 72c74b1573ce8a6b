"""Where tickets go, from the environment."""

from __future__ import annotations

import pytest

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.settings import load
from rt4chart_clustering.core.settings import TicketSettings
from rt4chart_clustering.tickets.systems import SYSTEMS, build_system

WHOLE = {
    "RT4CHART_GITHUB_REPOSITORY": "o/r",
    "RT4CHART_GITHUB_TOKEN": "t",
    "RT4CHART_LINEAR_KEY": "t",
    "RT4CHART_LINEAR_TEAM": "t",
    "RT4CHART_JIRA_URL": "https://shop.atlassian.net",
    "RT4CHART_JIRA_USER": "ann@shop.test",
    "RT4CHART_JIRA_TOKEN": "t",
    "RT4CHART_JIRA_PROJECT": "RAG",
    "RT4CHART_SLACK_TOKEN": "t",
    "RT4CHART_SLACK_CHANNEL": "C1",
    "RT4CHART_PAGERDUTY_KEY": "t",
    "RT4CHART_WEBHOOK_URL": "https://hooks.shop.test/x",
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_system_is_built_of_its_variables_and_names_those_it_lacks(name: str) -> None:
    """None is needed for another one."""
    assert build_system(name, load(TicketSettings, environ=WHOLE)).name == name
    with pytest.raises(SettingsError, match=f"{name} needs RT4CHART_{name.upper()}_"):
        build_system(name, load(TicketSettings, environ={}))


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("RT4CHART_GITHUB_REPOSITORY", "o/r/../../user"),
        ("RT4CHART_GITHUB_REPOSITORY", "r"),
        ("RT4CHART_GITHUB_TOKEN", "two words"),
        ("RT4CHART_GITHUB_URL", "http://api.github.com"),
        ("RT4CHART_JIRA_URL", "https://ann:pass@shop.atlassian.net"),
        ("RT4CHART_JIRA_PROJECT", 'RAG" OR 1=1'),
        ("RT4CHART_WEBHOOK_URL", "hooks.shop.test"),
        ("RT4CHART_WEBHOOK_URL", "https://hooks.shop.test/ä"),
        ("RT4CHART_WEBHOOK_SECRET", "whsec_???"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(variable: str, value: str) -> None:
    """Before anything is sent; a secret is not repeated."""
    with pytest.raises(SettingsError, match=variable) as raised:
        load(TicketSettings, environ={variable: value})

    if not variable.endswith(("REPOSITORY", "PROJECT")):
        assert value not in str(raised.value)


def test_no_secret_stands_in_what_is_printed() -> None:
    """Of settings, or of a system."""
    given = load(TicketSettings, environ={**WHOLE, "RT4CHART_GITHUB_TOKEN": "hush-hush"})

    assert "hush-hush" not in repr(given)
