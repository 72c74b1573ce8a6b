"""What labels say of a scope: kept for a while, and never waited for longer than a page may."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from otel_rt4chart.core.errors import NoStoreError, StoreError
from rt4chart_collector.console.app.label_findings import (
    COUNTING,
    FRESH_NS,
    LATE,
    MAX_AGE_NS,
    MAX_READING,
    NONE,
    FindingsCache,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from tests.rt4chart_collector.store.labels.label_rows import (
    NOW,
    SCOPE,
    draw,
    insert_answers,
    label_all,
)


class Background:
    """Runs what is given to it when the test says so; at once by default."""

    def __init__(self, *, at_once: bool = True) -> None:
        self.calls: list[Callable[[], None]] = []
        self._at_once = at_once
        self.runs = 0

    def __call__(self, _: str, call: Callable[[], None]) -> None:
        self.calls.append(call)
        if self._at_once:
            self.run()

    def run(self) -> None:
        """Run all that waits."""
        calls, self.calls = self.calls, []
        self.runs += len(calls)
        for call in calls:
            call()


def cache_of(client: Client, background: Background, wait_s: float = 0.0) -> FindingsCache:
    """A cache over a test's database."""

    @contextmanager
    def store() -> Iterator[Client]:
        yield client

    return FindingsCache(store, background, wait_s)


def later(scope: QueryScope, ns: int) -> QueryScope:
    """The scope of a page that is opened so much later."""
    return scope.of_time(scope.since_ns + ns, scope.until_ns + ns)


def test_without_a_draw_there_are_no_rates(client: Client) -> None:
    """Nor without a verifier, where nothing is read."""
    insert_answers(client, range(1, 4))
    background = Background()
    cache = cache_of(client, background)

    assert cache.find(SCOPE, SCOPE.until_ns) == NONE
    assert cache.find(replace(SCOPE, verifier=""), SCOPE.until_ns) == NONE
    assert background.runs == 1


def test_the_rates_of_drawn_routes_are_found(client: Client) -> None:
    """With the agreement of the raters."""
    insert_answers(client, range(1, 41))
    found = draw(client, 30)
    label_all(client, found.queue)

    labels = cache_of(client, Background()).find(SCOPE, SCOPE.until_ns)

    (rate,) = labels.rates.values()
    assert labels.is_drawn
    assert list(labels.rates) == [("shop", "support")]
    assert rate.corrected.labels > 20
    assert dict(labels.agreement.labels) == {"ann": 30}


def test_findings_are_kept_and_renewed_in_the_background(client: Client) -> None:
    """Fresh ones are not read again; older ones are shown while they are; then pages wait."""
    insert_answers(client, range(1, 11))
    background = Background()
    cache = cache_of(client, background)
    assert not cache.find(SCOPE, SCOPE.until_ns).is_drawn
    draw(client, 5)

    assert not cache.find(later(SCOPE, FRESH_NS - 1), SCOPE.until_ns + FRESH_NS - 1).is_drawn
    assert background.runs == 1
    assert not cache.find(later(SCOPE, FRESH_NS), SCOPE.until_ns + FRESH_NS).is_drawn
    assert background.runs == 2
    assert cache.find(later(SCOPE, FRESH_NS + 1), SCOPE.until_ns + FRESH_NS + 1).is_drawn
    cache.forget()
    cache.find(SCOPE, SCOPE.until_ns)
    assert background.runs == 3


def test_a_page_does_not_wait_for_a_slow_reading(client: Client) -> None:
    """It says so; the findings are there when they have been read, and are read once."""
    insert_answers(client, range(1, 11))
    draw(client, 5)
    background = Background(at_once=False)
    cache = cache_of(client, background)

    assert [cache.find(SCOPE, SCOPE.until_ns), cache.find(SCOPE, SCOPE.until_ns)] == [LATE, LATE]
    assert len(background.calls) == 1
    background.run()

    assert cache.find(SCOPE, SCOPE.until_ns).is_drawn


def test_a_page_that_says_so_does_not_wait_for_a_first_reading(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Findings that a page has seen are shown while others are read, without a wait."""
    monkeypatch.setattr("rt4chart_collector.console.app.label_findings.FIRST_WAIT_S", 0.0)
    insert_answers(client, range(1, 11))
    draw(client, 5)
    background = Background(at_once=False)
    cache = cache_of(client, background, wait_s=3600.0)
    end, later_ns = SCOPE.until_ns, 2 * FRESH_NS

    assert cache.find(SCOPE, end, may_count=True) == COUNTING
    background.run()
    known = cache.find(SCOPE, end, may_count=True)
    assert known.is_drawn
    assert cache.find(later(SCOPE, later_ns), end + later_ns, may_count=True) == known
    assert len(background.calls) == 1
    background.run()


def test_few_scopes_are_read_at_a_time(client: Client) -> None:
    """Whoever asks for many routes starts no thread for each."""
    background = Background(at_once=False)
    cache = cache_of(client, background)

    for number in range(MAX_READING * 2):
        cache.find(SCOPE.of_route("shop", f"route {number}"), SCOPE.until_ns)

    assert len(background.calls) == MAX_READING
    background.run()


@pytest.mark.parametrize(
    ("error", "found"), [(StoreError("timed out"), LATE), (NoStoreError("no tables"), NONE)]
)
def test_an_unreachable_store_is_no_error_of_the_page(
    client: Client, error: StoreError, found: object
) -> None:
    """What took too long is tried again after a while; without the tables there are no labels."""
    background = Background()

    @contextmanager
    def store() -> Iterator[Client]:
        raise error
        yield client

    cache = FindingsCache(store, background, 0.0)

    assert cache.find(SCOPE, SCOPE.until_ns) is found
    cache.find(later(SCOPE, FRESH_NS), SCOPE.until_ns + FRESH_NS)
    assert background.runs == (1 if found is LATE else 2)
    cache.find(later(SCOPE, FRESH_NS + MAX_AGE_NS), SCOPE.until_ns + FRESH_NS + MAX_AGE_NS)
    assert background.runs == (2 if found is LATE else 3)


def test_a_page_waits_for_a_reading_that_is_quick(client: Client) -> None:
    """The first page after a start has the rates."""
    insert_answers(client, range(1, 11))
    draw(client, 5, now_ns=NOW)
    started: list[threading.Thread] = []

    def run(name: str, call: Callable[[], None]) -> None:
        started.append(threading.Thread(target=call, name=name))
        started[-1].start()

    @contextmanager
    def store() -> Iterator[Client]:
        yield client

    found = FindingsCache(store, run, 60.0).find(SCOPE, SCOPE.until_ns)

    started[0].join()
    assert found.is_drawn


def test_ranges_of_the_same_length_are_told_apart(client: Client) -> None:
    """One that ended long ago does not get the findings of the one that ends now."""
    insert_answers(client, range(1, 11))
    draw(client, 5)
    background = Background()
    cache = cache_of(client, background)
    now_ns = SCOPE.until_ns
    past = later(SCOPE, -(SCOPE.until_ns - SCOPE.since_ns))

    assert cache.find(SCOPE, now_ns).is_drawn
    assert not cache.find(past, now_ns).is_drawn
    assert cache.find(SCOPE, now_ns).is_drawn
    assert background.runs == 2
