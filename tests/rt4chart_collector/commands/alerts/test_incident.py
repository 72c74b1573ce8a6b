"""`rt4chart alerts show`, `assign` and `link` of an alert on a risen rate."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest

from otel_rt4chart.cli import main
from rt4chart_collector.core.alerts.alert import Alert
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.incident.rises import HOUR, MINUTE, Rise

Run = Callable[..., int]


@pytest.fixture
def run(dsn: str) -> Run:
    """`rt4chart alerts` on the test's database."""
    return lambda *argv: main(["alerts", "--dsn", dsn, *argv])


def risen(client: Client) -> Alert:
    """A bad release of five hours ago."""
    since_ns = time.time_ns() // HOUR * HOUR - 5 * HOUR
    releases = ((since_ns - 24 * HOUR, "2.3.0"), (since_ns, "2.4.0"))
    return Rise(since_ns, lasts_ns=5 * HOUR, every_ns=10 * MINUTE, releases=releases).fill(client)


def test_a_terminal_has_what_the_page_has(
    client: Client, run: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    alert = risen(client)

    assert run("show", alert.id) == 0

    told = capsys.readouterr().out
    words = " ".join(told.split())
    assert max(map(len, told.splitlines())) <= 80
    for part in (
        "no owner",
        "Nobody was notified",
        "the rise began between",
        "evidence strong",
        "changed: release 2.3.0 → 2.4.0",
        "roll back 2.4.0 replaced release 2.3.0.",
        "model as before: m-1",
        "question How long is the trial of plan",
        "before The trial lasts 14 days. (0 of",
        "since The trial lasts 30 days.",
        "“30 days”, the passages have “14 days”",
        "detected critical",
    ):
        assert part in words, part


def test_json_has_every_figure(
    client: Client, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """The steps of the rate, the changes, the roll-back and the whole answers."""
    assert run("show", risen(client).id, "--json") == 0

    found = json.loads(capsys.readouterr().out)["incident"]
    assert sum(step["claims"] for step in found["rate"]["steps"]) > 30
    assert [one["value"] for one in found["changed"]] == ["2.4.0"]
    assert found["roll_back"]["to"] == "2.3.0"
    assert found["roll_back"]["is_better"] is True
    (pair,) = found["questions"]["pairs"]
    assert pair["before"]["answer"] == "The trial lasts 14 days."
    (failed,) = pair["since"]["failed"]
    assert failed["evidence"][0]["text"] == "The trial lasts 14 days."


def test_people_take_an_alert_and_link_its_ticket(
    client: Client, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """With who did it; a ticket is taken back with --remove."""
    alert, url = risen(client), "https://tickets.example.com/1"

    assert run("assign", alert.id[:6], "--owner", "ben", "--by", "ann") == 0
    assert run("link", alert.id[:6], url, "--by", "ann") == 0
    assert run("show", alert.id) == 0
    told = capsys.readouterr().out
    assert "owner ben" in told
    assert f"ticket linked {url} by ann" in told
    assert run("link", alert.id, url, "--remove") == run("assign", alert.id, "--owner", "") == 0
    assert run("list", "--json") == 0
    text = capsys.readouterr().out
    assert '"tickets": []' in text
    assert run("link", alert.id, "ticket 5") == 2
    assert "expected the http or https address" in capsys.readouterr().err
