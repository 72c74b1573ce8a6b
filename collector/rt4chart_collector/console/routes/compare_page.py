"""The page that compares two versions: rates, issues, and the answers to the same questions."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.comparison.compare import (
    VersionComparison,
    begin_comparison,
)
from rt4chart_collector.comparison.sides import (
    KIND_NAMES,
    ComparisonRequest,
    NoComparisonError,
    choose_sides,
    find_versions,
    left_out_words,
    named_sides,
    shown_name,
    side_name,
    spoken_names,
)
from rt4chart_collector.comparison.wording import difference_words, routes_words
from rt4chart_collector.console.app.console import Console
from rt4chart_collector.console.app.section import Section, page_routes
from rt4chart_collector.console.routes.compare_tables import (
    comparison_tables,
    pair_views,
    similar_issues,
)
from rt4chart_collector.console.view.measures import TITLES, measure_param
from rt4chart_collector.console.view.params import (
    choice_param,
    is_partial,
    is_whole,
    text_param,
)
from rt4chart_collector.console.view.table import HTML, format_param
from rt4chart_collector.store.engine.version_scope import VersionKind
from rt4chart_collector.store.rates.version_rates import VersionTraffic


def show_comparison(console: Console, request: Request) -> Response:
    """GET /compare?service=&route=&by=release&a=&b=&since=, or one of its tables with `?format=`.

    Rates are read from sums. Issues and answers are the details, which take longer, and which the
    page asks for when it is shown: `?partial=1` is these alone, `?part=whole` a page with both.
    Status 400, and the versions that there are, where those that were named cannot be compared.
    """
    asked, measure = _request(console, request), measure_param(request)
    is_part, has_all = is_partial(request), is_whole(request)
    has_details = is_part or has_all or text_param(request, "table") == "issues"
    begin = partial(begin_comparison, measure=measure if has_details else None)
    with console.reads() as reads:
        # Where the versions are named, they are compared while it is read whether there are such.
        named = named_sides(asked)
        begun = begin(reads, *named) if named else None
        versions = reads.start(partial(find_versions, request=asked)).result()
        try:
            a, b = choose_sides(asked, versions)
        except NoComparisonError as error:
            return _without(console, request, asked, versions, str(error))
        found = (begun or begin(reads, a, b))()
    names = {"a": side_name(a), "b": side_name(b)}
    rate = found.rates.measures[measure]
    return console.tables(
        request,
        comparison_tables(found, measure),
        "compare_details.html" if is_part else "compare.html",
        title=f"{names['a']} and {names['b']} compared",
        **_choices(request, asked, versions, found),
        problem="",
        found=found,
        has_details=has_details,
        names=names,
        measure_title=TITLES[measure],
        rate=rate,
        words=difference_words(rate, **spoken_names(a, b)),
        routes_words=routes_words(found.rates),
        pairs=pair_views(found),
        similar=similar_issues(found),
    )


def _request(console: Console, request: Request) -> ComparisonRequest:
    """What the query asks for; without a service or a route, of all of them."""
    service, route = text_param(request, "service"), text_param(request, "route")
    scope = replace(console.scope(request), service=service or None, route=route or None)
    kind = VersionKind(choice_param(request, "by", tuple(VersionKind), VersionKind.RELEASE))
    return ComparisonRequest(kind, text_param(request, "a"), text_param(request, "b"), scope)


def _without(
    console: Console,
    request: Request,
    asked: ComparisonRequest,
    versions: list[VersionTraffic],
    problem: str,
) -> Response:
    """The page with the reason why there is no comparison."""
    was_named = bool(asked.a or asked.b)
    if format_param(request) != HTML:
        raise HTTPException(400, problem)
    return console.page(
        request,
        "compare.html",
        title="Compare two versions",
        status=400 if was_named else 200,
        **_choices(request, asked, versions, None),
        problem=problem,
    )


def _choices(
    request: Request,
    asked: ComparisonRequest,
    versions: list[VersionTraffic],
    found: VersionComparison | None,
) -> dict[str, Any]:
    """What the form offers, and what is chosen."""
    chosen = asked.a, asked.b
    if found is not None:
        chosen = shown_name(found.a.version), shown_name(found.b.version)
    return {
        "kinds": KIND_NAMES,
        "kind": asked.kind,
        "service": asked.scope.service or "",
        "route": asked.scope.route or "",
        "options": [(shown_name(one.version), one.answers) for one in versions],
        "left_out": left_out_words(
            asked.kind, len(versions), max((one.number for one in versions), default=0)
        ),
        "chosen": chosen,
        "measure": measure_param(request),
        "measures": tuple(Measure),
    }


ROUTES = page_routes(("GET", "/compare", show_comparison))
SECTION = Section("Compare", "/compare", ROUTES, Path(__file__).parent / "templates", order=15)
