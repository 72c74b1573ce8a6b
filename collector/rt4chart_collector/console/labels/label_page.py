"""The page where a person labels drawn claims, one after the other, and where claims are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.console.app.console import Console, session_of
from rt4chart_collector.console.app.section import Section, page_routes
from rt4chart_collector.console.labels.label_view import TaskView, task_view
from rt4chart_collector.console.view.params import (
    bad_request,
    choice_param,
    integer_param,
    text_param,
)
from rt4chart_collector.console.view.time_range import SECOND_NS, WINDOWS
from rt4chart_collector.console.view.timed_cache import TimedCache
from rt4chart_collector.console.view.urls import named_route, route_value, with_query
from rt4chart_collector.labelling.status import missing_text
from rt4chart_collector.labelling.task_reading import LabellingTask, read_task
from rt4chart_collector.labelling.tasks import (
    Rater,
    RaterAnswer,
    next_task,
    record_answer,
    route_progress,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.corrected_rates import RouteRate, rates_by_labels
from rt4chart_collector.store.labels.draw_rows import QueueRow
from rt4chart_collector.store.labels.draws import (
    DEFAULT_SEED,
    MAX_SIZE,
    DrawRequest,
    LabelDraw,
    draw_claims,
    latest_draw,
    latest_draw_id,
    read_draw,
)
from rt4chart_collector.store.labels.trusted_labels import (
    LabelRow,
    labels_of_draw,
    labels_on,
    withdraw_label,
)
from rt4chart_collector.store.rates.claim_rates import rates_by

UNDO = "undo"
CHOICES = (*map(str, RaterAnswer), UNDO)
SIZE, DRAW_WINDOW = 100, "7d"
MAX_DRAWS, DRAW_AGE_NS = 4, 3600 * SECOND_NS
GONE = "That claim is gone: it was deleted or judged anew. The label was not stored."


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the labelling of a route is: its drawn claims with a label, and what is missing."""

    labelled: int
    drawn: int
    missing: str


@dataclass(frozen=True, slots=True)
class LabelState:
    """What the page shows a rater: the claim to label, and the rater's last label in the draw."""

    draw: LabelDraw
    task: TaskView | None
    progress: Progress | None
    last: LabelRow | None
    routes: tuple[RouteRate, ...]


class DrawCache:
    """The last draws that were asked for: a stored draw never changes."""

    def __init__(self) -> None:
        """Nothing is read yet."""
        self._known: TimedCache[str, LabelDraw] = TimedCache(most=MAX_DRAWS, fresh_ns=DRAW_AGE_NS)

    def read(self, client: Client, draw_id: str, now_ns: int) -> LabelDraw:
        """The draw; InputError for an unknown id."""
        found = self._known.get(draw_id, now_ns)
        if found is None:
            found = read_draw(client, draw_id)
            self._known.put(draw_id, found, now_ns)
        return found

    def latest(self, client: Client, scope: QueryScope, now_ns: int) -> LabelDraw | None:
        """The last draw of the scope."""
        draw_id = latest_draw_id(client, scope)
        return self.read(client, draw_id, now_ns) if draw_id else None


def show_label(draws: DrawCache, console: Console, request: Request) -> Response:
    """GET /label: the next claim of the last draw, of `?route=` if given; without one, a form."""
    claim = text_param(request, "claim", longest=300)
    notice = GONE if choice_param(request, "gone", ("", "1"), "") else ""
    with console.store() as client:
        draw = draws.latest(client, _scope(console, request), console.clock())
    if draw is None:
        return show_draw_form(console, request)
    return _page(console, request, draw, claim=claim, notice=notice)


def post_label(draws: DrawCache, console: Console, request: Request) -> Response:
    """POST /label: store or undo a label, then the next claim: a part of the page, or a 303.

    Of the form, only the ids of draw and claim are used to find what is labelled.
    """
    rater = Rater(console.require_actor(request).name, source="console")
    form = console.form(request)
    choice = form.get("label", "")
    if choice not in CHOICES:
        raise bad_request("label", " or ".join(CHOICES), choice)
    now_ns = console.clock()
    with console.store() as client:
        draw = draws.read(client, form.get("draw", ""), now_ns)
        row = _drawn_row(draw, form.get("claim", ""))
        if choice == UNDO:
            _undo(client, row, rater, at_ns=now_ns)
            claim, notice = row.id, ""
        else:
            is_stored = _record(client, row, rater, RaterAnswer(choice), at_ns=now_ns)
            claim, notice = "", "" if is_stored else GONE
        last = draws.latest(client, _scope(console, request), now_ns) or draw
    if "x-partial" in request.headers:
        return _page(console, request, last, claim=claim, notice=notice, is_part=True)
    query = {name: request.query_params.get(name, "") for name in ("route", "verifier")}
    return RedirectResponse(
        with_query("/label", **query, claim=claim, gone="1" if notice else ""), 303
    )


def show_draw_form(console: Console, request: Request) -> Response:
    """GET /label/draw: the form that draws claims."""
    verifier = console.verifier(request)
    with console.store() as client:
        since_ns = console.clock() - WINDOWS["30d"] * SECOND_NS
        scope = QueryScope(since_ns, verifier=verifier)
        found = rates_by(client, "route", scope) if verifier else ()
    return console.page(
        request,
        "label_draw.html",
        title="Draw claims to label",
        verifier=verifier,
        routes=[(route_value(one.service, one.route), one) for one in found],
        route=text_param(request, "route"),
        size=integer_param(request, "size", default=SIZE, low=1, high=MAX_SIZE),
        most=MAX_SIZE,
        draw_window=DRAW_WINDOW,
    )


def post_draw(console: Console, request: Request) -> Response:
    """POST /label/draw: draw claims of the route, or of all; the draw is the one to label then."""
    actor, form = console.require_actor(request), console.form(request)
    route, since, size = (form.get(name, "") for name in ("route", "since", "size"))
    if since not in WINDOWS:
        raise bad_request("since", " or ".join(WINDOWS), since)
    if not size.isdecimal() or not 1 <= int(size[:9]) <= MAX_SIZE:
        raise bad_request("size", f"a whole number from 1 to {MAX_SIZE}", size)
    now = console.clock()
    since_ns = now - WINDOWS[since] * SECOND_NS
    scope = QueryScope(since_ns, now, console.verifier(request), *named_route(route))
    with console.store() as client:
        last = latest_draw(client, scope)
        seed = last.routes[0].seed if last is not None else DEFAULT_SEED
        draw_claims(client, DrawRequest(scope, int(size), actor.name, seed), now_ns=now)
    console.label_findings.forget()
    verifier = request.query_params.get("verifier", "")
    return RedirectResponse(with_query("/label", route=route, verifier=verifier), 303)


def _scope(console: Console, request: Request) -> QueryScope:
    """The draws that the page is about: of the verifier, and of `?route=SERVICE/ROUTE`."""
    service, route = named_route(text_param(request, "route"))
    return QueryScope(verifier=console.verifier(request), service=service, route=route)


def _page(
    console: Console,
    request: Request,
    draw: LabelDraw,
    *,
    claim: str = "",
    notice: str = "",
    is_part: bool = False,
) -> Response:
    session = session_of(request)
    route = text_param(request, "route")
    may_label = session is not None and console.access.may_change(session)
    rater = session.actor.name if session is not None and may_label else ""
    part = draw.part(*named_route(route))
    with console.store() as client:
        state = _read_state(client, part, rater, claim=claim, now_ns=console.clock())
    return console.page(
        request,
        "label_task.html" if is_part else "label.html",
        title="Label claims",
        state=state,
        notice=notice,
        route=route,
        drawn_routes=[(route_value(*one.key), one) for one in draw.routes],
        # A draw of the same size from the same answers would have the same claims again.
        larger=str(min(2 * draw.routes[0].size, MAX_SIZE)),
        rater=rater,
        is_named=session is not None and bool(session.user),
        action=with_query("/label", route=route, verifier=text_param(request, "verifier")),
    )


def _read_state(
    client: Client, draw: LabelDraw, name: str, *, claim: str, now_ns: int
) -> LabelState:
    """The state for this rater; nobody who may not label is given a claim."""
    labels = labels_of_draw(client, draw)
    own = [one for one in labels if one.rater == name]
    task = None
    if name:
        rater = Rater(name, source="console")
        task = _asked_for(client, draw, claim, own) or next_task(
            client, draw, rater, now_ns=now_ns, labels=labels
        )
    last = max(own, key=lambda one: one.version, default=None)
    if task is None:
        return LabelState(draw, None, None, last, tuple(rates_by_labels(draw, labels)))
    rate = route_progress(draw, labels, task.row)
    drawn = sum(1 for row in draw.queue if (row.service, row.route) == (rate.service, rate.route))
    progress = Progress(drawn - rate.pending, drawn, missing_text(rate))
    return LabelState(draw, task_view(task), progress, last, ())


def _asked_for(
    client: Client, draw: LabelDraw, claim: str, own: list[LabelRow]
) -> LabellingTask | None:
    """The claim of `?claim=`, as after an undo, if this rater has no label on it."""
    row = next((row for row in draw.queue if row.id == claim), None)
    if row is None or any(one.id == claim for one in own):
        return None
    return read_task(client, row)


def _drawn_row(draw: LabelDraw, claim: str) -> QueueRow:
    row = next((row for row in draw.queue if row.id == claim), None)
    if row is None:
        raise InputError(f"expected the id of a claim of draw {draw.id}, got {claim[:300]!r}")
    return row


def _record(
    client: Client, row: QueueRow, rater: Rater, answer: RaterAnswer, *, at_ns: int
) -> bool:
    """Store the label; False where the claim is gone, which `next_task` then passes over."""
    task = read_task(client, row)
    if task is None:
        return False
    status = answer.status(task)
    record_answer(client, row, rater, answer.label, at_ns=at_ns, status=status)
    return True


def _undo(client: Client, row: QueueRow, rater: Rater, *, at_ns: int) -> None:
    """Take this rater's label on the claim back; without one there is nothing to do."""
    for label in labels_on(client, row.verifier, [row.claim_key]):
        if label.rater == rater.name:
            withdraw_label(client, label, at_ns=at_ns)


def routes(console: Console) -> Sequence[BaseRoute]:
    """The pages of a console, with its cache of draws."""
    draws = DrawCache()
    pages = page_routes(
        ("GET", "/label", partial(show_label, draws)),
        ("POST", "/label", partial(post_label, draws)),
        ("GET", "/label/draw", show_draw_form),
        ("POST", "/label/draw", post_draw),
    )
    return pages(console)


FOLDER = Path(__file__).parent
SECTION = Section(
    "Label", "/label", routes, FOLDER / "templates", order=40, static=FOLDER / "static"
)
