"""`rt4chart cluster` as processes: rounds, signals, and two at once."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from otel_rt4chart.cli import main
from otel_rt4chart.core.errors import StoreBusyError
from rt4chart_clustering.commands.cluster import StoppedError, format_result, run_grouping
from rt4chart_clustering.grouping.cluster_lock import LEASE_NS, RENEW_AFTER_NS, cluster_lock
from rt4chart_clustering.grouping.run import GroupingResult
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issues import list_issues
from tests.endpoint_server import EndpointServer, text
from tests.rt4chart_clustering.made import numbers, verdict

NOTHING = GroupingResult(0, 0, 0, 0, 0, 0, 0, 0)


class Times:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        """At some moment."""
        self.now_ns = 1_900_000_000_000_000_000

    def __call__(self) -> int:
        """The moment; a millisecond passes."""
        self.now_ns += 1_000_000
        return self.now_ns


def test_two_runs_do_not_overlap(client: Client) -> None:
    """The second asks a few times and is told of the first; afterwards it may."""
    clock = Times()
    waits: list[float] = []
    with (
        cluster_lock(client, clock=clock),
        pytest.raises(StoreBusyError, match=r"another .rt4chart cluster"),
        cluster_lock(client, clock=clock, wait=waits.append),
    ):
        raise AssertionError

    assert len(waits) == 3
    with cluster_lock(client, clock=clock):
        pass


def test_lease_is_prolonged_while_pages_come(client: Client) -> None:
    """A run may take longer than a lease; one that slept through it does not go on."""
    clock = Times()
    with cluster_lock(client, clock=clock) as prolong:
        for _ in range(8):
            clock.now_ns += RENEW_AFTER_NS
            prolong()
        with pytest.raises(StoreBusyError), cluster_lock(client, clock=clock, wait=lambda _: None):
            raise AssertionError

        clock.now_ns += LEASE_NS
        with cluster_lock(client, clock=clock), pytest.raises(StoreBusyError):
            prolong()


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (NOTHING, "No new failures"),
        (
            replace(NOTHING, failures=1, grouped=1, known=1),
            "1 new failure; 1 assigned to 1 issue (0",
        ),
        (replace(NOTHING, waiting=3, regressed=2, proposed=1), "2 regressed; 1"),
    ],
)
def test_outcome_in_words(outcome: GroupingResult, words: str) -> None:
    """Numbers agree with their nouns, and what did not happen is not told."""
    assert words in format_result(outcome)


def test_run_that_is_told_to_stop_does_between_pages(client: Client, dsn: str) -> None:
    """And it is nobody's turn then: the next one may run at once."""
    options = argparse.Namespace(dsn=dsn, since=3600, min_size=5, cause="command")
    stop, seen = threading.Event(), list[str]()
    now = [replace(one, time_ns=time.time_ns()) for one in numbers(5)]
    insert_verdicts(client, [verdict(one) for one in now])

    def show(what: str, _: int) -> None:
        seen.append(what)
        stop.set()

    with pytest.raises(StoppedError):
        run_grouping(options, stop, show)
    outcome = run_grouping(options, threading.Event(), show)

    assert seen[0] == "described"
    assert (outcome.new, outcome.grouped) == (1, 5)


def test_names_are_a_models_where_the_settings_say_so(
    client: Client, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RT4CHART_DISTILL=llm asks the judge's endpoint, and what it writes names the issue."""
    reply = {"title": "Values are told otherwise", "summary": "It is so."}
    now = [replace(one, time_ns=time.time_ns()) for one in numbers(5)]
    insert_verdicts(client, [verdict(one) for one in now])
    with EndpointServer([text(json.dumps(reply))]) as server:
        monkeypatch.setenv("RT4CHART_DISTILL", "llm")
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "k")

        assert main(["cluster", "--dsn", dsn]) == 0

    (issue,) = list_issues(client)
    assert (issue.title, issue.summary) == ("Values are told otherwise · billing", "It is so")
    assert len(server.chats) == 1


@pytest.mark.parametrize(
    ("name", "value", "others"),
    [
        ("RT4CHART_EMBEDDER", "both", {}),
        ("RT4CHART_MARKS", "both", {}),
        ("RT4CHART_DISTILL", "both", {}),
        ("RT4CHART_JUDGE_TIMEOUT_S", "long", {"RT4CHART_DISTILL": "llm"}),
    ],
)
def test_wrong_setting_is_refused_at_the_start(
    name: str,
    value: str,
    others: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With status 2 and its name, before a database is made."""
    for key, given in {name: value, **others}.items():
        monkeypatch.setenv(key, given)

    assert main(["cluster", "--dsn", f"chdb://{tmp_path}/db"]) == 2

    assert name in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.fixture
def started(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """The command in rounds, over an empty database."""
    rt4chart, dsn = [sys.executable, "-m", "otel_rt4chart"], ["--dsn", f"chdb://{tmp_path}/db"]
    subprocess.run([*rt4chart, "migrate", *dsn], check=True, capture_output=True)
    with subprocess.Popen(
        [*rt4chart, "cluster", "--every", "1m", "--json", *dsn],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        yield process
        process.kill()


@pytest.mark.e2e
def test_rounds_end_with_a_sigterm(started: subprocess.Popen[str]) -> None:
    """The first round prints its outcome; the signal ends the wait for the next one."""
    assert started.stdout is not None
    assert json.loads(started.stdout.readline())["new"] == 0

    started.send_signal(signal.SIGTERM)

    # The next round is a minute away.
    assert started.wait(timeout=30) == 0


@pytest.mark.e2e
def test_round_that_fails_is_logged(tmp_path: Path) -> None:
    """A database that does not exist fails the round, and the next is waited for."""
    command = [sys.executable, "-m", "otel_rt4chart", "cluster", "--every", "1m"]
    with subprocess.Popen(
        [*command, "--dsn", f"chdb://{tmp_path}/db"], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        lines = [process.stderr.readline() for _ in range(2)]
        process.terminate()
        process.wait(timeout=20)

    assert "expected a database in this folder, found none" in lines[0]
    assert "a run failed with exit status 2; the next one starts at its time" in lines[1]
