"""GitHub, Linear and Jira: the requests that their documentation asks for.

docs.github.com/en/rest/issues/issues, linear.app/developers/graphql, and
developer.atlassian.com/cloud/jira/platform/rest/v3 (issues, issue search, issue comments).
"""

from __future__ import annotations

import base64
import json
from typing import Any
from uuid import UUID

import pytest

from otel_rt4chart.core.errors import TicketError
from rt4chart_clustering.tickets.github import GitHub
from rt4chart_clustering.tickets.jira import Jira
from rt4chart_clustering.tickets.linear import Linear
from rt4chart_clustering.tickets.ticket import FiledTicket, Ticket
from tests.rt4chart_clustering.tickets.made import EVIL, GROWN, LONG, TICKET
from tests.rt4chart_collector.notify.reply_server import Came, Reply, ReplyServer

MARKER = "<!-- rt4chart:issue:ab00000000000001 -->"


def github(one: Came) -> Reply:
    """A repository without issues."""
    if one.method == "GET":
        return Reply({"items": []} if one.path == "/search/issues" else [])
    return Reply({"number": 7, "html_url": "https://github.test/o/r/issues/7"}, 201)


def test_github_gets_an_issue_as_its_documentation_says() -> None:
    """Version, media type and token in the headers; the marker ends the body."""
    with ReplyServer(github) as server:
        filed = GitHub("o/r", "token-1", url=server.url).create(TICKET)

    (one,) = server.came
    assert filed == FiledTicket("7", "https://github.test/o/r/issues/7")
    assert (one.method, one.path) == ("POST", "/repos/o/r/issues")
    assert one.headers["authorization"] == "Bearer token-1"
    assert one.headers["accept"] == "application/vnd.github+json"
    assert one.headers["x-github-api-version"] == "2022-11-28"
    assert one.headers["user-agent"] == "otel-rt4chart"
    assert one.body["title"] == TICKET.title
    assert one.body["body"].endswith(f"`rt4chart issues show {TICKET.id}`\n\n{MARKER}")
    assert set(one.body) == {"title", "body"}


def test_github_finds_what_was_made_among_the_newest_then_by_search() -> None:
    """The oldest of several; neither a pull request nor a body that only quotes the marker."""
    issues: list[dict[str, Any]] = [
        {"number": 9, "html_url": "u9", "body": f"x\n\n{MARKER}\n"},
        {"number": 8, "html_url": "u8", "body": f"x\n\n{MARKER}"},
        {"number": 3, "html_url": "u3", "body": f"{MARKER}\n\nhello"},
        {"number": 2, "html_url": "u2", "body": MARKER, "pull_request": {}},
        {"number": 1, "html_url": "u1", "body": None},
    ]
    with ReplyServer(lambda one: Reply(issues if "repos" in one.path else {})) as server:
        assert GitHub("o/r", "t", url=server.url).find(TICKET) == FiledTicket("8", "u8")
        assert server.came[0].query["state"] == "all"

    rows = {"items": issues[:1]}
    with ReplyServer(lambda one: Reply([] if "repos" in one.path else rows)) as server:
        assert GitHub("o/r", "t", url=server.url).find(TICKET) == FiledTicket("9", "u9")
        wanted = '"rt4chart:issue:ab00000000000001" in:body repo:o/r is:issue'
        assert server.came[1].query["q"] == wanted

    with ReplyServer(github) as server:
        assert GitHub("o/r", "t", url=server.url).find(TICKET) is None


def test_github_is_told_by_a_comment_and_nothing_else() -> None:
    """No request changes the issue's state."""
    with ReplyServer(github) as server:
        assert GitHub("o/r", "t", url=server.url).update(FiledTicket("7"), TICKET, GROWN)

    (one,) = server.came
    assert (one.method, one.path) == ("POST", "/repos/o/r/issues/7/comments")
    assert one.body == {"body": f"{GROWN.text}\n\n`grown`"}


def linear(one: Came) -> Reply:
    """A team without issues."""
    query = one.body["query"]
    if "issueCreate" in query:
        made = {"id": "u", "identifier": "ENG-3", "url": "https://linear.test/ENG-3"}
        return Reply({"data": {"issueCreate": {"success": True, "issue": made}}})
    if "commentCreate" in query:
        return Reply({"data": {"commentCreate": {"success": True}}})
    return Reply({"data": {"issues": {"nodes": []}}})


def test_linear_gets_an_issue_under_an_id_of_ours() -> None:
    """So that the same cannot be made twice; a personal key is sent without Bearer."""
    with ReplyServer(linear) as server:
        system = Linear("lin_api_1", "team-1", url=server.url)
        assert system.find(TICKET) is None
        assert system.create(TICKET) == FiledTicket("ENG-3", "https://linear.test/ENG-3")

    looked, made = server.came
    given = made.body["variables"]["input"]
    assert made.headers["authorization"] == "lin_api_1"
    assert UUID(given["id"]).version == 4
    assert looked.body["variables"] == {"id": given["id"]}
    assert "includeArchived: true" in looked.body["query"]
    assert (given["teamId"], given["title"], given["priority"]) == ("team-1", TICKET.title, 2)
    assert given["description"].endswith("`rt4chart:issue:ab00000000000001`")
    assert "stateId" not in given


def test_linear_is_told_by_a_comment_that_cannot_come_twice() -> None:
    """The same news has the same id."""
    with ReplyServer(linear) as server:
        for _ in range(2):
            assert Linear("k", "t", url=server.url).update(FiledTicket("ENG-3"), TICKET, GROWN)

    first, second = (one.body["variables"]["input"] for one in server.came)
    assert first == second
    assert first["issueId"] == "ENG-3"


@pytest.mark.parametrize(
    ("refusal", "told"),
    [
        ({"errors": [{"message": "id already exists"}]}, "id already exists"),
        ({"data": {"commentCreate": {"success": False}}}, "expected a created comment"),
    ],
)
@pytest.mark.parametrize("is_there", [True, False])
def test_linear_that_refuses_a_comment_is_asked_whether_it_is_there(
    is_there: bool, refusal: dict[str, Any], told: str
) -> None:
    """One that was made and not recorded has been told; else the refusal is the error."""

    def answer(one: Came) -> Reply:
        if "commentCreate" in one.body["query"]:
            return Reply(refusal)
        nodes = [{"id": one.body["variables"]["id"]}] if is_there else []
        return Reply({"data": {"comments": {"nodes": nodes}}})

    with ReplyServer(answer) as server:
        system = Linear("k", "t", url=server.url)
        if is_there:
            assert system.update(FiledTicket("ENG-3"), TICKET, GROWN)
        else:
            with pytest.raises(TicketError, match=told):
                system.update(FiledTicket("ENG-3"), TICKET, GROWN)

    made, looked = server.came
    assert looked.body["variables"] == {"id": made.body["variables"]["input"]["id"]}


@pytest.mark.parametrize("reply", [Reply(None, 502), Reply({"errors": [{"message": "no"}]})])
def test_linear_that_answers_nothing_else_either_gives_the_first_reason(reply: Reply) -> None:
    """Why the comment was refused, not why it could not be looked for."""

    def answer(one: Came) -> Reply:
        if "commentCreate" in one.body["query"]:
            return Reply({"errors": [{"message": "first"}]})
        return reply

    with ReplyServer(answer) as server, pytest.raises(TicketError, match="first"):
        Linear("k", "t", url=server.url).update(FiledTicket("ENG-3"), TICKET, GROWN)


@pytest.mark.parametrize(
    "reply",
    [
        {"errors": [{"message": "Authentication required"}]},
        {"data": None},
        {"data": {"issueCreate": {"success": False}}},
        [],
    ],
)
def test_linear_says_with_status_200_that_it_refuses(reply: object) -> None:
    """An answer without what was asked for is an error."""
    with (
        ReplyServer(lambda _: Reply(reply)) as server,
        pytest.raises(TicketError, match="linear"),
    ):
        Linear("k", "t", url=server.url).create(TICKET)


def jira(one: Came) -> Reply:
    """A project without issues."""
    if one.path.endswith("/search/jql"):
        return Reply({"issues": [], "isLast": True})
    return Reply({"id": "1", "key": "RAG-4", "self": "x"}, 201)


def built(url: str) -> Jira:
    """Jira at that address."""
    return Jira(url, "ann@shop.test", "token-1", "RAG", kind="Task")


def test_jira_gets_an_issue_in_its_document_format() -> None:
    """Basic authentication by mail address and token; a label finds it again."""
    with ReplyServer(jira) as server:
        assert built(server.url).find(TICKET) is None
        filed = built(server.url).create(TICKET)

    looked, made = server.came
    assert filed == FiledTicket("RAG-4", f"{server.url}/browse/RAG-4")
    basic = base64.b64encode(b"ann@shop.test:token-1").decode()
    assert made.headers["authorization"] == f"Basic {basic}"
    assert (looked.path, made.path) == ("/rest/api/3/search/jql", "/rest/api/3/issue")
    label = "rt4chart-ab00000000000001"
    assert looked.body["jql"].startswith(f'project = "RAG" AND labels = "{label}"')
    assert looked.body["fields"] == ["key"]
    fields = made.body["fields"]
    assert fields["project"] == {"key": "RAG"}
    assert fields["issuetype"] == {"name": "Task"}
    assert fields["labels"] == ["rt4chart", label]
    assert fields["summary"] == TICKET.title
    assert (fields["description"]["type"], fields["description"]["version"]) == ("doc", 1)


def test_jira_finds_by_label_and_is_told_by_a_comment() -> None:
    """In whatever state it is: nothing makes a transition."""
    with ReplyServer(lambda _: Reply({"issues": [{"id": "1", "key": "RAG-9"}]})) as server:
        filed = built(server.url).find(TICKET)
        assert filed == FiledTicket("RAG-9", f"{server.url}/browse/RAG-9")
        assert built(server.url).update(filed, TICKET, GROWN)

    told = server.came[-1]
    assert told.path == "/rest/api/3/issue/RAG-9/comment"
    assert GROWN.text in json.dumps(told.body["body"])


@pytest.mark.parametrize("ticket", [EVIL, LONG], ids=["evil", "long"])
def test_texts_can_do_nothing_and_keep_to_the_limits(ticket: Ticket) -> None:
    """In titles, in Markdown and in documents; the marker stays, and stays the last."""
    with ReplyServer(github) as server:
        GitHub("o/r", "t", url=server.url).create(ticket)
    body = server.came[0].body
    assert len(body["title"]) <= 256
    assert len(body["body"]) <= 65_536
    assert body["body"].endswith(MARKER)
    assert body["body"].count("\n<!--") == 1
    with ReplyServer(linear) as server:
        Linear("k", "t", url=server.url).create(ticket)
    given = server.came[0].body["variables"]["input"]
    assert len(given["title"]) <= 255
    assert len(given["description"]) <= 50_000
    with ReplyServer(jira) as server:
        built(server.url).create(ticket)
    fields = server.came[0].body["fields"]
    assert len(fields["summary"]) <= 255
    assert len(json.dumps(fields["description"])) <= 32_767
    assert "\x1b" not in fields["summary"]


@pytest.mark.parametrize("reply", [None, {"message": "?"}, "no", 7])
def test_a_search_that_says_nothing_is_no_leave_to_create(reply: object) -> None:
    """The ticket may be there: the attempt ends with an error."""
    with ReplyServer(lambda _: Reply(reply)) as server:
        for system in (GitHub("o/r", "t", url=server.url), built(server.url)):
            with pytest.raises(TicketError, match="expected a list of issues"):
                system.find(TICKET)
