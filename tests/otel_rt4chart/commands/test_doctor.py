from __future__ import annotations

import json
from pathlib import Path

import pytest

from otel_rt4chart.cli import main
from otel_rt4chart.commands import doctor
from otel_rt4chart.commands.doctor import Check, core_checks


def test_the_core_checks_pass_where_everything_is_installed() -> None:
    """Python, settings, extras and one verified answer."""
    checks = {check.name: check.state for check in core_checks()}

    assert checks == {
        "python": "ok",
        "settings": "ok",
        "extra [collector]": "ok",
        "extra [clustering]": "ok",
        "extra [local]": "ok",
        "judge local": "ok",
    }


def test_a_wrong_variable_is_named_with_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wrong, what was expected, what to do."""
    monkeypatch.setenv("RT4CHART_SAMPLE_RATE", "2")

    (check,) = [check for check in core_checks() if check.name == "settings"]

    assert check.state == "failed"
    assert "expected a number from 0 to 1, got 2.0" in check.detail
    assert "RT4CHART_SAMPLE_RATE" in check.detail
    assert check.fix


def test_a_missing_extra_comes_with_the_command_that_brings_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Missing is not failed: an application needs no database client."""
    monkeypatch.setitem(doctor.EXTRAS, "clustering", ("no_such_module",))

    (check,) = [check for check in core_checks() if check.name == "extra [clustering]"]

    assert check == Check(
        "extra [clustering]",
        "missing",
        "no_such_module not installed",
        "pip install 'otel-rt4chart[clustering]'",
    )


def test_a_wrong_dsn_fails_the_doctor_without_showing_the_password(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The service's checks are run too, and no secret is printed."""
    monkeypatch.setenv("RT4CHART_DSN", "postgres://me:s3cret@host/db")

    status = main(["doctor", "--json"])

    out = capsys.readouterr().out
    assert status == 1
    assert "s3cret" not in out
    (failed,) = [check for check in json.loads(out) if check["state"] == "failed"]
    assert "chdb:///absolute/path" in failed["detail"]


def test_a_locked_or_fresh_database_is_told_apart_from_a_fault(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], store_dsn: str
) -> None:
    """The database that this process may open answers with its version."""
    monkeypatch.setenv("RT4CHART_DSN", store_dsn)
    monkeypatch.setenv("RT4CHART_OTLP_HTTP", "127.0.0.1:0")

    assert main(["doctor"]) == 0
    assert "ClickHouse" in capsys.readouterr().out
    assert Path(store_dsn.removeprefix("chdb://")).exists()
