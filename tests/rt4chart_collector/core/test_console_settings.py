"""The console's settings: open on this machine alone."""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.settings import in_force, load
from otel_rt4chart.core.settings_parsers import Address
from otel_rt4chart.settings.application import JudgeSettings
from rt4chart_collector.core.settings import ConsoleSettings, ServiceSettings


def test_it_is_on_this_machine_unless_told_otherwise() -> None:
    """A console that nobody configured is nobody else's."""
    settings = load(ConsoleSettings, {}, {})

    assert settings.console == Address("127.0.0.1", 8321)
    assert settings.is_open


def test_it_is_not_served_to_others_without_a_sign_in() -> None:
    """The error says both ways out."""
    with pytest.raises(SettingsError, match=r"CONSOLE_TOKEN.*CONSOLE_USER_HEADER"):
        load(ConsoleSettings, {"console": "0.0.0.0:8321"}, {})


@pytest.mark.parametrize(
    "environ",
    [
        {"RT4CHART_CONSOLE_TOKEN": "s3cret"},
        {
            "RT4CHART_CONSOLE_USER_HEADER": "X-Forwarded-Email",
            "RT4CHART_CONSOLE_TRUSTED": "10.1.0.0/16",
        },
    ],
)
def test_with_either_it_is(environ: dict[str, str]) -> None:
    """A token, or a proxy that says who it is."""
    settings = load(ConsoleSettings, {"console": "0.0.0.0:8321"}, environ)

    assert not settings.is_open
    assert settings.console_trusted in (
        (ip_network("10.1.0.0/16"),),
        ConsoleSettings().console_trusted,
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CONSOLE", "8321"),
        ("CONSOLE_TRUSTED", "10.0.0.1/8"),
        ("CONSOLE_USER_HEADER", "X Email"),
        ("CONSOLE_HOSTS", "https://console.example"),
        ("CONSOLE_READONLY", "perhaps"),
        ("CONSOLE_CLIENTS", "0"),
        ("CONSOLE_PAGE_S", "0"),
    ],
)
def test_a_wrong_value_is_named(name: str, value: str) -> None:
    """With what was expected."""
    with pytest.raises(SettingsError, match=f"RT4CHART_{name}: expected"):
        load(ConsoleSettings, {}, {f"RT4CHART_{name}": value})


def test_facts_tell_of_a_secret_only_whether_it_is_set() -> None:
    """Neither the token nor a password in a DSN is on the page."""
    service = ServiceSettings(dsn="http://me:pass-word@db:8123/otel")
    facts = in_force(service, ConsoleSettings(console_token="tok-en"))  # noqa: S106 - not a secret

    told = {one.variable: one.value for one in facts}
    secrets = [told[f"RT4CHART_{name}"] for name in ("CONSOLE_TOKEN", "READ_TOKEN")]
    assert secrets == ["set", "not set"]
    assert told["RT4CHART_DSN"] == "…@db:8123/otel"
    assert not any("tok-en" in one.value or "pass-word" in one.value for one in facts)


def test_facts_tell_of_the_judge_without_its_key() -> None:
    """Each variable by its own name; an address may hold a password, and is not shown either."""
    judge = JudgeSettings(base_url="http://me:pass-word@llm/v1", api_key="k-e-y", votes=3)
    told = {one.variable: one for one in in_force(judge)}

    assert told["OPENAI_API_KEY"].value == told["OPENAI_BASE_URL"].value == "set"
    assert (told["RT4CHART_JUDGE_VOTES"].value, told["RT4CHART_JUDGE_VOTES"].is_default) == (
        "3",
        False,
    )
    assert told["RT4CHART_JUDGE_CALLS_PER_MINUTE"].value == "off"
    assert told["RT4CHART_JUDGE_MODEL"].is_default


@pytest.mark.parametrize("name", ["Host", "cookie", "AUTHORIZATION", "Origin"])
def test_a_header_that_clients_fill_names_no_user(name: str) -> None:
    """Everybody who reaches the console from a trusted address would be signed in under it."""
    with pytest.raises(SettingsError, match="CONSOLE_USER_HEADER: expected a header that only the"):
        load(ConsoleSettings, environ={"RT4CHART_CONSOLE_USER_HEADER": name})
