"""`rt4chart issues`, from the command line to what is written and printed."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from otel_rt4chart.cli import main
from rt4chart_clustering.grouping.open_proposals import PROPOSED_MERGE, PROPOSED_SPLIT
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issue_events import IssueEvent, events_of, record_events
from tests.rt4chart_clustering.issues import FIRST, SECOND_ID, store_issue
from tests.rt4chart_clustering.made import SECOND, added, numbers

DAY = 86_400 * SECOND
Issues = Callable[..., str]


@pytest.fixture
def two(client: Client) -> Client:
    """An issue of eight failures on one route, and one of three on another, now."""
    now = time.time_ns()
    first = [replace(one, time_ns=now - at * DAY) for at, one in enumerate(numbers(8))]
    second = [replace(one, time_ns=now, route="trial") for one in added()[:3]]
    store_issue(client, first, sample_rate=0.1)
    store_issue(client, second, number=SECOND_ID, title="Added to the source")
    return client


@pytest.fixture
def issues(dsn: str, capsys: pytest.CaptureFixture[str]) -> Issues:
    """Runs `rt4chart issues …` and returns what it printed; the status must be the one given."""

    def run(*words: str, status: int = 0) -> str:
        assert (
            main(["issues", *words, "--dsn", dsn] if words else ["issues", "--dsn", dsn]) == status
        )
        told = capsys.readouterr()
        return told.out if status == 0 else told.err

    return run


def listed(issues: Issues, *words: str) -> list[dict[str, Any]]:
    """The list for machines."""
    found: list[dict[str, Any]] = json.loads(issues("list", *words, "--json"))
    return found


def last(client: Client) -> tuple[str, str, str, str]:
    """The last event of the first issue: who, what, which, why."""
    event = events_of(client, FIRST)[-1]
    return event.actor, event.kind, event.value, event.note


def test_the_list_is_by_severity_with_weighted_traffic(two: Client, issues: Issues) -> None:
    """Eight failures that stand for eighty; the one that is older than a week counts no more."""
    first, second = listed(issues)

    assert (first["id"], first["claims"], first["state"]) == (f"{FIRST:016x}", 8, "new")
    assert first["daily"] == [10.0] * 7
    assert (first["a_day"], first["share"], first["weighted"]) == (10.0, 1.0, 80.0)
    assert (first["severity"], first["score"]) == ("critical", 76.0)
    assert (second["severity"], second["daily"][-1]) == ("high", 3.0)
    table = issues()
    assert table.index("Number not as") < table.index("Added to the source")
    assert "███████" in table
    assert issues("list") == table


def test_the_list_can_be_narrowed(two: Client, issues: Issues) -> None:
    """By route, state and time; what is closed is left out unless it is asked for."""
    issues("resolve", f"{FIRST:016x}", "--by", "ann")

    assert [one["id"] for one in listed(issues)] == [f"{SECOND_ID:016x}"]
    assert "1 closed issues are hidden: --state all" in issues()
    assert len(listed(issues, "--state", "all")) == 2
    assert [one["state"] for one in listed(issues, "--state", "resolved,new")] == [
        "resolved",
        "new",
    ]
    assert [one["route"] for one in listed(issues, "--route", "trial")] == ["trial"]
    assert "No matching issues" in issues("list", "--route", "nowhere")
    assert len(listed(issues, "--state", "all", "--since", "1m")) == 2


def test_one_issue_is_shown_with_figures_and_claims(two: Client, issues: Issues) -> None:
    """By its id alone, by `show`, by the beginning of its id; options may stand before."""
    shown = json.loads(issues(f"{FIRST:016x}", "--json", "--examples", "2"))

    assert len(shown["examples"]) == 2
    assert shown["models"] == [{"name": "", "claims": 8, "weighted": 80.0}]
    words = issues("show", "ab00000000000001")
    assert "Number not as in the source" in words
    assert "contradicts  p1: The " in words
    assert issues("show", "--examples", "3", "AB00000000000001") == words


def test_steps_in_which_claims_entered_are_shown_and_filtered(
    client: Client, issues: Issues
) -> None:
    """In words and as JSON; of the claims that were traced, those of no known step are told."""
    store_issue(client, numbers(6), sample_rate=0.5, steps=["answer", "summarise", "summarise", ""])
    store_issue(client, added()[:3], number=SECOND_ID, steps=["answer"])

    shown = json.loads(issues("show", f"{FIRST:016x}", "--json"))

    assert shown["steps"] == [
        {"name": "summarise", "claims": 2, "weighted": 4.0},
        {"name": "answer", "claims": 1, "weighted": 2.0},
        {"name": "", "claims": 1, "weighted": 2.0},
    ]
    words = " ".join(issues("show", f"{FIRST:016x}").split())
    assert "entered in 2 of 4 traced claims in summarise, 1 in answer, 1 not known" in words
    assert [one["id"] for one in listed(issues, "--filter", "step:summarise")] == [f"{FIRST:016x}"]
    assert len(listed(issues, "--filter", "step:answer")) == 2


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ("ab", "ab is the beginning of ab00000000000001, ab00000000000002"),
        ("ff", "rt4chart issues lists them), got 'ff'"),
        ("zz\x1b", "got 'zz\\x1b'"),
    ],
)
def test_an_id_that_is_none_or_several_is_an_error_of_use(
    two: Client, issues: Issues, wanted: str, told: str
) -> None:
    """The message has the ids that begin so."""
    assert told in issues("show", wanted, status=2)


def test_a_person_moves_it_and_the_trail_says_who(two: Client, issues: Issues) -> None:
    """With a note; what may not be done is told with what may."""
    assert "is acknowledged." in issues("ack", f"{FIRST:016x}", "--by", "ann", "--note", "mine")
    assert last(two) == ("ann", "state", "acknowledged", "mine")
    assert "is acknowledged already." in issues("ack", f"{FIRST:016x}", "--by", "bob")
    assert last(two)[0] == "ann"
    issues("ack", f"{FIRST:016x}", "--by", "bob", "--note", "me too")
    assert last(two) == ("bob", "note", "", "me too")

    assert "is ignored." in issues("ignore", f"{FIRST:016x}", "--by", "ann")
    wrong = issues("resolve", f"{FIRST:016x}", "--by", "ann", status=2)
    assert wrong.endswith(
        "expected one of reopen for ab00000000000001, which is ignored, got resolve\n"
    )
    assert "is open." in issues("reopen", f"{FIRST:016x}", "--by", "ann")


def test_owner_notes_and_history(two: Client, issues: Issues) -> None:
    """All of it stands in the trail, in order."""
    issues("assign", f"{FIRST:016x}", "--owner", "zoë", "--by", "ann")
    issues("note", f"{FIRST:016x}", "--by", "ann", "the", "limit [bold]cuts[/bold]")

    assert listed(issues)[0]["owner"] == "zoë"
    rows = json.loads(issues("history", f"{FIRST:016x}", "--json"))
    assert [one["kind"] for one in rows] == ["born", "state", "owner", "note"]
    assert rows[-1]["note"] == "the limit [bold]cuts[/bold]"
    assert "the limit [bold]cuts[/bold]" in issues("history", f"{FIRST:016x}")
    assert "zoë" in issues()


def test_a_person_s_title_stands_until_it_is_taken_back(two: Client, issues: Issues) -> None:
    """The list has it, the trail says whose it is."""
    issues("rename", f"{FIRST:x}", "Trial", "length", "--by", "ann")
    assert listed(issues)[0]["title"] == "Trial length"
    assert last(two) == ("ann", "renamed", "Trial length", "")

    issues("rename", f"{FIRST:x}", "", "--by", "ann")
    assert listed(issues)[0]["title"] == "Number not as in the source"
    assert "200 characters" in issues("rename", f"{FIRST:x}", "x" * 201, status=2)


def test_what_is_not_proposed_cannot_be_refused(two: Client, issues: Issues) -> None:
    """A merge is refused once."""
    value = json.dumps({"into": f"{SECOND_ID:016x}", "likeness": 0.9})
    record_events(two, [IssueEvent(FIRST, time.time_ns(), PROPOSED_MERGE, value)])

    assert "is refused" in issues("refuse", f"{FIRST:x}", "merge", "--by", "ann")

    assert last(two) == ("ann", "refused_merge", f"{SECOND_ID:016x}", "")
    for what in ("merge", "split"):
        assert f"a proposed {what}" in issues("refuse", f"{FIRST:x}", what, status=2)


def test_nobody_may_be_called_what_the_software_is(two: Client, issues: Issues) -> None:
    """The trail tells people from it."""
    assert "expected a person's name" in issues(
        "ack", "ab00000000000001", "--by", "rt4chart", status=2
    )
    assert issues("ack", "ab00000000000001") == "ab00000000000001 is acknowledged.\n"
    assert last(two)[0] not in ("", "rt4chart")


def test_merged_issues_are_one_until_they_are_taken_apart(two: Client, issues: Issues) -> None:
    """The first one named stays; either id finds it."""
    issues("merge", f"{FIRST:016x}", f"{SECOND_ID:016x}", "--by", "ann")

    (one,) = listed(issues)
    assert (one["id"], one["claims"]) == (f"{FIRST:016x}", 11)
    shown = json.loads(issues("show", f"{SECOND_ID:016x}", "--json"))
    assert (shown["id"], shown["aliases"]) == (f"{FIRST:016x}", [f"{SECOND_ID:016x}"])

    issues("merge", f"{FIRST:016x}", f"{SECOND_ID:016x}", "--undo", "--by", "ann")
    assert len(listed(issues, "--state", "all")) == 2


def test_an_alias_is_taken_out_of_the_issue_that_it_is_of(two: Client, issues: Issues) -> None:
    """Named whole, and of no other issue."""
    first, second = f"{FIRST:016x}", f"{SECOND_ID:016x}"
    assert f"expected an alias of {first}, which has none, got {second}" in issues(
        "merge", first, second, "--undo", "--by", "ann", status=2
    )
    issues("merge", first, second, "--by", "ann")
    for short in (second[:12], f"0x{second[2:]}", "alias"):
        assert f"expected all 16 digits of the alias's id, got {short!r}" in issues(
            "merge", first, short, "--undo", "--by", "ann", status=2
        )
    assert f"expected an alias of {first}, which has {second}, got {first}" in issues(
        "merge", first, first, "--undo", "--by", "ann", status=2
    )
    assert "separate issue again" in issues("merge", first, second.upper(), "--undo", "--by", "ann")


def test_a_merge_that_was_done_is_proposed_no_more(two: Client, issues: Issues) -> None:
    """Nor is it of the alias; one that was proposed before and was not done still is."""
    first, second = f"{FIRST:016x}", f"{SECOND_ID:016x}"
    now = time.time_ns()
    third = "ab00000000000003"
    record_events(two, [IssueEvent(FIRST, now, PROPOSED_MERGE, json.dumps({"into": third}))])
    record_events(
        two, [IssueEvent(SECOND_ID, now + 1, PROPOSED_MERGE, json.dumps({"into": first}))]
    )
    assert f"proposed  rt4chart issues merge {first} {second}" in issues("show", second)

    issues("merge", first, second, "--by", "ann")

    assert json.loads(issues("show", first, "--json"))["proposed"]["merge"] == {"into": third}
    assert f"merge {first}" not in issues("show", first)


def test_a_split_that_was_done_is_proposed_no_more(two: Client, issues: Issues) -> None:
    """By none of the commands; nor is one of an alias, which cannot be done."""
    value = json.dumps({"model": "hashing/1", "drawn": [6, 2], "middles": [[1.0], [0.5]]})
    now = time.time_ns()
    record_events(
        two,
        [
            IssueEvent(FIRST, now, PROPOSED_SPLIT, value),
            IssueEvent(FIRST, now + 1, "split", "f" * 16),
        ],
    )
    record_events(two, [IssueEvent(SECOND_ID, now + 2, PROPOSED_SPLIT, value)])
    issues("merge", f"{FIRST:016x}", f"{SECOND_ID:016x}", "--by", "ann")

    assert json.loads(issues("show", f"{FIRST:016x}", "--json"))["proposed"]["split"] is None
    assert "No split is proposed" in issues("split", f"{FIRST:016x}")
    assert "a proposed split" in issues(
        "split", f"{FIRST:016x}", "--apply", "--by", "ann", status=2
    )


def test_a_split_is_shown_before_it_is_done(two: Client, issues: Issues) -> None:
    """Nothing is done without being asked, nor where nothing is proposed."""
    assert "No split is proposed" in issues("split", f"{FIRST:016x}")
    value = {"model": "hashing/1", "drawn": [6, 2], "middles": [[1.0], [0.5]]}
    record_events(two, [IssueEvent(FIRST, time.time_ns(), PROPOSED_SPLIT, json.dumps(value))])

    assert "groups of 6 and 2" in issues("split", f"{FIRST:016x}")
    assert f"rt4chart issues split {FIRST:016x}" in issues("show", f"{FIRST:016x}")
    assert last(two)[1] == PROPOSED_SPLIT


def test_the_help_names_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    """And each verb has help of its own."""
    with pytest.raises(SystemExit, match="0"):
        main(["issues", "--help"])
    told = capsys.readouterr().out

    for verb in ("list", "show ID", "explain ID", "ack ID", "resolve ID", "ticket [ID]"):
        assert verb in told
    with pytest.raises(SystemExit, match="0"):
        main(["issues", "ticket", "--help"])
    assert "--to {github,linear,jira,slack,pagerduty,webhook}" in capsys.readouterr().out


def test_a_wrong_state_is_an_error_of_use(capsys: pytest.CaptureFixture[str]) -> None:
    """With the right ones."""
    with pytest.raises(SystemExit, match="2"):
        main(["issues", "--state", "closed"])
    assert "expected some of new, open" in capsys.readouterr().err


def test_a_release_without_a_name_is_an_error_of_use(capsys: pytest.CaptureFixture[str]) -> None:
    """A variable that is not set must not resolve the issue for every release."""
    with pytest.raises(SystemExit, match="2"):
        main(["issues", "resolve", "ab", "--in-release", " "])
    assert "--in-release: expected a name, got ' '" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [("--route", "x", "ack", "ab"), ("--note", "x", "show", "ab"), ("--by", "ann", "list")]
)
def test_an_option_without_effect_is_told(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    """Before a verb; after it the verb does not know it."""
    assert main(["issues", *words]) == 2
    assert f"{words[0]} has no effect with issues {words[2]}" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["issues", *words[2:], *words[:2]])
    assert f"unrecognized arguments: {words[0]}" in capsys.readouterr().err


def test_the_list_takes_the_filter_of_the_console(two: Client, issues: Issues) -> None:
    """With the same keys, which it names where another one is used."""
    assert [one["route"] for one in listed(issues, "--filter", "route:TRI")] == ["trial"]
    assert listed(issues, "--filter", "-number -added") == []


def test_a_key_that_issues_do_not_have_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """With the keys that they have."""
    with pytest.raises(SystemExit):
        main(["issues", "list", "--filter", "release:2.4.0"])

    assert "expected one of the keys route, service, tenant, state, mark" in capsys.readouterr().err
