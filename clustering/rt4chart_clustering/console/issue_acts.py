"""What a person does on the page of an issue: the same as the commands, by the same functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.settings import load
from otel_rt4chart.redaction import build_redactor
from rt4chart_clustering.console.issue_page import IssuePage, Wrong
from rt4chart_clustering.console.standings import Standings
from rt4chart_clustering.core.settings import ClusteringSettings
from rt4chart_clustering.description.embedding import build_embedder
from rt4chart_clustering.evalset.load import name_from
from rt4chart_clustering.evalset.promote import promote_issue
from rt4chart_clustering.grouping.apply import (
    apply_merge,
    apply_split,
    refuse_merge,
    refuse_split,
    take_back_merge,
)
from rt4chart_clustering.grouping.issue_state import Act
from rt4chart_clustering.triage.acts import assign, move, remark, rename
from rt4chart_clustering.triage.find import find, shown_id
from rt4chart_collector.console.app.console import Console
from rt4chart_collector.console.view.urls import issue_url, with_query
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issue_events import ITSELF
from rt4chart_collector.store.issues.issues import Issue, list_issues

LONGEST = 2_000
# Failures among which cases are chosen while somebody waits; the command takes 2,000.
MEMBERS = 400
MOST_CASES = 100
embedder_of = cache(build_embedder)


@dataclass(frozen=True, slots=True)
class Doing:
    """What is done to which issue, by whom and when, with what they typed."""

    client: Client
    issue: Issue
    actor: str
    now_ns: int
    form: Mapping[str, str]

    @property
    def note(self) -> str:
        """Why, in their words."""
        return self.form.get("note", "").strip()

    def typed(self, name: str) -> str:
        """A field's text; InputError where it is too long."""
        found = self.form.get(name, "").strip()
        if len(found) > LONGEST:
            raise InputError(f"{name}: expected {LONGEST} characters at most, got {len(found)}")
        return found


class IssueActs:
    """POST /issues/ID/ACT; the page again with the reason where it is refused."""

    def __init__(self, console: Console, page: IssuePage, standings: Standings) -> None:
        """`page` shows what came of it."""
        self._console = console
        self._page = page
        self._standings = standings

    def act(self, name: str) -> Callable[[Request], Response]:
        """What does it and goes to where it is seen."""
        return partial(self._act, name)

    def _act(self, name: str, request: Request) -> Response:
        actor, form = self._console.act(request).name, self._console.form(request)
        with self._console.store() as client:
            issue = self._page.standing(client, request).issue
            doing = Doing(client, issue, actor, self._console.clock(), form)
            try:
                to = _done(name, doing)
            except InputError as error:
                wrong = Wrong(name, str(error), form)
            else:
                if name not in LIGHT:
                    self._standings.forget()
                return RedirectResponse(to, 303)
        return self._page.again(request, wrong)


def _done(name: str, doing: Doing) -> str:
    """Where it is seen; InputError where it may not be done."""
    if doing.actor == ITSELF:
        raise InputError(f"expected a person's name, got {ITSELF!r}, which the software is called")
    if any("\x00" in text for text in doing.form.values()):
        raise InputError("expected a text, got one with a NUL character: take it out")
    doing.typed("note")
    return DO[name](doing)


def _move(act: Act) -> Callable[[Doing], str]:
    def do(doing: Doing) -> str:
        move(doing.client, doing.issue, act, actor=doing.actor, at_ns=doing.now_ns, note=doing.note)
        return issue_url(doing.issue.id)

    return do


def _assign(doing: Doing) -> str:
    owner = " ".join(doing.typed("owner").split())
    assign(doing.client, doing.issue, owner, actor=doing.actor, at_ns=doing.now_ns)
    return issue_url(doing.issue.id)


def _note(doing: Doing) -> str:
    remark(doing.client, doing.issue, doing.typed("note"), actor=doing.actor, at_ns=doing.now_ns)
    return issue_url(doing.issue.id)


def _rename(doing: Doing) -> str:
    title = doing.typed("title")
    rename(doing.client, doing.issue, title, actor=doing.actor, at_ns=doing.now_ns)
    return issue_url(doing.issue.id)


def _merge(doing: Doing) -> str:
    """Into the other, which stands for both."""
    other = find(list_issues(doing.client), doing.typed("into"))
    apply_merge(
        doing.client,
        doing.issue.id,
        other.id,
        actor=doing.actor,
        now_ns=doing.now_ns,
        note=doing.note,
    )
    return issue_url(other.id)


def _unmerge(doing: Doing) -> str:
    alias = doing.typed("alias")
    if alias not in [f"{one:016x}" for one in doing.issue.aliases]:
        raise InputError(f"expected an issue that is part of this one, got {alias!r}")
    take_back_merge(doing.client, int(alias, 16), actor=doing.actor, now_ns=doing.now_ns)
    return issue_url(int(alias, 16))


def _refuse_merge(doing: Doing) -> str:
    refuse_merge(
        doing.client, doing.issue.id, actor=doing.actor, now_ns=doing.now_ns, note=doing.note
    )
    return issue_url(doing.issue.id)


def _split(doing: Doing) -> str:
    made = apply_split(
        doing.client, doing.issue.id, actor=doing.actor, now_ns=doing.now_ns, note=doing.note
    )
    return issue_url(made)


def _refuse_split(doing: Doing) -> str:
    refuse_split(
        doing.client, doing.issue.id, actor=doing.actor, now_ns=doing.now_ns, note=doing.note
    )
    return issue_url(doing.issue.id)


def _promote(doing: Doing) -> str:
    """To the eval set, which says what came of it."""
    name, number = doing.typed("name"), doing.typed("n")
    if "@" in name:
        raise InputError(f"expected a set's name without a release, got {name!r}")
    name, _ = name_from(name)
    if not (number.isdecimal() and number.isascii() and 1 <= int(number[:9]) <= MOST_CASES):
        raise InputError(f"expected a number of cases from 1 to {MOST_CASES}, got {number!r}")
    redact = doing.form.get("redact", "none")
    if redact not in ("none", "mask", "hash"):
        raise InputError(f"expected none, mask or hash of personal data, got {redact!r}")
    done = promote_issue(
        doing.client,
        doing.issue,
        name,
        number=int(number),
        actor=doing.actor,
        now_ns=doing.now_ns,
        embedder=embedder_of(load(ClusteringSettings).embedder),
        redactor=build_redactor(redact, ""),
        members=MEMBERS,
    )
    return with_query(
        f"/evalsets/{name}",
        promoted=shown_id(doing.issue),
        new=str(len(done.new)),
        known=str(done.known),
        alike=str(done.alike),
        refused=",".join(f"{why}:{count}" for why, count in sorted(done.refused.items())),
    )


DO: Mapping[str, Callable[[Doing], str]] = {
    **{str(act): _move(act) for act in Act},
    "assign": _assign,
    "note": _note,
    "rename": _rename,
    "merge": _merge,
    "unmerge": _unmerge,
    "refuse_merge": _refuse_merge,
    "split": _split,
    "refuse_split": _refuse_split,
    "promote": _promote,
}
# What leaves the figures as they are.
LIGHT = {*map(str, Act), "assign", "note", "rename", "refuse_merge", "refuse_split", "promote"}
