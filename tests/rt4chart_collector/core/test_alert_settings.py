"""The settings of alerts: what is read, what is refused, and that no secret is told."""

from __future__ import annotations

import re

import pytest

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.settings import flags_of, load, settings_of
from rt4chart_collector.core.alerts.lifecycle import AlertPolicy, alert_policy
from rt4chart_collector.core.settings import AlertSettings
from rt4chart_collector.core.settings_parsers import AlertRoute
from rt4chart_collector.notify.registry import build_targets
from rt4chart_collector.service.checks import check_alert_targets

SECRET = "hush-hush-1"  # noqa: S105 - no password


def read(**given: str) -> AlertSettings:
    """The settings with these variables alone."""
    return load(
        AlertSettings, environ={f"RT4CHART_ALERTS_{name}": text for name, text in given.items()}
    )


def test_nothing_set_is_nobody_told() -> None:
    """And the times that the documentation names."""
    settings = read()

    assert build_targets(settings) == []
    assert alert_policy(settings) == AlertPolicy(keep_s=1_800, remind_s=14_400)


def test_each_target_is_told_what_its_route_says() -> None:
    """PagerDuty of errors unless told otherwise, the others of everything."""
    settings = read(
        PAGERDUTY=SECRET,
        SLACK="https://hooks.slack.com/services/T/B/x",
        WEBHOOK="http://127.0.0.1:9/hook",
        ALERTMANAGER="http://am-1:9093, https://am-2/path",
        ROUTING="slack=warning, webhook=critical:route_drift|no_data",
    )

    found = {one.receiver.name: one.receiver for one in build_targets(settings)}
    assert {name: str(one.least) for name, one in found.items()} == {
        "pagerduty": "error",
        "slack": "warning",
        "webhook": "critical",
        "alertmanager": "info",
        "alertmanager-2": "info",
    }
    assert found["webhook"].rules == {"route_drift", "no_data"}
    assert settings.alerts_routing[0] == AlertRoute("slack", "warning")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("SLACK", f"http://hooks.example/{SECRET}"),
        ("SLACK_TOKEN", f"two words {SECRET}"),
        ("PAGERDUTY", f"ü{SECRET}"),
        ("WEBHOOK", f"https://user:{SECRET}@host.example"),
        ("WEBHOOK", f"ftp://{SECRET}"),
        ("WEBHOOK_SECRET", f"whsec_{SECRET}!"),
        ("APPRISE", SECRET),
    ],
)
def test_a_secret_that_is_refused_is_not_told(name: str, text: str) -> None:
    """The variable and what is expected of it are."""
    with pytest.raises(SettingsError, match=f"RT4CHART_ALERTS_{name}: expected") as raised:
        read(**{name: text})

    shown = [str(raised.value), str(raised.value.__cause__), str(raised.value.__context__)]
    assert SECRET not in shown[0] + shown[1]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ROUTING", "slack"),
        ("ROUTING", "slack=info:"),
        ("ROUTING", "slack=info,slack=error"),
        ("ALERTMANAGER", "am:9093"),
        ("KEEP_MIN", "0"),
        ("REMIND_H", "often"),
        ("TEXTS", "perhaps"),
        ("CONSOLE", "console.example"),
    ],
)
def test_what_cannot_be_meant_is_refused(name: str, text: str) -> None:
    """With what came."""
    with pytest.raises(SettingsError, match=f"RT4CHART_ALERTS_{name}: expected .* got"):
        read(**{name: text})


@pytest.mark.parametrize(
    ("name", "text", "got"),
    [
        ("SLACK", f"http://{SECRET}", "a value without https://"),
        ("WEBHOOK", SECRET, "a value without https://"),
        ("WEBHOOK", f"https://u:{SECRET}@a.io", "a value with a password or a blank"),
        ("APPRISE", SECRET, "a value without SCHEME://"),
        ("PAGERDUTY", f"{SECRET} 1", "another value"),
    ],
)
def test_a_secret_that_is_refused_is_told_by_what_it_lacks(name: str, text: str, got: str) -> None:
    """And by nothing of it."""
    with pytest.raises(SettingsError, match="expected") as raised:
        read(**{name: text})

    assert str(raised.value).endswith(f"; got {got} (hidden)")
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize(
    "given",
    [
        {"SLACK_TOKEN": SECRET},
        {"SLACK_CHANNEL": "C1"},
        {"SLACK_TOKEN": SECRET, "SLACK_CHANNEL": "C1", "SLACK": "https://hooks.example/x"},
        {"WEBHOOK_SECRET": SECRET},
    ],
)
def test_settings_that_do_not_go_together_are_refused(given: dict[str, str]) -> None:
    """Both variables are named, and no secret."""
    with pytest.raises(SettingsError, match=r"RT4CHART_ALERTS_.*expected") as raised:
        read(**given)

    assert SECRET not in str(raised.value)


def test_a_route_to_nobody_is_refused() -> None:
    """Whoever is to be told has to be set."""
    with pytest.raises(
        SettingsError, match=r"RT4CHART_ALERTS_ROUTING: .*there is none.* got slack"
    ):
        build_targets(read(ROUTING="slack=info"))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("slack=loud", "expected severity names (critical, error, warning, info); got loud"),
        ("slack=info:no_data|nothing", "expected rule names (route_drift, "),
    ],
)
def test_a_route_with_an_unknown_severity_or_rule_is_refused(text: str, error: str) -> None:
    """The error lists the known ones."""
    with pytest.raises(SettingsError, match=re.escape(f"RT4CHART_ALERTS_ROUTING: {error}")):
        build_targets(read(ROUTING=text, SLACK="https://hooks.example/x"))


def test_secrets_have_no_flag_and_no_representation() -> None:
    """Other users of the machine read command lines."""
    settings = read(
        PAGERDUTY=SECRET, APPRISE=f"json://{SECRET}", WEBHOOK=f"https://{SECRET}.example"
    )
    secret = {one.field for one in settings_of(AlertSettings) if one.is_secret}

    assert SECRET not in repr(settings)
    assert secret >= {"alerts_slack", "alerts_slack_token", "alerts_pagerduty", "alerts_webhook"}
    assert not secret & {one.field for one in flags_of(AlertSettings)}


@pytest.mark.parametrize(
    ("name", "text", "state", "told"),
    [
        ("PAGERDUTY", SECRET, "ok", "sent to pagerduty"),
        ("PAGERDUTY", "", "ok", "no targets are set"),
        ("SLACK", f"http://{SECRET}", "failed", "RT4CHART_ALERTS_SLACK: expected"),
    ],
)
def test_the_doctor_says_who_is_told(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str, state: str, told: str
) -> None:
    """Without a secret, and without sending anything."""
    monkeypatch.setenv(f"RT4CHART_ALERTS_{name}", text)

    found = check_alert_targets()

    assert found.state == state
    assert told in found.detail
    assert SECRET not in found.detail
