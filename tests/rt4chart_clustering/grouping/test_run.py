"""A run of the grouping against the store, and the commands on top of it."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from otel_rt4chart.cli import main
from otel_rt4chart.core.arguments import parse_duration_s
from otel_rt4chart.core.settings import load
from otel_rt4chart.verify.core.model import Label
from rt4chart_clustering.core.settings import ClusteringSettings
from rt4chart_clustering.description import describe
from rt4chart_clustering.description.describe import FINGERPRINT_VERSION
from rt4chart_clustering.description.embedding import HashingEmbedder, Matrix
from rt4chart_clustering.grouping.assign_failures import PATTERN_SAMPLE
from rt4chart_clustering.grouping.engine import HdbscanGrouping
from rt4chart_clustering.grouping.issue_state import IssueAction
from rt4chart_clustering.grouping.run import GroupingResult, group_failures
from rt4chart_clustering.triage.actions import change_state
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.failures import Failure
from rt4chart_collector.store.issues.issue_events import IssueEvent, events_of, record_events
from rt4chart_collector.store.issues.issues import list_issues, member_keys, stored_issues
from rt4chart_collector.store.issues.memberships import memberships_of, related_issues
from tests.rt4chart_clustering.made import NOON, SECOND, added, failure, numbers, verdict

LATER = NOON + 3600 * SECOND
NOTHING_NEW = GroupingResult(
    failures=0, grouped=0, waiting=6, unexplained=0, new=0, known=0, regressed=0, proposed=0
)


def store(client: Client, failures: list[Failure]) -> None:
    """Write the verdicts that hold these failures."""
    insert_verdicts(client, [verdict(one) for one in failures])


def grouped(client: Client, *, now_ns: int = LATER) -> GroupingResult:
    """Run once over everything."""
    return group_failures(client, HashingEmbedder(), HdbscanGrouping(), since_ns=0, now_ns=now_ns)


def rows(client: Client) -> list[int]:
    """How many rows each table of grouping has, doubles too."""
    return [
        client.query(f"SELECT count() FROM {table}").result_rows[0][0]  # noqa: S608 - our own names
        for table in (
            "rt4chart_failure_embeddings",
            "rt4chart_issue_assignments",
            "rt4chart_issue_memberships",
            "rt4chart_issues",
            "rt4chart_issue_events",
        )
    ]


def test_run_writes_issues_with_their_failures(client: Client) -> None:
    """Failures become named issues; what is in none is told, and what the rules do not explain."""
    store(client, [*numbers(7), *added()])

    outcome = grouped(client)

    assert outcome == GroupingResult(
        failures=19, grouped=13, waiting=6, unexplained=12, new=2, known=0, regressed=0, proposed=0
    )
    first, second = list_issues(client)
    assert first.title == "Number not as in the source · billing"
    assert (first.state, first.claims, first.weighted) == ("new", 7, 7.0)
    assert second.fingerprint == f"{FINGERPRINT_VERSION}:baseless:prior_knowledge"
    assert len(member_keys(client, first, limit=99)) == 7
    assert (first.first_ns // SECOND, first.last_ns // SECOND) == (NOON // SECOND, NOON // SECOND)
    assert len(first.example_traces) == 4
    assert [event.kind for event in events_of(client, first.id)] == ["born", "state", "titled"]


def test_run_measures_how_much_each_failure_belongs_to_each_issue(client: Client) -> None:
    """Failures of a clear pattern belong to its issue; a later verdict makes the figure stale."""
    given = [*numbers(7), *added()]
    store(client, given)

    grouped(client)

    slips, additions = list_issues(client)
    found = memberships_of(client, [one.key for one in given])
    assert len(found) == slips.claims + additions.claims
    for one in given[:7]:
        assert found[one.key].issues[0] == slips.id
        assert found[one.key].shares[0] > 0.5
    assert next(one.issue for one in related_issues(client, additions.ids)) == additions.id

    store(client, [replace(given[0], claim="The trial lasts 99 days.", version=NOON)])
    grouped(client, now_ns=LATER + SECOND)

    again = memberships_of(client, [given[0].key])[given[0].key]
    assert again.description_version > found[given[0].key].description_version


def test_second_run_changes_nothing(client: Client) -> None:
    """Nothing new comes of the same failures: no row, no event, no id."""
    store(client, [*numbers(7), *added()])
    grouped(client)
    before = (list_issues(client), stored_issues(client), rows(client))

    outcome = grouped(client, now_ns=LATER + SECOND)

    assert outcome == NOTHING_NEW
    assert (list_issues(client), stored_issues(client), rows(client)) == before


def test_new_failures_join_the_issue(client: Client) -> None:
    """More of the same raises the count, and leaves the state that a person set."""
    store(client, numbers(5))
    grouped(client)
    (issue,) = list_issues(client)
    record_events(client, [IssueEvent(issue.id, LATER + 9, "state", "acknowledged", actor="ann")])

    store(client, numbers(3, first=30))
    outcome = grouped(client, now_ns=LATER + SECOND)

    (after,) = list_issues(client)
    assert (outcome.new, outcome.known, outcome.grouped) == (0, 1, 3)
    assert (after.id, after.state, after.claims) == (issue.id, "acknowledged", 8)
    assert after.title == issue.title


def test_failure_keeps_its_issue_when_it_is_judged_anew(client: Client) -> None:
    """With the same outcome it counts once, in the same place; with another it leaves."""
    found = numbers(6)
    store(client, found)
    grouped(client)
    (issue,) = list_issues(client)

    insert_verdicts(client, [verdict(found[0], version=2)])
    insert_verdicts(client, [verdict(replace(found[1], label=Label.ENTAILED), version=2)])
    grouped(client, now_ns=LATER + SECOND)

    (after,) = list_issues(client)
    assert (after.id, after.claims) == (issue.id, 5)


def test_noise_is_looked_at_again(client: Client) -> None:
    """Too few for an issue wait; with more of their kind they become one."""
    one, other = added()[:3], added()[3:6]
    store(client, one)
    assert grouped(client).waiting == 3

    store(client, other)
    outcome = grouped(client, now_ns=LATER + SECOND)

    assert (outcome.failures, outcome.grouped, outcome.new, outcome.waiting) == (3, 6, 1, 0)


def test_resolved_issue_regresses_with_a_later_failure(client: Client) -> None:
    """Not with what was found late of the time before, and once."""
    store(client, numbers(5))
    grouped(client, now_ns=NOON + 20)
    (issue,) = list_issues(client)
    record_events(client, [IssueEvent(issue.id, NOON + 50, "state", "resolved", actor="ann")])

    store(client, numbers(1, first=40))
    assert grouped(client, now_ns=LATER + 1).regressed == 0
    store(client, numbers(1, first=60))
    assert grouped(client, now_ns=LATER + 2).regressed == 1

    assert [one.state for one in list_issues(client)] == ["regressed"]
    assert grouped(client, now_ns=LATER + 3).regressed == 0
    assert events_of(client, issue.id)[-1].actor == "rt4chart"


def store_release(client: Client, found: list[Failure], release: str) -> None:
    """Write the verdicts that hold these failures, of answers of this release."""
    made = [verdict(one) for one in found]
    insert_verdicts(
        client,
        [replace(one, candidate=replace(one.candidate, release=release)) for one in made],
    )


def test_issue_resolved_in_a_release_regresses_in_it_or_in_a_later_one(client: Client) -> None:
    """Instances of the release before may answer for a while; a later one has the fix too."""
    soon = [replace(one, time_ns=NOON + 900 * SECOND) for one in numbers(3, first=40)]
    store_release(client, numbers(5), "1.0")
    grouped(client, now_ns=NOON + 20)
    (issue,) = list_issues(client)
    at_ns = NOON + 600 * SECOND
    change_state(client, issue, IssueAction.RESOLVE, actor="ann", at_ns=at_ns, release="1.1")

    store_release(client, soon[:1], "1.0")
    assert grouped(client, now_ns=LATER + 1).regressed == 0
    assert [one.state for one in list_issues(client)] == ["resolved"]

    store_release(client, soon[1:2], "1.2")
    assert grouped(client, now_ns=LATER + 2).regressed == 1


def test_release_of_the_minutes_of_the_decision_is_a_later_one(client: Client) -> None:
    """It is deployed when the issue is resolved, as often as not a moment before."""
    store_release(client, numbers(5), "1.0")
    grouped(client, now_ns=NOON + 20)
    (issue,) = list_issues(client)
    at_ns = NOON + 660 * SECOND
    change_state(client, issue, IssueAction.RESOLVE, actor="ann", at_ns=at_ns, release="1.1")
    store_release(client, [replace(numbers(1, first=40)[0], time_ns=at_ns - SECOND)], "1.2")
    store_release(client, [replace(numbers(1, first=41)[0], time_ns=at_ns + SECOND)], "1.2")

    assert grouped(client, now_ns=LATER).regressed == 1


@pytest.mark.parametrize("release", ["1.1", ""])
def test_issue_resolved_in_a_release_regresses_in_it_or_in_an_unknown_one(
    client: Client, release: str
) -> None:
    """An answer that does not say its release may be of this one."""
    store_release(client, numbers(5), "1.0")
    grouped(client, now_ns=NOON + 20)
    (issue,) = list_issues(client)
    at_ns = NOON + 600 * SECOND
    change_state(client, issue, IssueAction.RESOLVE, actor="ann", at_ns=at_ns, release="1.1")

    late = [replace(one, time_ns=NOON + 900 * SECOND) for one in numbers(1, first=40)]
    store_release(client, late, release)

    assert grouped(client, now_ns=LATER).regressed == 1


def test_ignored_issue_stays_ignored(client: Client) -> None:
    """It goes on counting, and nothing else."""
    store(client, numbers(5))
    grouped(client)
    (issue,) = list_issues(client)
    record_events(client, [IssueEvent(issue.id, LATER + 9, "state", "ignored", actor="ann")])

    store(client, numbers(2, first=40))
    grouped(client, now_ns=LATER + SECOND)

    assert [(one.state, one.claims) for one in list_issues(client)] == [("ignored", 7)]


def test_title_is_made_anew_at_growth_points(client: Client) -> None:
    """At ten claims, by an event, and the issue is open then."""
    store(client, numbers(5))
    grouped(client)
    (issue,) = list_issues(client)
    store(client, numbers(4, first=40))
    grouped(client, now_ns=LATER + 1)
    store(client, numbers(1, first=60))
    grouped(client, now_ns=LATER + 2)
    titled = [event for event in events_of(client, issue.id) if event.kind == "titled"]
    assert [event.note for event in titled] == ["5", "10"]
    assert [one.state for one in list_issues(client)] == ["open"]


def test_pattern_waits_for_as_many_as_were_asked_for(client: Client) -> None:
    """However many that is: enough of them are kept to make an issue."""
    least = PATTERN_SAMPLE + 1
    store(client, numbers(least))

    outcome = group_failures(
        client, HashingEmbedder(), HdbscanGrouping(least), since_ns=0, now_ns=LATER
    )

    assert (outcome.new, outcome.grouped, outcome.waiting) == (1, least, 0)


def test_run_that_is_broken_off_goes_on(client: Client) -> None:
    """Stopped at any place, the next run ends where an unbroken one would have."""
    made = [*numbers(7), *added()]
    store(client, made)
    told = set[str]()

    for stop in range(1, 19):
        steps = count(1)

        def on_progress(
            what: str, _: int, *, steps: Iterator[int] = steps, stop: int = stop
        ) -> None:
            told.add(what)
            if next(steps) == stop:
                raise InterruptedError

        with suppress(InterruptedError):
            group_failures(
                client,
                HashingEmbedder(),
                HdbscanGrouping(),
                since_ns=0,
                now_ns=LATER,
                on_progress=on_progress,
            )
    grouped(client)

    assert [issue.claims for issue in list_issues(client)] == [7, 6]
    assert all(issue.title for issue in list_issues(client))
    assert told == {"described", "assigned", "grouped", "read for titles"}
    assert grouped(client, now_ns=LATER + 1) == NOTHING_NEW


def test_rules_of_another_version_make_no_other_issue(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is described by newer rules joins the issue of its pattern, or of what it says."""
    store(client, [*numbers(5), *added()[:6]])
    with monkeypatch.context() as patched:
        patched.setattr(describe, "FINGERPRINT_VERSION", "fp0")
        grouped(client)
    before = list_issues(client)
    store(client, [*numbers(7, first=50), *added(first=300)[:2]])

    outcome = grouped(client, now_ns=LATER + 1)

    after = {one.id: one for one in list_issues(client)}
    assert (outcome.new, outcome.waiting, outcome.proposed) == (0, 0, 0)
    assert {one.fingerprint.partition(":")[0] for one in before} == {"fp0"}
    assert [after[one.id].claims - one.claims for one in before] == [2, 7]


class Turned(HashingEmbedder):
    """Another space, in which nothing lies where it lay."""

    id = "turned/1"

    def embed(self, texts: Sequence[str]) -> Matrix:
        """The same rows, other way round."""
        return np.ascontiguousarray(super().embed(texts)[:, ::-1])


def test_another_embedder_makes_no_other_issue(client: Client) -> None:
    """New failures join the clusters that were found in the former space."""
    store(client, [*numbers(5), *added()[:6]])
    grouped(client)
    before = {one.id for one in list_issues(client)}
    store(client, [*numbers(2, first=50), *added(first=300)[:6]])

    outcome = group_failures(client, Turned(), HdbscanGrouping(), since_ns=0, now_ns=LATER + 1)

    assert (outcome.new, outcome.proposed) == (0, 0)
    assert {one.id: one.claims for one in list_issues(client)}.keys() == before
    assert sorted(one.claims for one in list_issues(client)) == [7, 12]
    assert {one.model for one in list_issues(client) if one.claims == 12} == {"turned/1"}


def test_empty_database_groups_to_nothing(client: Client) -> None:
    """No failures are no error."""
    assert grouped(client) == replace(NOTHING_NEW, waiting=0)


def test_commands_on_an_empty_database_say_what_to_do(
    client: Client, dsn: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """There is a sentence, not an empty screen, and it is no failure."""
    assert main(["issues", "--dsn", dsn]) == 0
    assert capsys.readouterr().out == (
        "No issues yet. `rt4chart up` groups failures every 15 minutes, `rt4chart cluster` now; an "
        "issue needs several similar failures (--min-size).\n"
        "not grouped yet; 0 failures in no issue yet\n"
    )
    assert main(["cluster", "--dsn", dsn]) == 0
    assert "No new failures" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["issues"], ["evalset", "list"], ["cluster"], ["alerts"]])
def test_a_missing_database_is_an_error_and_is_not_created(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A mistyped DSN must not look like a database without issues."""
    path = tmp_path / "mistyped"

    assert main([*words, "--dsn", f"chdb://{path}"]) == 2

    assert capsys.readouterr().err == (
        f"rt4chart {words[0]}: chdb://{path}: expected a database in this folder, found none; "
        "`rt4chart up` creates one; --dsn or RT4CHART_DSN names another\n"
    )
    assert not path.exists()


def test_a_database_without_our_tables_is_an_error(
    client: Client, dsn: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is created in the database of another program."""
    client.command("DROP TABLE rt4chart_issues")

    assert main(["issues", "--dsn", dsn]) == 2

    assert "has no table rt4chart_issues: expected a database" in capsys.readouterr().err


def test_commands_group_and_show(
    client: Client, dsn: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """`cluster` counts, `issues` lists, and an id shows claims with evidence and passage."""
    now = time.time_ns()
    recent = [replace(one, time_ns=now) for one in numbers(5)]
    store(client, recent)

    assert main(["cluster", "--dsn", dsn, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["new"] == 1
    assert main(["issues", "--dsn", dsn, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["claims"] == 5
    assert main(["issues", "--dsn", dsn, "--route", "nowhere", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert main(["issues", row["id"], "--dsn", dsn]) == 0
    shown = capsys.readouterr().out
    assert "Number not as in the source · billing" in shown
    assert "contradicts  p1: The " in shown


def test_shown_text_cannot_steer_the_terminal(
    client: Client, dsn: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Escape sequences of claims, passages and routes are not printed."""
    now = time.time_ns()
    claims = [f"It lasts {at} \x1b[2Jdays." for at in range(20, 25)]
    evil = [
        failure(at, claim, "It lasts 14 \x1bdays.", route="\x1b]0;x")
        for at, claim in enumerate(claims)
    ]
    store(client, [replace(one, time_ns=now) for one in evil])
    main(["cluster", "--dsn", dsn])
    main(["issues", "--dsn", dsn])
    (issue,) = list_issues(client)
    main(["issues", f"{issue.id:016x}", "--dsn", dsn])

    assert "\x1b" not in capsys.readouterr().out


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
    assert parse_duration_s(text) == seconds


@pytest.mark.parametrize("text", ["", "7", "d", "-1d", "1e9d", "7 weeks"])
def test_period_that_is_none_is_refused(text: str) -> None:
    """The message shows what a time looks like."""
    with pytest.raises(argparse.ArgumentTypeError, match="90m, 24h or 7d"):
        parse_duration_s(text)


def test_dsn_comes_from_the_environment() -> None:
    """The variable wins over the default, which lies in the user's data folder."""
    named, unset = {"RT4CHART_DSN": "http://h/db"}, {"XDG_DATA_HOME": "/x"}

    assert load(ClusteringSettings, environ=named).dsn == "http://h/db"
    assert load(ClusteringSettings, environ=unset).dsn == "chdb:///x/rt4chart/db"
