"""The pages /evalsets and /evalsets/NAME: sets, cases, and releases to download."""

from __future__ import annotations

import io
import re
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from otel_rt4chart.core.errors import InputError
from rt4chart_clustering.evalset.case import INELIGIBLE_REASONS
from rt4chart_clustering.evalset.formats import FORMATS
from rt4chart_clustering.evalset.load import SET_NAME, load_release
from rt4chart_clustering.evalset.review import parse_stored_case
from rt4chart_clustering.triage.find_issue import hex_id
from rt4chart_collector.console.app.console import Console
from rt4chart_collector.console.view.filters import label, link, shortened, when
from rt4chart_collector.console.view.paging import page_number, page_size, with_page_links
from rt4chart_collector.console.view.params import choice_param, integer_param
from rt4chart_collector.console.view.table import Column, Table, sort_param, sorted_rows
from rt4chart_collector.console.view.urls import escaped, issue_url
from rt4chart_collector.core.times import iso
from rt4chart_collector.store.issues.eval_sets import (
    CaseState,
    EvalRelease,
    EvalSetCounts,
    StoredCase,
    eval_sets,
    release,
    releases,
    stored_cases,
)

MS = 1_000_000
EMPTY = Markup(
    'No eval sets. Open an <a href="/issues">issue</a> and promote its failures to one, or run '
    "<code>rt4chart evalset promote ISSUE</code>."
)
NO_CASES = "No cases in this state. Choose another state above."
NO_RELEASES = "No releases. A release freezes the approved cases under a number, for the gate."


def show_eval_sets(console: Console, request: Request) -> Response:
    """GET /evalsets."""
    with console.store() as client:
        found = eval_sets(client)
    columns = _set_columns()
    sort = sort_param(request, columns, "name")
    rows = sorted_rows(found, columns, sort)
    table = Table("evalsets", "Eval sets", rows, columns, EMPTY, sort, total=len(found))
    return console.table(request, table, "evalsets.html")


def show_eval_set(console: Console, request: Request) -> Response:
    """GET /evalsets/NAME."""
    return _eval_set_page(console, request, "")


def post_release(console: Console, request: Request) -> Response:
    """POST /evalsets/NAME/release: release the approved cases under the next number."""
    actor, name = console.require_actor(request).name, set_name(request)
    try:
        with console.store() as client:
            release(client, name, actor=actor, now_ms=console.clock() // MS)
    except InputError as error:
        return _eval_set_page(console, request, str(error))
    return RedirectResponse(f"/evalsets/{name}#t-releases", 303)


def download_release(console: Console, request: Request) -> Response:
    """GET /evalsets/NAME/releases/NUMBER/LAYOUT: the release's file, or a zip of its files."""
    name, layout = set_name(request), request.path_params["layout"]
    number = request.path_params["number"]
    if layout not in FORMATS:
        raise HTTPException(404, f"expected a layout of {', '.join(FORMATS)}, got {layout!r}")
    if not re.fullmatch(r"[1-9]\d{0,8}", number):
        raise HTTPException(404, f"expected the number of a release, got {number!r}")
    try:
        with console.store() as client:
            _, cases = load_release(client, f"{name}@{number}")
    except InputError as error:
        raise HTTPException(404, str(error)) from error
    return _attached(FORMATS[layout](cases, f"{name}-{number}"), f"{name}-{number}-{layout}")


def _eval_set_page(console: Console, request: Request, wrong: str) -> Response:
    name, now_ns = set_name(request), console.clock()
    with console.store() as client:
        cases, known = stored_cases(client, name), releases(client, name)
    promotion = promotion_result(request)
    if not cases and not known and not promotion:
        raise HTTPException(404, f"expected the name of an eval set, got {name!r}")
    counts = Counter(case.state for case in cases)
    tables: list[Table[Any]] = [
        _cases_table(request, name, cases),
        _releases_table(known, now_ns),
    ]
    return console.tables(
        request,
        tables,
        "evalset.html",
        title=name,
        status=400 if wrong else 200,
        name=name,
        counts={str(state): counts[state] for state in CaseState},
        layouts=tuple(FORMATS),
        releases=known,
        promotion=promotion,
        wrong=wrong,
    )


def set_name(request: Request) -> str:
    """The set's name in the URL; 404 if it cannot be one."""
    name = str(request.path_params["name"])
    match = SET_NAME.fullmatch(name)
    if match is None or match["release"]:
        raise HTTPException(404, f"expected the name of an eval set, got {name[:80]!r}")
    return name


def promotion_result(request: Request) -> dict[str, object]:
    """The result of a promotion, from the query of the redirect; empty if there was none."""
    issue = request.query_params.get("promoted", "")
    if not re.fullmatch("[0-9a-f]{16}", issue):
        return {}
    counts = {
        name: integer_param(request, name, default=0, low=0, high=10**6)
        for name in ("new", "known", "alike")
    }
    pairs = re.findall(r"([a-z_]+):(\d{1,6})", request.query_params.get("refused", "")[:500])
    refused = [
        (int(count), INELIGIBLE_REASONS[why]) for why, count in pairs if why in INELIGIBLE_REASONS
    ]
    return {"issue": int(issue, 16), **counts, "refused": refused}


def case_url(name: str, case: str) -> str:
    """The URL of a case. Its id is escaped: in an imported set it may be any text."""
    return f"/evalsets/{name}/cases/{escaped(case)}"


def _set_columns() -> list[Column[EvalSetCounts]]:
    return [
        Column("name", "Set", lambda row: row.name,
               lambda row: link(f"/evalsets/{row.name}", row.name), is_sortable=True),
        Column("pending", "Pending", lambda row: row.pending, _waiting,
               is_number=True, is_sortable=True),
        Column("approved", "Approved", lambda row: row.approved, is_number=True, is_sortable=True),
        Column("rejected", "Rejected", lambda row: row.rejected, is_number=True, is_sortable=True),
        Column("release", "Latest release", lambda row: row.release or None,
               lambda row: f"{row.name}@{row.release}" if row.release else "none",
               is_sortable=True),
    ]  # fmt: skip


def _waiting(row: EvalSetCounts) -> Markup | str:
    if not row.pending:
        return "0"
    return Markup('{} · <a href="/evalsets/{}/review">review</a>').format(row.pending, row.name)


def _cases_table(
    request: Request, name: str, cases: Sequence[StoredCase]
) -> Table[tuple[StoredCase, str, str]]:
    """The cases in a state; only those on the page are parsed."""
    state = choice_param(request, "state", ("", *CaseState), "")
    found = [case for case in cases if state in ("", case.state)]
    end = page_number(request) * page_size(request)
    rows = [(case, *_question_and_labels(case)) for case in found[end - page_size(request) : end]]
    table = Table("cases", "Cases", rows, _case_columns(name), NO_CASES, total=len(found))
    return with_page_links(request, table, has_more=end < len(found))


def _question_and_labels(stored: StoredCase) -> tuple[str, str]:
    """A case's question, and the labels of its failures; of misleading claims the status."""
    case = parse_stored_case(stored)
    wrong = dict.fromkeys(
        str(claim.status if claim.is_misleading else claim.label)
        for claim in case.claims
        if claim.is_failure
    )
    return case.exchange.question, " ".join(wrong)


def _case_columns(name: str) -> list[Column[tuple[StoredCase, str, str]]]:
    return [
        Column("question", "Question", lambda row: row[1],
               lambda row: link(case_url(name, row[0].id), shortened(row[1]) or row[0].id)),
        Column("labels", "Answer was", lambda row: row[2],
               lambda row: Markup(" ").join(map(label, row[2].split()))),
        Column("state", "State", lambda row: str(row[0].state),
               lambda row: Markup('<span class="chip case-{0}">{0}</span>').format(row[0].state)),
        Column("issue", "Issue", lambda row: hex_id(row[0].issue) if row[0].issue else "",
               lambda row: link(issue_url(row[0].issue), hex_id(row[0].issue)[:8])
               if row[0].issue else "–"),
        Column("by", "By", lambda row: row[0].actor),
        Column("note", "Note", lambda row: row[0].note),
        Column("id", "Id", lambda row: row[0].id,
               lambda row: Markup("<code>{}</code>").format(row[0].id)),
    ]  # fmt: skip


def _releases_table(known: Sequence[EvalRelease], now_ns: int) -> Table[EvalRelease]:
    columns: list[Column[EvalRelease]] = [
        Column("release", "Release", lambda row: row.number),
        Column("cases", "Cases", lambda row: row.cases, is_number=True),
        Column("checksum", "SHA-256", lambda row: row.checksum),
        Column("by", "By", lambda row: row.actor),
        Column("released_at", "Released", lambda row: iso(row.released_ms * MS),
               lambda row: when(row.released_ms * MS, now_ns)),
    ]  # fmt: skip
    return Table("releases", "Releases", known, columns, empty=NO_RELEASES, total=len(known))


def _attached(files: Mapping[str, str], name: str) -> Response:
    """One file as it is, several files as a ZIP archive."""
    if len(files) == 1:
        ((filename, text),) = files.items()
        body, kind = text.encode("utf-8", "backslashreplace"), "application/octet-stream"
    else:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for inner, text in files.items():
                archive.writestr(inner, text.encode("utf-8", "backslashreplace"))
        filename, body, kind = f"{name}.zip", packed.getvalue(), "application/zip"
    headers = {"content-disposition": f'attachment; filename="{filename}"'}
    return Response(body, media_type=kind, headers=headers)
