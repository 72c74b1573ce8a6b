"""The pages that review the cases of an eval set, one after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.model import Label
from rt4chart_clustering.console.evalset_pages import case_url, set_name
from rt4chart_clustering.evalset.case import INELIGIBLE_REASONS, EvalCase, ineligible_exchange
from rt4chart_clustering.evalset.review import decide_case, parse_stored_case
from rt4chart_clustering.triage.find_issue import hex_id
from rt4chart_collector.console.answers.segments import TextMark, Window, fitting, windows
from rt4chart_collector.console.app.console import Console
from rt4chart_collector.console.view.urls import answer_url, unescaped
from rt4chart_collector.store.issues.eval_sets import (
    CaseState,
    StoredCase,
    stored_cases,
    write_cases,
)

# Characters of an answer and of a passage that a page shows, and those around each mark.
ANSWER, PASSAGE, AROUND = 20_000, 4_000, 400
PASSAGES = 60
LONGEST = 20_000
WEIGHTS = {Label.CONTRADICTED: 4, Label.BASELESS: 3, Label.UNDECIDED: 2, Label.ENTAILED: 1}
DECISIONS = {"approve": CaseState.APPROVED, "reject": CaseState.REJECTED}


@dataclass(frozen=True, slots=True)
class ReviewPosition:
    """A case's position among the pending ones: its neighbours' ids, its number, their count."""

    before: str
    after: str
    number: int
    pending: int


def begin_review(console: Console, request: Request) -> Response:
    """GET /evalsets/NAME/review: the first pending case, or the set if there is none."""
    name = set_name(request)
    with console.store() as client:
        cases = stored_cases(client, name)
    first = next((case.id for case in cases if case.state is CaseState.PENDING), None)
    return RedirectResponse(f"/evalsets/{name}" if first is None else case_url(name, first), 302)


def show_case(console: Console, request: Request) -> Response:
    """GET /evalsets/NAME/cases/ID."""
    with console.store() as client:
        cases = stored_cases(client, set_name(request))
    return _case_page(console, request, cases, _case_of(request, cases), "")


def post_decision(console: Console, request: Request) -> Response:
    """POST to the same URL: approve or reject the case, and show the next pending one."""
    actor, form = console.require_actor(request).name, console.form(request)
    name = set_name(request)
    with console.store() as client:
        cases = stored_cases(client, name)
        stored = _case_of(request, cases)
        try:
            made = _decided(stored, form, actor)
        except InputError as error:
            wrong = str(error)
        else:
            write_cases(client, name, [made], version=console.clock())
            position = find_position(cases, stored.id)
            to = position.after or position.before
            url = case_url(name, to) if to else f"/evalsets/{name}"
            return RedirectResponse(url, 303)
    return _case_page(console, request, cases, stored, wrong)


def _case_page(
    console: Console, request: Request, cases: Sequence[StoredCase], stored: StoredCase, wrong: str
) -> Response:
    name, case = set_name(request), parse_stored_case(stored)
    position, why = find_position(cases, stored.id), ineligible_exchange(case.exchange)
    form = console.form(request) if wrong else {}
    passages = [
        (passage.id, windows(passage.text, [], longest=PASSAGE, around=AROUND), len(passage.text))
        for passage in case.exchange.passages[:PASSAGES]
    ]
    return console.page(
        request,
        "evalset_case.html",
        title=f"Case of {name}",
        status=400 if wrong else 200,
        name=name,
        stored=stored,
        case=case,
        position=position,
        before_url=case_url(name, position.before) if position.before else "",
        after_url=case_url(name, position.after) if position.after else "",
        answer=_marked_answer(case),
        labels={at: str(claim.label) for at, claim in enumerate(case.claims)},
        passages=passages,
        passages_left=len(case.exchange.passages) - len(passages),
        answer_link=_answer_link(case),
        issue=stored.issue,
        issue_id=hex_id(stored.issue),
        unfit=INELIGIBLE_REASONS[why] if why else "",
        wrong=wrong,
        typed=form,
    )


def find_position(cases: Sequence[StoredCase], name: str) -> ReviewPosition:
    """The case's position among the pending ones, in the order of their ids."""
    pending = [case.id for case in cases if case.state is CaseState.PENDING]
    before = [other for other in pending if other < name]
    after = [other for other in pending if other > name]
    return ReviewPosition(
        before=before[-1] if before else "",
        after=after[0] if after else "",
        number=len(before) + 1,
        pending=len(pending),
    )


def _case_of(request: Request, cases: Sequence[StoredCase]) -> StoredCase:
    case_id = unescaped(str(request.path_params["case"]))
    found = next((case for case in cases if case.id == case_id), None)
    if found is None:
        raise HTTPException(404, f"expected the id of a case of the set, got {case_id[:80]!r}")
    return found


def _decided(stored: StoredCase, form: Mapping[str, str], actor: str) -> StoredCase:
    """The decided case; InputError for a wrong form, or if the case was decided meanwhile."""
    decision, reference = form.get("decision", ""), form.get("reference", "")
    if decision not in DECISIONS:
        raise InputError(f"expected approve or reject, got {decision[:40]!r}")
    if len(reference) > LONGEST or len(form.get("note", "")) > LONGEST:
        raise InputError(f"expected texts of at most {LONGEST} characters: shorten them")
    if form.get("was", "") != stored.state:
        raise InputError(
            f"{stored.actor} has {stored.state} this case since you opened it: decide again"
        )
    note = form.get("note", "")
    return decide_case(stored, DECISIONS[decision], actor=actor, note=note, reference=reference)


def _marked_answer(case: EvalCase) -> tuple[Window, ...]:
    """The recorded answer with its claims marked."""
    text = case.exchange.answer
    marks = [
        TextMark(claim.start, claim.end, at, WEIGHTS[claim.label])
        for at, claim in enumerate(case.claims)
        if claim.label in WEIGHTS
    ]
    fits, _ = fitting(text, marks)
    return windows(text, fits, longest=ANSWER, around=AROUND)


def _answer_link(case: EvalCase) -> str:
    source = case.source
    return answer_url(source.trace_id, source.span_id) if source.trace_id and source.span_id else ""
