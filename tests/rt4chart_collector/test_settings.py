"""Settings: flag before variable before default, and what a bad value says."""

from __future__ import annotations

import pytest

from otel_rt4chart.errors import SettingsError
from rt4chart_collector.settings import Address, load


def test_defaults_need_no_environment() -> None:
    """With nothing set the service is local, on the standard port, in the user's data folder."""
    settings = load(environ={"XDG_DATA_HOME": "/data"})

    assert (settings.dsn, settings.judge) == ("chdb:///data/rt4chart/db", "local")
    assert settings.otlp_http == Address("127.0.0.1", 4318)
    assert settings.sample_rate == 1.0


def test_flag_wins_over_variable() -> None:
    """A flag is nearer than the environment; an empty one is as good as none."""
    environ = {"RT4CHART_SAMPLE_RATE": "0.1", "RT4CHART_JUDGE": "local", "RT4CHART_WORKERS": ""}

    settings = load({"sample_rate": "0.5", "judge": None}, environ)

    assert (settings.sample_rate, settings.judge, settings.workers) == (0.5, "local", 2)


@pytest.mark.parametrize("address", ["127.0.0.1:0", "localhost:4318", "[::1]:4318"])
def test_loopback_addresses_are_taken(address: str) -> None:
    """Port 0 is any free port."""
    port = int(address.rpartition(":")[2])

    assert load({"otlp_http": address}, {}).otlp_http.port == port


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("RT4CHART_SAMPLE_RATE", "1.5", "a number from 0 to 1"),
        ("RT4CHART_SAMPLE_RATE", "nan", "a number from 0 to 1"),
        ("RT4CHART_SAMPLE_RATE", "often", "a number from 0 to 1"),
        ("RT4CHART_OTLP_HTTP", "0.0.0.0:4318", "a loopback HOST:PORT"),
        ("RT4CHART_OTLP_HTTP", "example.com:4318", "a loopback HOST:PORT"),
        ("RT4CHART_OTLP_HTTP", "127.0.0.1", "a loopback HOST:PORT"),
        ("RT4CHART_OTLP_HTTP", "127.0.0.1:70000", "a loopback HOST:PORT"),
        ("RT4CHART_TTL_DAYS", "0", "days from 1"),
        ("RT4CHART_WORKERS", "2.5", "a number from 1 to 64"),
    ],
)
def test_bad_value_names_the_variable(variable: str, value: str, expected: str) -> None:
    """What was expected and what came are in the message."""
    with pytest.raises(SettingsError) as raised:
        load(environ={variable: value})

    assert str(raised.value).startswith(f"{variable}: expected {expected}")
    assert str(raised.value).endswith(f"got {value!r}")
