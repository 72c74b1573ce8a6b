"""Saved views: names for addresses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import batch_token
from rt4chart_collector.store.views.saved_views import (
    ADDRESS_CHARS,
    MAX_VIEWS,
    VIEWS,
    SavedView,
    remove_view,
    save_view,
    saved_views,
)

REFUNDS = SavedView("ann", "Refunds", "/answers?q=route%3Arefunds", "ann", 1)
SHARED = SavedView("", "alerts of a week", "/alerts?since=7d", "ann", 1)


def test_a_person_has_their_views_and_those_of_everybody(client: Client) -> None:
    """By name, whatever its case."""
    save_view(client, REFUNDS)
    save_view(client, SHARED)

    assert saved_views(client, "ann") == [SHARED, REFUNDS]
    assert saved_views(client, "ben") == [SHARED]


def test_a_view_of_the_same_name_is_replaced(client: Client) -> None:
    """One of everybody is another than a person's."""
    save_view(client, REFUNDS)
    newer = save_view(client, replace(REFUNDS, address="/answers?q=refunds", version=2))
    shared = save_view(client, replace(REFUNDS, owner="", version=2))

    assert saved_views(client, "ann") == [shared, newer]


def test_a_view_is_removed(client: Client) -> None:
    """By those who have it; afterwards it can be saved again."""
    save_view(client, REFUNDS)
    with pytest.raises(InputError, match="expected the name of a saved view"):
        remove_view(client, owner="ben", name="Refunds", actor="ben", version=2)
    remove_view(client, owner="ann", name="Refunds", actor="ann", version=2)

    assert saved_views(client, "ann") == []
    again = save_view(client, replace(REFUNDS, version=3))
    assert saved_views(client, "ann") == [again]


@pytest.mark.parametrize(
    "address",
    [
        "",
        "answers",
        "//example.org",
        "/\\example.org",
        "https://example.org/",
        "javascript:alert(1)",
        "/answers?q=\n",
        "/ä",
        "/" + "x" * ADDRESS_CHARS,
    ],
)
def test_an_address_is_one_of_the_console(client: Client, address: str) -> None:
    """It names no other host, and no script."""
    with pytest.raises(InputError, match="expected the address of a page"):
        save_view(client, replace(REFUNDS, address=address))


def test_a_name_is_one_line(client: Client) -> None:
    """Without characters that hide others, and not empty."""
    stored = save_view(client, replace(REFUNDS, name=" a\n\u202eb" + "c" * 100))

    assert stored.name == "a b" + "c" * 76 + "…"
    with pytest.raises(InputError, match="expected a name"):
        save_view(client, replace(REFUNDS, name=" \n"))


def test_views_are_not_saved_without_end(client: Client) -> None:
    """One that is there may still be changed."""
    rows = [replace(REFUNDS, name=f"view {number}") for number in range(MAX_VIEWS)]
    VIEWS.insert(client, rows, token=batch_token("view", [("ann", 1)]))

    with pytest.raises(InputError, match="at most 200 views"):
        save_view(client, replace(REFUNDS, name="one more"))
    save_view(client, replace(rows[0], address="/", version=2))
    save_view(client, SHARED)
