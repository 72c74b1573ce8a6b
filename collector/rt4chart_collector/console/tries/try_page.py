"""The page on which people paste an answer and its passages; nothing of it is stored."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from otel_rt4chart.core.settings import load
from otel_rt4chart.core.text import bounded_name
from otel_rt4chart.judges.choice import configured_judges
from otel_rt4chart.settings.application import JudgeSettings
from otel_rt4chart.spans.model.verdict import Candidate, Decision, StagedPassage, Verdict
from otel_rt4chart.verify.core.model import Report
from rt4chart_collector.console.answers import wording
from rt4chart_collector.console.answers.answer_page import ClaimPages, shown_revision
from rt4chart_collector.console.answers.answer_view import AnswerView
from rt4chart_collector.console.answers.chain_view import ChainView
from rt4chart_collector.console.app.console import Console
from rt4chart_collector.console.app.section import Section
from rt4chart_collector.console.tries import trials as limits
from rt4chart_collector.console.tries.trials import (
    TrialError,
    TrialRequest,
    Trials,
    split_passages,
)
from rt4chart_collector.store.answers.claims import outline_of
from rt4chart_collector.store.answers.verdicts import rows_of

PATH = "/try"
TITLE = "Try your own"
NOTHING: Mapping[str, str] = {"question": "", "answer": "", "passages": ""}
EXAMPLE: Mapping[str, str] = {
    "question": "How long is the trial, and when are refunds paid?",
    "answer": "The trial lasts 30 days. Refunds are paid within 5 working days. It needs no card.",
    "passages": "The trial lasts 14 days and needs no card.\n---\n"
    "Refunds are paid within 5 working days if the request was approved.",
}


def try_section(trials: Trials | None = None) -> Section:
    """The section; `trials` bounds what is checked at once, by default one for each section."""
    trials = trials or Trials()

    def routes(console: Console) -> Sequence[BaseRoute]:
        return [
            Route(PATH, partial(show_form, console), methods=["GET"]),
            Route(PATH, _checking(console, trials), methods=["POST"]),
        ]

    folder = Path(__file__).parent / "templates"
    return Section("Try", PATH, routes, folder, order=45, reading_forms=frozenset({PATH}))


def show_form(console: Console, request: Request) -> Response:
    """GET /try: the empty form, or the example in it."""
    given = EXAMPLE if "example" in request.query_params else NOTHING
    return _page(console, request, given)


def _checking(console: Console, trials: Trials) -> Callable[[Request], Awaitable[Response]]:
    async def check(request: Request) -> Response:
        """POST /try: the form with the verdict above it, or with what is wrong."""
        form = console.form(request)
        # A browser ends lines of a text field with CR LF.
        given = {name: form.get(name, "").replace("\r\n", "\n") for name in NOTHING}
        try:
            asked = _request(console, form.get("judge", ""), given)
            report = await _while_connected(request, trials.run(asked))
        except ClientDisconnect:
            return Response()  # which nobody reads
        except TrialError as error:
            return await asyncio.to_thread(
                _page, console, request, given, error=str(error), status=error.status
            )
        return await asyncio.to_thread(_result, console, request, given, asked, report)

    return check


async def _while_connected(request: Request, work: Coroutine[object, object, Report]) -> Report:
    """The result of the work, which ends where the client hangs up: others wait for its place."""
    working, gone = asyncio.create_task(work), asyncio.create_task(_hung_up(request))
    try:
        await asyncio.wait((working, gone), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ClientDisconnect
    finally:
        working.cancel()
        gone.cancel()
        await asyncio.gather(working, gone, return_exceptions=True)


async def _hung_up(request: Request) -> None:
    """Return when the client has closed the connection; the form was read before."""
    while (await request.receive())["type"] != "http.disconnect":
        continue


def _request(console: Console, judge: str, given: Mapping[str, str]) -> TrialRequest:
    judges = _judges(console)
    if judge not in judges:
        known = ", ".join(judges)
        raise TrialError(f"The judge {bounded_name(judge)!r} is none of {known}: choose one.", 400)
    return TrialRequest(
        judge,
        given["question"].strip(),
        given["answer"].strip(),
        split_passages(given["passages"]),
        datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _judges(console: Console) -> tuple[str, ...]:
    return configured_judges(load(JudgeSettings), console.facts.judge)


def _page(
    console: Console,
    request: Request,
    given: Mapping[str, str],
    *,
    error: str = "",
    status: int = 200,
    **values: object,
) -> Response:
    """The form with the texts that were given, and what else the page shows."""
    return console.page(
        request,
        "try.html",
        title=TITLE,
        status=status,
        given=given,
        judges=_judges(console),
        chosen=console.form(request).get("judge", ""),
        error=error,
        limits=limits,
        **{"verification": None, **values},
    )


def _result(
    console: Console,
    request: Request,
    given: Mapping[str, str],
    asked: TrialRequest,
    report: Report,
) -> Response:
    """What the answer's page shows of a stored answer, without a trace."""
    exchange, now_ns = asked.exchange, time.time_ns()
    candidate = Candidate(
        exchange=exchange,
        trace_id="",
        span_id="",
        start_ns=now_ns,
        service="",
        route="",
        staged=tuple(StagedPassage(passage, ()) for passage in exchange.passages),
    )
    verdict = Verdict(candidate, Decision.VERIFIED, report.judge, 1.0, now_ns, report)
    verification, claims = rows_of(verdict)
    texts = {passage.id: passage for passage in exchange.passages}
    view = AnswerView(verification, [outline_of(claim) for claim in claims], claims, texts)
    return _page(
        console,
        request,
        given,
        verification=verification,
        is_stored=False,
        view=view,
        chain=ChainView(),
        claims=list(view.claims((), ())),
        pages=ClaimPages(tuple(range(len(claims))), "", 1, 1, {"": len(claims)}),
        action=wording.ACTIONS.get(verification.advice.action),
        revised=shown_revision(verification),
        texts_gone=False,
        is_part=False,
        words=wording,
        took_s=(report.usage.milliseconds or 0.0) / 1000,
    )


SECTION = try_section()
