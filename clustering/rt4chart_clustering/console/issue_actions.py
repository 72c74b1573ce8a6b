"""The actions on the page of an issue, which call the same functions as the commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.settings import load
from otel_rt4chart.redaction import build_redactor
from rt4chart_clustering.console.issue_list import CHOSEN
from rt4chart_clustering.console.issue_page import FormError, IssuePage
from rt4chart_clustering.console.ranking_cache import RankingCache
from rt4chart_clustering.core.settings import ClusteringSettings
from rt4chart_clustering.description.embedding import build_embedder
from rt4chart_clustering.evalset.load import parse_set_name
from rt4chart_clustering.evalset.promote import promote_issue
from rt4chart_clustering.grouping.ignore_until import IgnoreUntil
from rt4chart_clustering.grouping.issue_state import IssueAction
from rt4chart_clustering.grouping.merge_and_split import (
    merge_issues,
    refuse_merge,
    refuse_split,
    split_issue,
    undo_merge,
)
from rt4chart_clustering.triage.actions import (
    FOR_EVER,
    add_note,
    assign_owner,
    change_state,
    check_action,
    conditions,
    link_ticket,
    rename_issue,
)
from rt4chart_clustering.triage.find_issue import find_issue, hex_id
from rt4chart_collector.console.app.console import Console
from rt4chart_collector.console.view.urls import issue_url, with_query
from rt4chart_collector.core.actors import SYSTEM_ACTOR
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issues import Issue, list_issues

MAX_LENGTH = 2_000
# Failures among which cases are chosen, fewer than the command's 2,000: a browser is waiting.
MAX_FAILURES = 400
MAX_CASES = 100
MAX_UNTIL = 1_000_000
embedder_of = cache(build_embedder)


@dataclass(frozen=True, slots=True)
class ActionRequest:
    """An action on an issue: who does it and when, and the submitted form."""

    client: Client
    issue: Issue
    actor: str
    now_ns: int
    form: Mapping[str, str]

    @property
    def note(self) -> str:
        """The reason that the person gave."""
        return self.form.get("note", "").strip()

    def typed(self, name: str) -> str:
        """A field's text; InputError if it is too long."""
        found = self.form.get(name, "").strip()
        if len(found) > MAX_LENGTH:
            raise InputError(f"{name}: expected {MAX_LENGTH} characters at most, got {len(found)}")
        return found


class IssueActions:
    """POST /issues/ID/ACTION; a refused action shows the page again, with the reason."""

    def __init__(self, console: Console, page: IssuePage, ranking: RankingCache) -> None:
        """`page` is shown after an error."""
        self._console = console
        self._page = page
        self._ranking = ranking

    def handler(self, name: str) -> Callable[[Request], Response]:
        """The handler of an action, which redirects to the page that shows its result."""
        return partial(self._handle, name)

    def handle_several(self, request: Request) -> Response:
        """POST /issues/bulk: one action on all chosen issues, or on none if one refuses it."""
        actor, form = self._console.require_actor(request).name, self._console.form(request)
        act, chosen = (
            form.get("act", ""),
            {name.removeprefix(CHOSEN) for name in form if name.startswith(CHOSEN)},
        )
        now_ns = self._console.clock()
        with self._console.store() as client:
            known = list_issues(client)
            try:
                issues = [find_issue(known, one) for one in sorted(chosen)]
                _check_bulk(act, issues)
                for issue in issues:
                    _perform(act, ActionRequest(client, issue, actor, now_ns, form))
            except InputError as error:
                raise HTTPException(400, str(error)) from error
        return RedirectResponse("/issues", 303)

    def _handle(self, name: str, request: Request) -> Response:
        actor, form = self._console.require_actor(request).name, self._console.form(request)
        with self._console.store() as client:
            issue = self._page.ranked(client, request).issue
            action = ActionRequest(client, issue, actor, self._console.clock(), form)
            try:
                to = _perform(name, action)
            except InputError as error:
                wrong = FormError(name, str(error), form)
            else:
                if name not in FIGURES_UNCHANGED:
                    self._ranking.invalidate()
                return RedirectResponse(to, 303)
        return self._page.show_page(request, wrong)


def _check_bulk(act: str, issues: Sequence[Issue]) -> None:
    """InputError if nothing is chosen, or the action is not one for all of these issues."""
    if act not in BULK_ACTIONS:
        raise InputError(f"expected an action of {', '.join(BULK_ACTIONS)}, got {act!r}")
    if not issues:
        raise InputError("expected issues to be chosen in the list, got none")
    if act != "assign":
        for issue in issues:
            check_action(issue, IssueAction(act))


def _perform(name: str, action: ActionRequest) -> str:
    """Perform the action and return the URL of its result; InputError if it is not allowed."""
    if action.actor == SYSTEM_ACTOR:
        raise InputError(
            f"expected a person's name, got {SYSTEM_ACTOR!r}, the name of the software"
        )
    if any("\x00" in text for text in action.form.values()):
        raise InputError("expected a text without NUL characters: remove them")
    action.typed("note")
    return ACTIONS[name](action)


def _move(act: IssueAction) -> Callable[[ActionRequest], str]:
    def do(action: ActionRequest) -> str:
        change_state(
            action.client,
            action.issue,
            act,
            actor=action.actor,
            at_ns=action.now_ns,
            note=action.note,
            until=_until(action) if act is IssueAction.IGNORE else FOR_EVER,
            release=action.typed("release") if act is IssueAction.RESOLVE else "",
        )
        return issue_url(action.issue.id)

    return do


def _until(action: ActionRequest) -> IgnoreUntil:
    """The conditions that the form has; empty fields are none."""
    days, failures, a_day = (
        _whole_number(name, action.typed(name)) for name in ("days", "failures", "a_day")
    )
    return conditions(
        action.issue, now_ns=action.now_ns, seconds=days * 86_400, failures=failures, a_day=a_day
    )


def _whole_number(name: str, text: str) -> int:
    if not text:
        return 0
    if not (text.isdecimal() and text.isascii() and 1 <= int(text[:9]) <= MAX_UNTIL):
        raise InputError(f"{name}: expected a whole number from 1 to {MAX_UNTIL}, got {text!r}")
    return int(text)


def _link(action: ActionRequest) -> str:
    """Link a ticket by its address, or remove the link."""
    link_ticket(
        action.client,
        action.issue,
        action.typed("url"),
        actor=action.actor,
        at_ns=action.now_ns,
        is_removed=bool(action.form.get("remove")),
    )
    return issue_url(action.issue.id)


def _assign(action: ActionRequest) -> str:
    owner = " ".join(action.typed("owner").split())
    assign_owner(action.client, action.issue, owner, actor=action.actor, at_ns=action.now_ns)
    return issue_url(action.issue.id)


def _note(action: ActionRequest) -> str:
    add_note(
        action.client, action.issue, action.typed("note"), actor=action.actor, at_ns=action.now_ns
    )
    return issue_url(action.issue.id)


def _rename(action: ActionRequest) -> str:
    title = action.typed("title")
    rename_issue(action.client, action.issue, title, actor=action.actor, at_ns=action.now_ns)
    return issue_url(action.issue.id)


def _merge(action: ActionRequest) -> str:
    """Merge the issue into the other one, which then stands for both."""
    other = find_issue(list_issues(action.client), action.typed("into"))
    merge_issues(
        action.client,
        action.issue.id,
        other.id,
        actor=action.actor,
        now_ns=action.now_ns,
        note=action.note,
    )
    return issue_url(other.id)


def _unmerge(action: ActionRequest) -> str:
    alias = action.typed("alias")
    if alias not in [f"{issue:016x}" for issue in action.issue.aliases]:
        raise InputError(f"expected an issue that is part of this one, got {alias!r}")
    undo_merge(action.client, int(alias, 16), actor=action.actor, now_ns=action.now_ns)
    return issue_url(int(alias, 16))


def _refuse_merge(action: ActionRequest) -> str:
    refuse_merge(
        action.client, action.issue.id, actor=action.actor, now_ns=action.now_ns, note=action.note
    )
    return issue_url(action.issue.id)


def _split(action: ActionRequest) -> str:
    made = split_issue(
        action.client, action.issue.id, actor=action.actor, now_ns=action.now_ns, note=action.note
    )
    return issue_url(made)


def _refuse_split(action: ActionRequest) -> str:
    refuse_split(
        action.client, action.issue.id, actor=action.actor, now_ns=action.now_ns, note=action.note
    )
    return issue_url(action.issue.id)


def _promote(action: ActionRequest) -> str:
    """Promote failures to the eval set, whose page shows the result."""
    name, number = action.typed("name"), action.typed("n")
    if "@" in name:
        raise InputError(f"expected a set's name without a release, got {name!r}")
    name, _ = parse_set_name(name)
    if not (number.isdecimal() and number.isascii() and 1 <= int(number[:9]) <= MAX_CASES):
        raise InputError(f"expected a number of cases from 1 to {MAX_CASES}, got {number!r}")
    redact = action.form.get("redact", "none")
    if redact not in ("none", "mask", "hash"):
        raise InputError(f"expected none, mask or hash of personal data, got {redact!r}")
    done = promote_issue(
        action.client,
        action.issue,
        name,
        number=int(number),
        actor=action.actor,
        now_ns=action.now_ns,
        embedder=embedder_of(load(ClusteringSettings).embedder),
        redactor=build_redactor(redact, ""),
        members=MAX_FAILURES,
    )
    return with_query(
        f"/evalsets/{name}",
        promoted=hex_id(action.issue.id),
        new=str(len(done.new)),
        known=str(done.known),
        alike=str(done.alike),
        refused=",".join(f"{why}:{count}" for why, count in sorted(done.refused.items())),
    )


ACTIONS: Mapping[str, Callable[[ActionRequest], str]] = {
    **{str(act): _move(act) for act in IssueAction},
    "assign": _assign,
    "link": _link,
    "note": _note,
    "rename": _rename,
    "merge": _merge,
    "unmerge": _unmerge,
    "refuse_merge": _refuse_merge,
    "split": _split,
    "refuse_split": _refuse_split,
    "promote": _promote,
}
BULK_ACTIONS = (*map(str, IssueAction), "assign")
# Actions that do not change the issues' figures.
FIGURES_UNCHANGED = {
    *map(str, IssueAction),
    "assign",
    "link",
    "note",
    "rename",
    "refuse_merge",
    "refuse_split",
    "promote",
}
