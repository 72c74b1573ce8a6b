"""ServiceSettings: flag before variable before default, and what a bad value says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from otel_rt4chart.cli import main
from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.settings import flags_of, in_force, load, settings_of
from otel_rt4chart.core.settings_parsers import Address
from otel_rt4chart.settings.application import setting_warnings
from rt4chart_collector.core.environment import demo_environ
from rt4chart_collector.core.settings import (
    ServiceSettings,
    UpSettings,
)
from rt4chart_collector.core.settings_checks import check_metrics


def test_defaults_need_no_environment() -> None:
    """With nothing set the service is local, on the standard port, in the user's data folder."""
    settings = load(ServiceSettings, environ={"XDG_DATA_HOME": "/data"})

    assert (settings.dsn, settings.judge) == ("chdb:///data/rt4chart/db", "local")
    assert settings.otlp_http == Address("127.0.0.1", 4318)
    assert settings.otlp_grpc == Address("127.0.0.1", 4317)
    assert (settings.ack, settings.ingest_token, settings.tls_cert) == ("stored", "", "")
    assert settings.sample_rate == 1.0


def test_flag_wins_over_variable() -> None:
    """A flag is nearer than the environment; an empty one is as good as none."""
    environ = {"RT4CHART_SAMPLE_RATE": "0.1", "RT4CHART_JUDGE": "local", "RT4CHART_WORKERS": ""}

    settings = load(ServiceSettings, {"sample_rate": "0.5", "judge": None}, environ)

    assert (settings.sample_rate, settings.judge, settings.workers) == (0.5, "local", 2)


@pytest.mark.parametrize("address", ["127.0.0.1:0", "localhost:4318", "[::1]:4318"])
def test_loopback_addresses_are_taken(address: str) -> None:
    """Port 0 is any free port."""
    port = int(address.rpartition(":")[2])

    assert load(ServiceSettings, {"otlp_http": address}, {}).otlp_http.port == port


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("RT4CHART_SAMPLE_RATE", "1.5", "a number from 0 to 1"),
        ("RT4CHART_SAMPLE_RATE", "nan", "a number from 0 to 1"),
        ("RT4CHART_SAMPLE_RATE", "often", "a number from 0 to 1"),
        ("RT4CHART_OTLP_HTTP", "example.com:4318", "HOST:PORT with an IP address"),
        ("RT4CHART_OTLP_GRPC", "127.0.0.1", "HOST:PORT with an IP address"),
        ("RT4CHART_OTLP_GRPC", "127.0.0.1:70000", "HOST:PORT with an IP address"),
        ("RT4CHART_ACK", "later", "stored or enqueued"),
        ("RT4CHART_TTL_DAYS", "0", "days from 1"),
        ("RT4CHART_WORKERS", "2.5", "a number from 1 to 64"),
    ],
)
def test_bad_value_names_the_variable(variable: str, value: str, expected: str) -> None:
    """What was expected and what came are in the message."""
    with pytest.raises(SettingsError) as raised:
        load(ServiceSettings, environ={variable: value})

    assert str(raised.value).startswith(f"{variable}: expected {expected}")
    assert str(raised.value).endswith(f"got {value!r}")


@pytest.mark.parametrize("variable", ["RT4CHART_OTLP_HTTP", "RT4CHART_OTLP_GRPC"])
@pytest.mark.parametrize("address", ["0.0.0.0:4000", "[::]:4000", "192.0.2.1:4000"])
def test_other_machines_are_let_in_with_a_token_alone(variable: str, address: str) -> None:
    """The error says what to set."""
    with pytest.raises(SettingsError) as raised:
        load(ServiceSettings, environ={variable: address})

    assert str(raised.value).startswith(f"{variable}: other machines can reach {address}; set RT4")
    assert "RT4CHART_INGEST_TOKEN" in str(raised.value)
    given = load(ServiceSettings, environ={variable: address, "RT4CHART_INGEST_TOKEN": "s3cret"})
    assert given.ingest_token == "s3cret"  # noqa: S105 - of this test


def test_token_is_shown_nowhere() -> None:
    """Neither in the settings' own text nor in an error, nor is it taken from a command line."""
    settings = load(ServiceSettings, environ={"RT4CHART_INGEST_TOKEN": " s3cret\n"})

    assert settings.ingest_token == "s3cret"  # noqa: S105 - of this test
    assert "s3cret" not in repr(settings)
    for wrong in ("s3cret two", "s3crét"):
        expected = "RT4CHART_INGEST_TOKEN: expected visible ASCII"
        with pytest.raises(SettingsError, match=expected) as raised:
            load(ServiceSettings, environ={"RT4CHART_INGEST_TOKEN": wrong})
        assert "s3cr" not in str(raised.value)
        assert raised.value.__cause__ is None
    assert "ingest_token" not in [one.key for one in flags_of(UpSettings)]


@pytest.mark.parametrize("name", ["RT4CHART_TLS_CERT", "RT4CHART_TLS_KEY"])
def test_certificate_and_key_go_together(name: str) -> None:
    """One alone would mean no TLS, without a word."""
    with pytest.raises(
        SettingsError, match="RT4CHART_TLS_CERT and RT4CHART_TLS_KEY: expected both"
    ):
        load(ServiceSettings, environ={name: "file.pem"})


def test_demo_has_no_secrets_of_the_user() -> None:
    """Its own application would not know them, and nobody is told of its alerts."""
    environ = {"RT4CHART_INGEST_TOKEN": "s3cret", "RT4CHART_JUDGE": "local", "PATH": "/bin"}
    environ["RT4CHART_ALERTS_SLACK"] = "https://hooks.example/T0"

    assert demo_environ(environ) == {"RT4CHART_JUDGE": "local", "PATH": "/bin"}


def test_no_setting_of_the_service_is_called_misspelt() -> None:
    """The application side, which does not know them, takes none for one of its own."""
    names = [one.variable for one in settings_of(ServiceSettings)]

    assert list(setting_warnings(dict.fromkeys(names, "1"))) == []


def test_layers_and_carriers_are_shown_as_they_are_written() -> None:
    """On the settings page; a flag takes them, too."""
    written = "cherry_picking=0.1; support/*: cherry_picking=1"
    environ = {"RT4CHART_LAYERS": written, "RT4CHART_CARRIER": "own"}

    service = load(ServiceSettings, environ=environ)

    found = {one.variable: one.value for one in in_force(service) if not one.is_default}
    assert found["RT4CHART_CARRIER"] == "own"
    assert found["RT4CHART_LAYERS"] == (
        "citations=1, cherry_picking=0.1, sycophancy=1, trail=auto, earlier_turns=0, "
        "second_judge=borderline; "
        "support/*: cherry_picking=1"
    )
    flags = {"layers": written, "carrier": "own"}
    assert load(ServiceSettings, flags, environ={}).layers == service.layers


def test_metrics_go_where_one_of_two_variables_says() -> None:
    """Ours gets OTLP's path, OpenTelemetry's is taken as it is; `off` holds against both."""
    ours, theirs = "RT4CHART_SELF_METRICS", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"
    elsewhere = "http://collector:4318"

    assert load(ServiceSettings, environ={}).self_metrics == ""
    assert (
        load(ServiceSettings, environ={ours: elsewhere}).self_metrics == f"{elsewhere}/v1/metrics"
    )
    assert load(ServiceSettings, environ={ours: f"{elsewhere}/x"}).self_metrics == f"{elsewhere}/x"
    assert load(ServiceSettings, environ={theirs: elsewhere}).self_metrics == elsewhere
    assert load(ServiceSettings, environ={theirs: "no url", ours: "off"}).self_metrics == ""


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"RT4CHART_SELF_METRICS": "collector:4318"}, "RT4CHART_SELF_METRICS: expected a URL"),
        ({"RT4CHART_SELF_METRICS": "http://h:port"}, "RT4CHART_SELF_METRICS: expected a URL"),
        ({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "h:4317"}, "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT:"),
        ({"RT4CHART_LOG_FORMAT": "xml"}, "RT4CHART_LOG_FORMAT: expected text or json"),
        (
            {"RT4CHART_LOG_LEVEL": "loud"},
            "RT4CHART_LOG_LEVEL: expected debug, info",
        ),
    ],
)
def test_metrics_and_logs_that_cannot_be_meant_stop_the_start(
    environ: dict[str, str], words: str
) -> None:
    """The error names the variable."""
    with pytest.raises(SettingsError, match=re.escape(words)):
        load(ServiceSettings, environ=environ)


@pytest.mark.parametrize(
    "variable", ["RT4CHART_SELF_METRICS", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"]
)
@pytest.mark.parametrize("place", ["localhost:4318", "127.0.0.1:4317"])
def test_only_the_service_minds_metrics_to_its_own_address(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    variable: str,
    place: str,
) -> None:
    """Nothing is sent to the service itself, in a loop; to other commands it is any receiver."""
    monkeypatch.setenv(variable, f"http://{place}")
    monkeypatch.setenv("RT4CHART_DSN", f"chdb://{tmp_path}/none")

    assert load(ServiceSettings).self_metrics.startswith(f"http://{place}")
    assert main(["up"]) == 2
    assert f"this service's own address {place}" in capsys.readouterr().err


def test_the_example_of_a_metrics_url_goes_with_the_defaults() -> None:
    """Who copies it from the error has a service that starts."""
    with pytest.raises(SettingsError) as told:
        load(ServiceSettings, environ={"RT4CHART_SELF_METRICS": "nowhere"})
    example = str(told.value).split("such as ")[1].split(",")[0]
    found = load(ServiceSettings, environ={"RT4CHART_SELF_METRICS": example})

    check_metrics(found.self_metrics, (found.otlp_http, found.otlp_grpc))


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"OTLP_HTTP": "127.0.0.1:4317"}, "RT4CHART_OTLP_HTTP and RT4CHART_OTLP_GRPC"),
        ({"OTLP_GRPC": "localhost:13134"}, "RT4CHART_OTLP_GRPC and RT4CHART_HEALTH"),
        ({"HEALTH": "0.0.0.0:8321"}, "RT4CHART_HEALTH and RT4CHART_CONSOLE"),
    ],
)
def test_two_listeners_on_one_port_are_refused(given: dict[str, str], named: str) -> None:
    """Before a server fails half-way."""
    with pytest.raises(SettingsError, match=f"{named}: expected a port each; got "):
        load(UpSettings, environ={f"RT4CHART_{name}": value for name, value in given.items()})


@pytest.mark.parametrize(
    "given",
    [
        {"OTLP_HTTP": "127.0.0.1:0", "OTLP_GRPC": "127.0.0.1:0"},
        {"OTLP_HTTP": "127.0.0.1:9000", "HEALTH": "127.0.0.2:9000"},
        {"HEALTH": "off", "CONSOLE": "off"},
    ],
)
def test_other_ports_and_addresses_go_together(given: dict[str, str]) -> None:
    """Port 0 is a new one each time."""
    loaded = load(UpSettings, environ={f"RT4CHART_{name}": value for name, value in given.items()})

    service = loaded.service
    addresses = {
        "OTLP_HTTP": service.otlp_http,
        "OTLP_GRPC": service.otlp_grpc,
        "HEALTH": service.health,
        "CONSOLE": loaded.console.console,
    }
    assert {name: str(addresses[name] or "off") for name in given} == given
