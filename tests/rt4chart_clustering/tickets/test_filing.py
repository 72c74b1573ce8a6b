"""Filing: once an issue and system, whatever breaks off, and told of what is new."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

from otel_rt4chart.cli import main
from otel_rt4chart.core.errors import InputError, TicketError
from rt4chart_clustering.tickets.filing import FilingOutcome, file_ticket, find_update
from rt4chart_clustering.tickets.github import GitHub
from rt4chart_clustering.tickets.ticket import FiledTicket, Ticket
from rt4chart_collector.notify.channels.message import MessageKind
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.leases import acquire_lease
from rt4chart_collector.store.issues.issue_events import IssueEvent, events_of, record_events
from rt4chart_collector.store.issues.issue_tickets import recorded_tickets
from rt4chart_collector.store.issues.issues import Issue, list_issues
from tests.rt4chart_clustering.issues import FIRST, store_issue
from tests.rt4chart_clustering.made import NOON, SECOND, numbers
from tests.rt4chart_clustering.tickets.made import TICKET
from tests.rt4chart_collector.notify.reply_server import Came, Reply, ReplyServer

LATER = NOON + 3600 * SECOND


class Repository:
    """A repository that remembers, and may lose its answer to a creation, or be refused."""

    def __init__(self, *, loses: int = 0, refuses: int = 0) -> None:
        """`loses` and `refuses` are how many of the first creations."""
        self.issues: list[dict[str, object]] = []
        self.comments: list[str] = []
        self.loses, self.refuses = loses, refuses

    def __call__(self, one: Came) -> Reply:
        """MessageKind GitHub would say."""
        if one.method == "GET":
            return Reply({"items": []} if one.path.startswith("/search") else self.issues)
        if one.path.endswith("/comments"):
            self.comments.append(one.body["body"])
            return Reply({}, 201)
        if self.refuses:
            self.refuses -= 1
            return Reply({"message": "no"}, 403)
        number = len(self.issues) + 1
        issue = {"number": number, "html_url": f"u{number}", "body": one.body["body"]}
        self.issues.append(issue)
        if self.loses:
            self.loses -= 1
            return Reply({"message": "gone"}, 502)
        return Reply(issue, 201)


@pytest.fixture
def issue(client: Client) -> Issue:
    """An issue of eight failures."""
    return store_issue(client, numbers(8))


def filed(
    client: Client, server: ReplyServer, issue: Issue, *, at_ns: int = LATER
) -> FilingOutcome:
    """File it at that repository."""
    system = GitHub("o/r", "t", url=server.url)
    return file_ticket(client, issue, TICKET, system, actor="ann", clock=lambda: at_ns).outcome


def test_an_issue_is_filed_once(client: Client, issue: Issue) -> None:
    """The trail remembers; it says who did it and where it is."""
    repository = Repository()
    with ReplyServer(repository) as server:
        assert filed(client, server, issue) is FilingOutcome.CREATED
        assert filed(client, server, issue, at_ns=LATER + 1) is FilingOutcome.UNCHANGED

    assert len(repository.issues) == 1
    event = events_of(client, FIRST)[-1]
    assert (event.actor, event.kind) == ("ann", "ticket")
    told = {"system": "github", "key": "1", "url": "u1", "claims": 8, "done": "created"}
    assert json.loads(event.value) == told


def test_what_was_made_and_not_recorded_is_found_again(client: Client, issue: Issue) -> None:
    """The answer to the creation was lost: the next attempt makes no second one."""
    repository = Repository(loses=1)
    with ReplyServer(repository) as server:
        with pytest.raises(TicketError, match="502"):
            filed(client, server, issue)
        assert filed(client, server, issue, at_ns=LATER + 1) is FilingOutcome.FOUND

    assert len(repository.issues) == 1
    assert recorded_tickets(events_of(client, FIRST))[0].key == "1"


def test_what_was_refused_is_filed_later(client: Client, issue: Issue) -> None:
    """Nothing is on record of the attempt."""
    with ReplyServer(Repository(refuses=1)) as server:
        with pytest.raises(TicketError, match="403"):
            filed(client, server, issue)
        assert recorded_tickets(events_of(client, FIRST)) == []
        assert filed(client, server, issue, at_ns=LATER + 1) is FilingOutcome.CREATED


def test_two_at_once_do_not_both_look_and_create(client: Client, issue: Issue) -> None:
    """The second process is asked to try again later."""
    name = f"ticket/github/{FIRST:016x}"
    assert acquire_lease(client, name, "somebody", now_ns=LATER, for_ns=60 * SECOND)
    repository = Repository()
    with ReplyServer(repository) as server:
        with pytest.raises(InputError, match="another process is filing this issue"):
            filed(client, server, issue)
        assert filed(client, server, issue, at_ns=LATER + 61 * SECOND) is FilingOutcome.CREATED

    assert len(repository.issues) == 1


def test_the_lease_and_the_record_are_of_the_time_of_filing(client: Client, issue: Issue) -> None:
    """However long ago the command began: nobody else may file it meanwhile."""

    class Watched(GitHub):
        def find(self, ticket: Ticket) -> FiledTicket:
            name = f"ticket/github/{FIRST:016x}"
            taken.append(acquire_lease(client, name, "bob", now_ns=time.time_ns(), for_ns=SECOND))
            return FiledTicket("1")

    taken: list[bool] = []
    before = time.time_ns()
    file_ticket(client, issue, TICKET, Watched("o/r", "t", url="https://github.test"), actor="ann")

    assert taken == [False]
    (known,) = recorded_tickets(events_of(client, FIRST))
    assert before <= known.at_ns <= time.time_ns()


def test_growth_and_regression_are_told_once_each(client: Client, issue: Issue) -> None:
    """By comments; the ticket is neither closed nor opened again."""
    repository = Repository()
    with ReplyServer(repository) as server:
        filed(client, server, issue)
        grown = replace(issue, claims=26)
        assert filed(client, server, grown, at_ns=LATER + 1) is FilingOutcome.UPDATED
        assert filed(client, server, grown, at_ns=LATER + 2) is FilingOutcome.UNCHANGED
        record_events(client, [IssueEvent(FIRST, LATER + 3, "state", "regressed")])
        assert filed(client, server, grown, at_ns=LATER + 4) is FilingOutcome.UPDATED
        assert filed(client, server, grown, at_ns=LATER + 5) is FilingOutcome.UNCHANGED
        assert {one.method for one in server.came} == {"GET", "POST"}

    assert [text.split("\n")[0] for text in repository.comments] == [
        "The issue has grown from 8 to 26 claims.",
        "The issue was resolved, and failures match it again: 26 claims so far.",
    ]


@pytest.mark.parametrize(
    ("before", "now", "is_news"),
    [
        (8, 9, False),
        (8, 10, True),
        (10, 24, False),
        (10, 25, True),
        (26, 99, True),
        (100, 249, False),
    ],
)
def test_growth_is_news_at_its_points(before: int, now: int, is_news: bool) -> None:
    """10, 25, 50, 100, 250 and so on: not each failure is."""
    value = json.dumps({"system": "github", "key": "1", "url": "", "claims": before})
    (known,) = recorded_tickets([IssueEvent(FIRST, LATER, "ticket", value)])

    issue = Issue(FIRST, "", "a:b", "", "", 0, 0, now, (), "1")
    change = find_update(issue, known, [])

    assert (change is not None and change.kind is MessageKind.GROWN) is is_news


def test_the_command_files_and_follows(
    client: Client, dsn: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No text of a user is in the ticket, unless examples are asked for."""
    now = time.time_ns()
    store_issue(client, [replace(one, time_ns=now) for one in numbers(8)])
    repository = Repository()
    with ReplyServer(repository) as server:
        monkeypatch.setenv("RT4CHART_GITHUB_URL", server.url)
        monkeypatch.setenv("RT4CHART_GITHUB_REPOSITORY", "o/r")
        monkeypatch.setenv("RT4CHART_GITHUB_TOKEN", "secret-token-1")
        given = ("--dsn", dsn, "--by", "ann")
        assert main(["issues", "ticket", "ab", "--to", "github", *given]) == 0
        assert "github: created. u1" in capsys.readouterr().out
        record_events(client, [IssueEvent(FIRST, time.time_ns(), "state", "regressed")])
        assert main(["issues", "ticket", "--dsn", dsn, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)[0]["done"] == "told"
        assert main(["issues", "ticket", "ab", "--to", "slack", *given]) == 2
        assert "slack needs RT4CHART_SLACK_TOKEN" in capsys.readouterr().err
        monkeypatch.setenv("RT4CHART_GITHUB_URL", "http://127.0.0.1:9")
        record_events(client, [IssueEvent(FIRST, time.time_ns(), "state", "regressed")])
        assert main(["issues", "ticket", "--dsn", dsn]) == 1
        assert "github: cannot be reached" in capsys.readouterr().err
    (issue,) = list_issues(client)

    body = str(repository.issues[0]["body"])
    assert issue.title in body
    assert "lasts" not in body
    assert "present and contradicted (100% of failures)" in body


def test_what_is_closed_is_not_followed(
    client: Client, dsn: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Growth of what was resolved or is ignored is no news, unless it is asked for by its id."""
    now = time.time_ns()
    repository = Repository()
    with ReplyServer(repository) as server:
        store_issue(client, [replace(one, time_ns=now) for one in numbers(12)])
        monkeypatch.setenv("RT4CHART_GITHUB_URL", server.url)
        monkeypatch.setenv("RT4CHART_GITHUB_REPOSITORY", "o/r")
        monkeypatch.setenv("RT4CHART_GITHUB_TOKEN", "secret-token-1")
        value = {"system": "github", "key": "1", "url": "", "claims": 8}
        record_events(client, [IssueEvent(FIRST, now, "ticket", json.dumps(value))])
        for at, state in enumerate(("ignored", "resolved")):
            record_events(client, [IssueEvent(FIRST, time.time_ns() + at, "state", state)])
            assert main(["issues", "ticket", "--dsn", dsn]) == 0
            assert capsys.readouterr().out == "No open issue has a ticket.\n"
        assert repository.comments == []
        assert main(["issues", "ticket", "ab", "--to", "github", "--dsn", dsn, "--by", "ann"]) == 0

    assert len(repository.comments) == 1


def test_what_a_system_replies_cannot_steer_a_terminal(
    client: Client, dsn: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its address of the ticket stays on the line, without what is not to be seen."""

    def answer(one: Came) -> Reply:
        if one.method == "GET":
            return Reply({"items": []} if one.path.startswith("/search") else [])
        return Reply({"number": 7, "html_url": "u\x1b[2J\n[bold]7\u202e"}, 201)

    with ReplyServer(answer) as server:
        store_issue(client, [replace(one, time_ns=time.time_ns()) for one in numbers(8)])
        monkeypatch.setenv("RT4CHART_GITHUB_URL", server.url)
        monkeypatch.setenv("RT4CHART_GITHUB_REPOSITORY", "o/r")
        monkeypatch.setenv("RT4CHART_GITHUB_TOKEN", "secret-token-1")
        assert main(["issues", "ticket", "ab", "--to", "github", "--dsn", dsn, "--by", "ann"]) == 0

    told = capsys.readouterr().out
    assert told == f"{FIRST:016x} github: created. u [2J [bold]7\n"
