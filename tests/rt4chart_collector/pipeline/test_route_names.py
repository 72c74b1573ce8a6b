"""Routes that are paths with ids are one route, and floods of names are bounded."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.core.tenants import stored_service
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.pipeline.route_names import (
    OTHER_ROUTES,
    RouteNames,
    folded_route,
    route_note,
)
from tests.rt4chart_collector.records import verdict
from tests.rt4chart_collector.telemetry.asked import samples

ANSWER = verdict(1).candidate
DAY_NS = 24 * 3600 * 10**9


@pytest.mark.parametrize(
    ("route", "stored"),
    [
        ("/users/123", "/users/{id}"),
        ("GET /users/123/orders?page=2", "GET /users/{id}/orders"),
        ("https://shop.test/c/9f86d081884c7d659a2f", "https://shop.test/c/{id}"),
        ("/t/0f8fad5b-d9cb-469f-a165-70867728950e/chat", "/t/{id}/chat"),
        ("/o/01ARZ3NDEKTSV4RRFFQ69G5FAV", "/o/{id}"),
        ("/pay/cus_9s6XKzkNRiz8i3", "/pay/{id}"),
        ("/reports/2026-01-30", "/reports/{id}"),
        ("/users/{id}", "/users/{id}"),
        ("/v1/chat/completions", "/v1/chat/completions"),
        ("/users/<int:user_id>", "/users/<int:user_id>"),
        ("/faq/how-to-return-an-item", "/faq/how-to-return-an-item"),
        ("support/refunds", "support/refunds"),
        ("support/2024", "support/2024"),
        ("RunnableSequence 42", "RunnableSequence 42"),
        ("", ""),
    ],
)
def test_ids_in_paths_are_folded(route: str, stored: str) -> None:
    """Numbers, UUIDs, hashes and tokens as whole segments; other names stay."""
    assert folded_route(route) == stored


@given(st.text(max_size=80))
def test_a_folded_route_stays(route: str) -> None:
    """It can be folded again, by another process."""
    assert folded_route(folded_route(route)) == folded_route(route)


def test_routes_beyond_the_limit_are_one_route() -> None:
    """Those known before keep their names; both changes are counted."""
    metrics = ServiceMetrics()
    names = RouteNames(folds=True, limit=4, clock=lambda: 0, metrics=metrics)
    routes = ["/u/1", "support", "third", "/u/2", "support", "fourth"]

    stored = [one.route for one in names.named(replace(ANSWER, route=name) for name in routes)]

    assert stored == ["/u/{id}", "support", OTHER_ROUTES, "/u/{id}", "support", OTHER_ROUTES]
    found = samples(metrics.exposition()[0].decode())
    assert found["rt4chart_routes_renamed_total", (("reason", "folded"),)] == 2
    assert found["rt4chart_routes_renamed_total", (("reason", "overflow"),)] == 2


def test_pages_say_what_a_name_of_ours_stands_for() -> None:
    """Of other routes they say nothing."""
    assert "UUID" in route_note("GET /users/{id}/orders")
    assert "RT4CHART_ROUTE_LIMIT" in route_note(OTHER_ROUTES)
    assert route_note("support/{id}s") == route_note("support") == ""


def test_folding_can_be_switched_off() -> None:
    """The limit holds without it."""
    names = RouteNames(folds=False, limit=1, clock=lambda: 0)

    found = names.named([replace(ANSWER, route="/u/1"), replace(ANSWER, route="/u/2")])

    assert [one.route for one in found] == ["/u/1", OTHER_ROUTES]
    assert found[0] is not found[1]


def named(names: RouteNames, service: str, *routes: str) -> list[str]:
    """The names under which answers of these routes are stored."""
    answers = (replace(ANSWER, service=service, route=route) for route in routes)
    return [answer.route for answer in names.named(answers)]


def test_a_flood_of_one_service_leaves_names_to_others() -> None:
    """It takes half of the limit; the next one, half of what is free."""
    names = RouteNames(folds=True, limit=8, clock=lambda: 0)

    flood = named(names, "flood", *(f"name {number}" for number in range(100)))

    assert flood.count(OTHER_ROUTES) == 96
    assert named(names, "shop", "checkout", "support") == ["checkout", "support"]
    assert named(names, "bank", "cards") == ["cards"]


def test_a_flood_of_one_tenant_leaves_names_to_others() -> None:
    """Also where it makes up a service for every route."""
    names = RouteNames(folds=True, limit=8, clock=lambda: 0)

    flood = [named(names, stored_service("evil", f"s{number}"), "r") for number in range(100)]

    assert sum(found == [OTHER_ROUTES] for found in flood) == 96
    assert named(names, stored_service("shop", "web"), "a", "b") == ["a", "b"]
    assert named(names, "untenanted", "c") == ["c"]


def test_routes_that_the_store_knows_keep_their_names() -> None:
    """A flood that comes before their next answer takes none of them."""
    names = RouteNames(folds=True, limit=8, clock=lambda: 0)
    names.know([("shop", "checkout"), ("shop", "support")])

    named(names, "shop", *(f"name {number}" for number in range(100)))

    assert named(names, "shop", "checkout", "support") == ["checkout", "support"]


def test_many_known_routes_leave_names_to_new_ones() -> None:
    """The first half is kept: after a flood, the store knows the names of that too."""
    names = RouteNames(folds=True, limit=8, clock=lambda: 0)

    names.know([("flood", f"name {number}") for number in range(100)])

    assert named(names, "flood", "name 3", "name 4") == ["name 3", OTHER_ROUTES]
    assert named(names, "shop", "checkout") == ["checkout"]


def test_a_name_without_answers_for_a_day_is_free() -> None:
    """One that is used keeps its place."""
    now = [0]
    names = RouteNames(folds=True, limit=4, clock=lambda: now[0])
    assert named(names, "shop", "old", "used", "new") == ["old", "used", OTHER_ROUTES]
    now[0] = DAY_NS - 1
    named(names, "shop", "used")

    now[0] = DAY_NS

    assert named(names, "shop", "new", "used", "old") == ["new", "used", OTHER_ROUTES]


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("stuvwxyz"), st.integers(0, 9))),
    st.integers(1, 12),
)
def test_no_more_names_than_the_limit_are_used_in_a_day(
    answers: list[tuple[str, str, int]], limit: int
) -> None:
    """Whatever comes in which order, and however the clock steps."""
    now = [0]
    names = RouteNames(folds=True, limit=limit, clock=lambda: now[0])
    used: dict[tuple[str, str], int] = {}

    for service, route, hours in answers:
        now[0] += hours * DAY_NS // 24
        [stored] = named(names, service, route)
        if stored == route:
            used[service, route] = now[0]

        assert sum(at > now[0] - DAY_NS for at in used.values()) <= limit
