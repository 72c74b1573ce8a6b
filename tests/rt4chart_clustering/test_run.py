"""A run of the grouping against the store, and the commands on top of it."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from otel_rt4chart.cli import Command, main
from otel_rt4chart.commands.period import period_s
from rt4chart_clustering import settings
from rt4chart_clustering.commands.cluster import COMMAND as CLUSTER
from rt4chart_clustering.commands.issues import COMMAND as ISSUES
from rt4chart_clustering.embed import HashingEmbedder
from rt4chart_clustering.run import Outcome, run
from rt4chart_collector.store.connect import Client, connect
from rt4chart_collector.store.failures import Failure
from rt4chart_collector.store.issues import insert_issues, list_issues, member_keys
from rt4chart_collector.store.migrate import migrate
from rt4chart_collector.store.verdicts import insert_verdicts
from tests.rt4chart_clustering.made import NOON, SECOND, added, failure, numbers, verdict

LATER = NOON + 3600 * SECOND


def store(client: Client, failures: list[Failure]) -> None:
    """Write the verdicts that hold these failures."""
    insert_verdicts(client, [verdict(one) for one in failures])


def grouped(client: Client, *, now_ns: int = LATER) -> Outcome:
    """Run once over everything."""
    return run(client, HashingEmbedder(), since_ns=0, now_ns=now_ns, min_size=5)


def test_run_writes_issues_with_their_members(client: Client) -> None:
    """Failures become named issues; noise and what the rules do not explain are counted."""
    store(client, [*numbers(7), *added()])

    outcome = grouped(client)

    assert outcome == Outcome(failures=19, grouped=13, unexplained=12, new=2, known=0)
    first, second = list_issues(client)
    assert first.title == "Number differs from the source · billing · 7 claims"
    assert first.status == "open"
    assert second.fingerprint == "fp1:baseless:addition"
    assert len(member_keys(client, first, limit=99)) == 7
    assert (first.first_ns, first.last_ns) == (NOON, NOON)


def test_second_run_finds_the_same_issues(client: Client) -> None:
    """Nothing new comes of the same failures: ids, members and counts stay."""
    store(client, [*numbers(7), *added()])
    grouped(client)
    before = list_issues(client)

    outcome = grouped(client, now_ns=LATER + SECOND)

    after = list_issues(client)
    assert (outcome.new, outcome.known) == (0, 2)
    assert [replace(one, run="") for one in after] == [replace(one, run="") for one in before]
    rows = client.query("SELECT count() FROM rt4chart_issue_members FINAL").result_rows
    assert rows == [(13,)]


def test_new_failures_join_the_issue(client: Client) -> None:
    """More of the same raises the count, and leaves the status that a person set."""
    store(client, numbers(5))
    grouped(client)
    (issue,) = list_issues(client)
    insert_issues(client, [replace(issue, status="ack")], version=LATER + 1)

    store(client, numbers(3, first=30))
    outcome = grouped(client, now_ns=LATER + SECOND)

    (after,) = list_issues(client)
    assert (outcome.new, outcome.known) == (0, 1)
    assert (after.id, after.status, after.claims) == (issue.id, "ack", 8)


def test_empty_database_groups_to_nothing(client: Client) -> None:
    """No failures are no error."""
    assert grouped(client) == Outcome(failures=0, grouped=0, unexplained=0, new=0, known=0)


@pytest.fixture
def dsn(store_dsn: str) -> Iterator[str]:
    """The embedded database as a command sees it, empty before and after."""
    yield store_dsn
    with connect(store_dsn) as client:
        client.command(f"DROP DATABASE {client.database}")


def call(command: Command, *arguments: str) -> int:
    """Run a subcommand as the command line would."""
    parser = argparse.ArgumentParser()
    command.configure(parser)
    return command.run(parser.parse_args(arguments))


def test_commands_on_an_empty_database_say_what_to_do(
    dsn: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """There is a sentence, not an empty screen, and it is no failure."""
    assert call(ISSUES, "--dsn", dsn) == 0
    assert capsys.readouterr().out == (
        "No issues. `rt4chart cluster` groups the failures that are there.\n"
    )
    assert call(CLUSTER, "--dsn", dsn) == 0
    assert "nothing to group" in capsys.readouterr().out


def test_commands_group_and_show(dsn: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`cluster` counts, `issues` lists, and an id shows claims with evidence and passage."""
    now = time.time_ns()
    recent = [replace(one, time_ns=now) for one in numbers(5)]
    with connect(dsn) as client:
        migrate(client)
        store(client, recent)

    assert call(CLUSTER, "--dsn", dsn, "--json") == 0
    assert json.loads(capsys.readouterr().out)["new"] == 1
    assert call(ISSUES, "--dsn", dsn, "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["claims"], row["status"]) == (5, "open")
    assert call(ISSUES, "--dsn", dsn, "--route", "nowhere", "--json") == 0
    assert json.loads(capsys.readouterr().out) == []
    assert call(ISSUES, row["id"], "--dsn", dsn) == 0
    shown = capsys.readouterr().out
    assert "Number differs from the source · billing · 5 claims" in shown
    assert "passage   p1: The " in shown


def test_shown_text_cannot_steer_the_terminal(dsn: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Escape sequences of claims, passages and routes are not printed."""
    now = time.time_ns()
    claims = [f"It lasts {at} \x1b[2Jdays." for at in range(20, 25)]
    evil = [
        failure(at, claim, "It lasts 14 \x1bdays.", route="\x1b]0;x")
        for at, claim in enumerate(claims)
    ]
    with connect(dsn) as client:
        migrate(client)
        store(client, [replace(one, time_ns=now) for one in evil])
    call(CLUSTER, "--dsn", dsn)
    call(ISSUES, "--dsn", dsn)
    call(ISSUES, f"{_only_id(dsn):016x}", "--dsn", dsn)

    assert "\x1b" not in capsys.readouterr().out


def _only_id(dsn: str) -> int:
    with connect(dsn) as client:
        (issue,) = list_issues(client)
    return issue.id


@pytest.mark.parametrize(
    "arguments", [("issues", "--dsn", "nonsense"), ("cluster", "--dsn", "mysql://x")]
)
def test_wrong_dsn_is_an_error_of_use(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """A database that cannot be named ends with status 2 and the variable's name."""
    assert main(arguments) == 2
    assert "RT4CHART_DSN" in capsys.readouterr().err


def test_unknown_issue_is_an_error_of_use(dsn: str, capsys: pytest.CaptureFixture[str]) -> None:
    """An id that is not there is named, with where to find the right ones."""
    assert main(["issues", "zz\x1b", "--dsn", dsn]) == 2
    assert capsys.readouterr().err.endswith("rt4chart issues lists them), got 'zz\\x1b'\n")


@pytest.mark.parametrize(("text", "seconds"), [("90m", 5400), ("24h", 86_400), ("7d", 604_800)])
def test_period_is_read_with_its_unit(text: str, seconds: int) -> None:
    """Minutes, hours and days."""
    assert period_s(text) == seconds


@pytest.mark.parametrize("text", ["", "7", "d", "-1d", "1e9d", "7 weeks"])
def test_period_that_is_none_is_refused(text: str) -> None:
    """The message shows what a time looks like."""
    with pytest.raises(argparse.ArgumentTypeError, match="90m, 24h or 7d"):
        period_s(text)


def test_dsn_comes_from_the_environment() -> None:
    """The variable wins over the default, which lies in the user's data folder."""
    assert settings.dsn({"RT4CHART_DSN": "http://h/db"}) == "http://h/db"
    assert settings.dsn({"XDG_DATA_HOME": "/x"}) == "chdb:///x/rt4chart/db"
