"""`rt4chart answers`, from the command line to what is printed."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

from otel_rt4chart.cli import main
from otel_rt4chart.verify.core.model import Label
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.records import SECOND, verdict

HOUR = 3600 * SECOND


@pytest.fixture
def filled(client: Client) -> None:
    """Two answers of the last hours on two routes, and one of two days ago."""
    now = time.time_ns()
    insert_verdicts(
        client,
        [
            verdict(1, [Label.CONTRADICTED], route="refunds", start_ns=now - HOUR),
            verdict(2, route="search", start_ns=now - 2 * HOUR),
            verdict(3, route="refunds", start_ns=now - 48 * HOUR),
        ],
    )


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize(
    ("options", "found"),
    [
        ([], [1, 2]),
        (["--filter", "route:REFUND"], [1]),
        (["--filter=-route:refund"], [2]),
        (["--filter", "status:undecided days", "--since", "7d"], [1, 2, 3]),
        (["--filter", f"{3:032x}"], [3]),
        (["--limit", "1"], [1]),
        (["--filter", "nowhere"], []),
    ],
)
def test_answers_are_listed_by_a_filter(
    dsn: str, capsys: pytest.CaptureFixture[str], options: list[str], found: list[int]
) -> None:
    """The newest first, of the last 24 hours; a trace is found at any time."""
    assert main(["answers", "--dsn", dsn, "--json", *options]) == 0

    rows = json.loads(capsys.readouterr().out)
    assert [row["trace_id"] for row in rows] == [f"{number:032x}" for number in found]


@pytest.mark.usefixtures("filled")
def test_the_list_is_read_by_people_too(dsn: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With what was found, and how to see more."""
    assert main(["answers", "--dsn", dsn, "--filter", '"14 days"', "--limit", "1"]) == 0

    told = capsys.readouterr().out
    assert "It is 14 days." in told
    assert "There are more than 1: --limit N" in told


def test_an_unknown_key_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """With the keys that there are, before the database is opened."""
    with pytest.raises(SystemExit):
        main(["answers", "--filter", "state:new"])

    assert (
        "expected one of the keys route, service, tenant, verdict, status"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize("command", ["answers", "report", "compare"])
def test_a_command_reads_one_tenant(
    client: Client, dsn: str, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    """With `--tenant`, nothing of the others is printed."""
    now = time.time_ns()
    for number, service in enumerate(("~acme/shop", "~zeta/shop", "shop"), 1):
        for release in ("1", "2"):
            one = verdict(number * 10 + int(release), start_ns=now - HOUR)
            given = replace(one.candidate, service=service, release=f"{service} {release}")
            insert_verdicts(client, [replace(one, candidate=given)])
    options = [] if command != "compare" else ["~acme/shop 1", "~acme/shop 2"]

    assert main([command, *options, "--dsn", dsn, "--json", "--tenant", "acme"]) == 0
    found = capsys.readouterr().out
    assert "~acme/shop" in found
    assert "zeta" not in found
    assert '"shop' not in found
