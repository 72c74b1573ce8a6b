"""Settings of the application side and of the judges."""

from __future__ import annotations

import pytest

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.semconv import CarrierPlace
from otel_rt4chart.core.settings import load, settings_of
from otel_rt4chart.sampling import Layers, Policy, Risk
from otel_rt4chart.settings.application import (
    SECTIONS,
    ApplicationSettings,
    chosen_judge,
    setting_warnings,
    wants_redaction,
)
from rt4chart_collector.core.settings import ServiceSettings


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("RT4CHART_JUDGE_MODLE", ["RT4CHART_JUDGE_MODEL"]),
        ("RT4CHART_JUDGE_TIMEOUT", ["RT4CHART_JUDGE_TIMEOUT_S"]),
        ("RT4CHART_MODEL", ["RT4CHART_JUDGE_MODEL", "RT4CHART_EMBEDDING_MODEL"]),
        ("RT4CHART_SAMPLERATE", ["RT4CHART_SAMPLE_RATE"]),
    ],
)
def test_a_variable_like_one_of_ours_is_doubted(name: str, told: list[str]) -> None:
    """A misspelt one would otherwise do nothing, in silence."""
    (warning,) = setting_warnings({name: "1"})

    assert warning == f"{name} is not known: is {' or '.join(told)} meant?"


def test_a_token_without_an_address_is_doubted() -> None:
    """It would be sent nowhere."""
    (warning,) = setting_warnings({"RT4CHART_RATES_TOKEN": "secret"})

    assert warning == "RT4CHART_RATES_TOKEN is not used: RT4CHART_RATES names no address"
    assert (
        list(setting_warnings({"RT4CHART_RATES_TOKEN": "secret", "RT4CHART_RATES": "rates.json"}))
        == []
    )


def test_known_and_foreign_variables_are_not_doubted() -> None:
    """Those of the service are known too, and what is like none of ours is somebody else's."""
    ours = [one.variable for one in settings_of(*SECTIONS)]
    theirs = [one.variable for one in settings_of(ServiceSettings)]

    assert (
        list(setting_warnings(dict.fromkeys([*ours, *theirs, "RT4CHART_BUILD", "PATH"], "1"))) == []
    )


def test_an_error_names_its_variable_and_no_other() -> None:
    """What else is set has no part in it."""
    given = {"RT4CHART_MODE": "mark", "RT4CHART_SAMPLE_RATE": "2", "RT4CHART_SALT": "x"}

    with pytest.raises(SettingsError) as caught:
        load(ApplicationSettings, environ=given)

    assert str(caught.value) == "RT4CHART_SAMPLE_RATE: expected a number from 0 to 1; got '2'"


def test_the_service_s_judge_is_read_where_it_is_set() -> None:
    """Empty is not set, blank is invalid."""
    assert chosen_judge({"RT4CHART_JUDGE": " openai "}) == "openai"
    assert chosen_judge({}) == chosen_judge({"RT4CHART_JUDGE": ""}) == ""
    with pytest.raises(SettingsError, match="RT4CHART_JUDGE: expected a text; got only white"):
        chosen_judge({"RT4CHART_JUDGE": "\n"})


@pytest.mark.parametrize("name", ["RT4CHART_REDACT", "RT4CHART_REDACT_PATTERN"])
def test_a_blank_wish_for_redaction_is_a_wish(name: str) -> None:
    """As is every other invalid value."""
    assert wants_redaction({name: " "})
    assert not wants_redaction({name: ""})


def test_every_variable_of_the_application_is_read() -> None:
    """Each into its field, and what is chosen into the policy."""
    given = {
        "RT4CHART_MODE": "inline",
        "RT4CHART_SAMPLE_RATE": "0.2",
        "RT4CHART_ROUTE_RATES": " support/* = 0.5, checkout=1,a=b=0 ",
        "RT4CHART_LAYERS": "cherry_picking=0.1; support/*: cherry_picking=1",
        "RT4CHART_SALT": "v2",
        "RT4CHART_RISKS": "feedback, low_score",
        "RT4CHART_LOW_SCORE": "-0.5",
        "RT4CHART_MAX_PER_MINUTE": "60",
        "RT4CHART_MAX_PER_DAY": "1000",
        "RT4CHART_RATES": "https://rates.example/app",
        "RT4CHART_RATES_TOKEN": "t0ken",
        "RT4CHART_EMIT": "metrics,event,metrics",
        "RT4CHART_CARRIER": "own",
        "RT4CHART_QUEUE_SIZE": "10",
        "RT4CHART_REDACT": "mask",
        "RT4CHART_REDACT_PATTERN": "email, phone",
        "RT4CHART_BAGGAGE": "true",
        "RT4CHART_RECORD_UNSAMPLED": "TRUE",
    }
    assert set(given) == {one.variable for one in settings_of(ApplicationSettings)}

    settings = load(ApplicationSettings, environ=given)

    routes = {"support/*": 0.5, "checkout": 1.0, "a=b": 0.0}
    risks = frozenset({Risk.FEEDBACK, Risk.LOW_SCORE})
    assert settings == ApplicationSettings(
        mode="inline",
        sample_rate=0.2,
        route_rates=routes,
        layers=Layers({"*": {"cherry_picking": 0.1}, "support/*": {"cherry_picking": 1.0}}),
        salt="v2",
        risks=risks,
        low_score=-0.5,
        max_per_minute=60,
        max_per_day=1000,
        rates="https://rates.example/app",
        rates_token="t0ken",  # noqa: S106 none
        emit=("metrics", "event"),
        carrier=CarrierPlace.OWN,
        queue_size=10,
        redact="mask",
        redact_pattern="email, phone",
        baggage=True,
        record_unsampled=True,
    )
    assert settings.policy() == Policy(0.2, routes, "v2", risks, -0.5, 60, 1000)
    assert "t0ken" not in repr(settings)
    assert "rates.example" not in repr(settings)


def test_nothing_set_marks_everything_by_the_rate_alone() -> None:
    """A rule that nobody asked for could choose more than somebody pays for."""
    assert load(ApplicationSettings, environ={}) == ApplicationSettings()
    assert ApplicationSettings().policy() == Policy()
    assert ApplicationSettings().emit == ("carrier", "event", "metrics")
    assert not ApplicationSettings().record_unsampled


@pytest.mark.parametrize(
    ("text", "risks"), [("all", set(Risk)), ("none", set()), ("error", {"error"})]
)
def test_rules_of_risk_are_named(text: str, risks: set[str]) -> None:
    """All of them works without a bound for the score, which then chooses nothing."""
    assert load(ApplicationSettings, environ={"RT4CHART_RISKS": text}).risks == risks


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("MODE", "both", "expected mark or inline; got 'both'"),
        ("SAMPLE_RATE", "half", "expected a number from 0 to 1; got 'half'"),
        ("SAMPLE_RATE", "nan", "expected a number from 0 to 1; got 'nan'"),
        ("ROUTE_RATES", "support", "expected ROUTE=RATE, … with rates from 0 to 1"),
        ("ROUTE_RATES", "=1", "expected ROUTE=RATE, … with rates from 0 to 1"),
        ("ROUTE_RATES", "support=2", "expected ROUTE=RATE, … with rates from 0 to 1"),
        ("RISKS", "errors", "expected all, none, or some of error, feedback, low_score, confirm"),
        ("RISKS", "low_score", "RT4CHART_LOW_SCORE: expected a number together with low_score"),
        ("LOW_SCORE", "0.5", "expected a number together with low_score among RT4CHART_RISKS"),
        ("LOW_SCORE", "nan", "expected a number such as 0.5; got 'nan'"),
        ("MAX_PER_MINUTE", "0", "expected an integer of 1 or more; got '0'"),
        ("MAX_PER_DAY", "1.5", "expected an integer of 1 or more; got '1.5'"),
        ("EMIT", "spans", "expected some of carrier, event, metrics; got 'spans'"),
        ("EMIT", ",", "expected some of carrier, event, metrics; got ','"),
        ("QUEUE_SIZE", "0", "expected a number from 1 to 1000000; got '0'"),
        ("REDACT", "hide", "expected drop, mask, hash; got 'hide'"),
        ("REDACT_PATTERN", "(", "expected a regular expression, or some of email, phone, card"),
        ("REDACT_PATTERN", "emails", "expected a regular expression, or some of email"),
        ("REDACT_PATTERN", "email", "expected RT4CHART_REDACT beside it (drop, mask, hash)"),
        ("RECORD_UNSAMPLED", "maybe", "expected true or false; got 'maybe'"),
    ],
)
def test_a_wrong_value_is_named_with_what_was_expected(
    name: str, value: str, expected: str
) -> None:
    """And with what came."""
    with pytest.raises(SettingsError) as caught:
        load(ApplicationSettings, environ={f"RT4CHART_{name}": value})

    assert expected in str(caught.value)
    assert str(caught.value).startswith("RT4CHART_")


@pytest.mark.parametrize(
    ("name", "value"),
    [("RT4CHART_RATES", "http://secret.example/"), ("RT4CHART_RATES_TOKEN", "secret\n token")],
)
def test_a_wrong_secret_is_not_repeated(name: str, value: str) -> None:
    """The error goes to a log."""
    with pytest.raises(SettingsError, match=f"{name}: expected .*; got another value") as caught:
        load(ApplicationSettings, environ={name: value})

    assert "secret" not in str(caught.value)
