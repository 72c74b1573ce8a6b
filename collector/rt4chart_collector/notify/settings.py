"""Who is told of alerts and how often, from RT4CHART_ALERTS_* variables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from urllib.parse import urlsplit

from otel_rt4chart.core.errors import SettingsError
from rt4chart_collector.core.alerts.alert import Rule, Severity
from rt4chart_collector.core.alerts.lifecycle import Policy
from rt4chart_collector.core.parsing import (
    RefusedSecretError,
    bearer_token,
    number,
    secret,
    setting,
    text,
    yes_or_no,
)
from rt4chart_collector.core.settings import PREFIX, values_of
from rt4chart_collector.notify.channels.http_client import is_allowed_url
from rt4chart_collector.notify.channels.pagerduty import API as PAGERDUTY_API
from rt4chart_collector.notify.channels.slack import API as SLACK_API
from rt4chart_collector.notify.channels.webhook import signing_key

_ADDRESS = "an https address, or http at the loopback, in ASCII, without a password"


def safe_url(written: str) -> str:
    """An address that a secret may go to."""
    if not is_allowed_url(written):
        is_tls = written.startswith("https://")
        lack = "with a password or a blank" if is_tls else "without https://"
        raise RefusedSecretError(f"a value {lack}")
    return written


def plain_urls(written: str) -> tuple[str, ...]:
    """Addresses with commas between them, also without TLS: Alertmanager stands next door."""
    found = tuple(one.strip() for one in written.split(",") if one.strip())
    for one in found:
        parts = urlsplit(one)
        is_good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        if not is_good or parts.username is not None or not all("!" <= c <= "~" for c in one):
            raise ValueError
    return found


def apprise_urls(written: str) -> str:
    """Addresses with white space between them."""
    if any("://" not in one for one in written.split()):
        raise RefusedSecretError("a value without SCHEME://")
    return written


def webhook_secret(written: str) -> str:
    """A text, or `whsec_` and base64."""
    if not signing_key(written):
        raise ValueError
    return written


@dataclass(frozen=True, slots=True)
class Route:
    """What one target is told: from a severity on, of these rules, all where none is named."""

    target: str
    least: str
    rules: frozenset[str] = frozenset()


def routing(written: str) -> tuple[Route, ...]:
    """TARGET=SEVERITY[:RULE|RULE…] with commas or spaces between them."""
    found = []
    for one in written.replace(",", " ").split():
        target, _, rest = one.partition("=")
        least, _, rules = rest.partition(":")
        named = frozenset(filter(None, rules.split("|")))
        if not target or not named <= set(Rule) or (":" in rest and not named):
            raise ValueError(one)
        found.append(Route(target, Severity(least), named))
    if len({one.target for one in found}) != len(found):
        raise ValueError(written)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class AlertSettings:
    """As `Settings`: a field's variable is its name in capitals after RT4CHART_.

    Secrets have no flag and stand in no error; an address that is one is one of them.
    """

    alerts_slack: str = secret("the https address of an incoming webhook", safe_url)
    alerts_slack_token: str = secret("visible ASCII characters without spaces", bearer_token)
    alerts_slack_channel: str = setting("", "the channel's id for that bot", "C…", text)
    alerts_slack_url: str = setting(SLACK_API, "Slack's Web API", _ADDRESS, safe_url)
    alerts_pagerduty: str = secret("the key of an Events API v2 integration", bearer_token)
    alerts_pagerduty_url: str = setting(
        PAGERDUTY_API, "where PagerDuty takes events", _ADDRESS, safe_url
    )
    alerts_webhook: str = secret(_ADDRESS, safe_url)
    alerts_webhook_secret: str = secret("a text, or whsec_ and base64", webhook_secret)
    alerts_alertmanager: tuple[str, ...] = setting(
        (),
        "where Alertmanagers are",
        "http or https addresses with commas between them, such as http://alertmanager:9093",
        plain_urls,
    )
    alerts_alertmanager_token: str = secret("visible ASCII characters without spaces", bearer_token)
    alerts_apprise: str = secret("addresses that apprise knows, spaces between them", apprise_urls)
    alerts_routing: tuple[Route, ...] = setting(
        (),
        "from which severity on, and of which rules, a target is told",
        "TARGET=SEVERITY or TARGET=SEVERITY:RULE|RULE, commas between them, such as "
        "pagerduty=critical:route_drift|no_data,slack=warning; severities are "
        f"{', '.join(Severity)}, rules {', '.join(Rule)}",
        routing,
    )
    alerts_keep_min: float = setting(
        30.0,
        "minutes without evidence after which an alert is over",
        "minutes from 1 to 1440",
        number(1, 1_440),
    )
    alerts_remind_h: float = setting(
        4.0,
        "hours after which an open alert that nobody took on is told again; 0 is never",
        "hours from 0 to 720",
        number(0, 720),
    )
    alerts_console: str = setting(
        "",
        "where people open the console, for the links in messages",
        "an http or https address",
        lambda written: plain_urls(written)[0],
    )
    alerts_texts: bool = setting(
        False,
        "whether messages quote claims and answers, which users were told",
        "true or false",
        yes_or_no,
    )

    @property
    def policy(self) -> Policy:
        """When alerts end and are told again."""
        return Policy(keep_s=self.alerts_keep_min * 60, remind_s=self.alerts_remind_h * 3_600)


def load_alerts(
    flags: Mapping[str, str | None] | None = None, environ: Mapping[str, str] = os.environ
) -> AlertSettings:
    """The settings: a flag wins over its variable; SettingsError as the service's."""
    settings = AlertSettings(**values_of(fields(AlertSettings), flags or {}, environ))
    if bool(settings.alerts_slack_token) != bool(settings.alerts_slack_channel):
        raise SettingsError(
            f"{PREFIX}ALERTS_SLACK_TOKEN and {PREFIX}ALERTS_SLACK_CHANNEL: expected both or "
            "neither, got one; a webhook needs neither, only its address"
        )
    if settings.alerts_slack and settings.alerts_slack_token:
        raise SettingsError(
            f"{PREFIX}ALERTS_SLACK and {PREFIX}ALERTS_SLACK_TOKEN: expected a webhook's address or "
            "a bot's token, got both; everything would be told twice"
        )
    if settings.alerts_webhook_secret and not settings.alerts_webhook:
        raise SettingsError(
            f"{PREFIX}ALERTS_WEBHOOK_SECRET: expected {PREFIX}ALERTS_WEBHOOK too, got none"
        )
    return settings
