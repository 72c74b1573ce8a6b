"""Clients that send answers until they are acknowledged, and the count of what is there after."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import httpx

from tests.integration.service import PROTOBUF, read
from tests.rt4chart_collector.otlp.messages import rag_trace, request

GOOD, BAD = "The trial lasts 14 days.", "The trial lasts 30 days."
TRACES, SPANS = 5, 3
PAUSE_S = 0.05
SPAN_IDS = "SELECT DISTINCT TraceId, SpanId FROM otel_traces WHERE ScopeName != 'otel_rt4chart'"
ANSWERS = """
SELECT count(), uniqExact(TraceId, SpanId), countIf(Decision = 'verified')
FROM rt4chart_verifications FINAL WHERE IsDeleted = 0
"""
EXACT = """
SELECT Route, count(), sum(ClaimCount), sum(EntailedCount), sum(ContradictedCount)
FROM rt4chart_verifications FINAL WHERE IsDeleted = 0 AND Decision = 'verified'
GROUP BY Route ORDER BY Route
"""
ROLLUP = """
SELECT Route, sum(Answers), sum(Claims), sum(Entailed), sum(Contradicted)
FROM rt4chart_route_1m GROUP BY Route ORDER BY Route
"""
CLAIMS = "SELECT count() FROM rt4chart_claims FINAL WHERE IsDeleted = 0 AND Label != 'not_a_claim'"


class Load:
    """Sends numbered requests from a few threads, each again until it is acknowledged."""

    def __init__(self, *, clients: int = 3, pause_s: float = 0.0) -> None:
        self.url = ""
        self.acknowledged: list[int] = []
        self.replies: Counter[int] = Counter()
        self._now = time.time_ns()
        self._numbers = count()
        self._done, self._given_up = threading.Event(), threading.Event()
        self._pause_s = pause_s
        self._threads = [threading.Thread(target=self._send) for _ in range(clients)]

    @contextmanager
    def running(self) -> Iterator[Load]:
        """Send while the block runs; at its end each request begun is acknowledged first."""
        for thread in self._threads:
            thread.start()
        try:
            yield self
        except BaseException:
            self._given_up.set()
            raise
        finally:
            self.finish()

    def wait_for(self, more: int, *, within_s: float = 60) -> None:
        """Return when so many more requests are acknowledged."""
        wanted = len(self.acknowledged) + more
        self.wait_until(lambda: len(self.acknowledged) >= wanted, within_s=within_s)

    def wait_until(self, is_true: Callable[[], bool], *, within_s: float = 60) -> None:
        """Return when it is so."""
        until = time.monotonic() + within_s
        while not is_true():
            assert time.monotonic() < until, self.replies
            time.sleep(0.01)

    def finish(self) -> None:
        """Begin no request any more; return when those that were begun are acknowledged."""
        self._done.set()
        for thread in self._threads:
            thread.join()

    @property
    def span_ids(self) -> set[tuple[str, str]]:
        """Of every span that was acknowledged."""
        return {
            (f"{trace:032x}", f"{trace * 8 + offset:016x}")
            for number in self.acknowledged
            for trace in traces_of(number)
            for offset in range(SPANS)
        }

    def _send(self) -> None:
        with httpx.Client(timeout=60) as client:
            while not self._done.is_set():
                number = next(self._numbers)
                body = self.body(number)
                while (code := self._tried(client, body)) != 200:
                    self.replies[code] += 1
                    if self._given_up.wait(PAUSE_S):
                        return
                self.replies[code] += 1
                self.acknowledged.append(number)
                time.sleep(self._pause_s)

    def _tried(self, client: httpx.Client, body: bytes) -> int:
        """The status; 0 where nothing answered."""
        try:
            return client.post(f"{self.url}/v1/traces", content=body, headers=PROTOBUF).status_code
        except (httpx.TransportError, httpx.UnsupportedProtocol):
            return 0

    def body(self, number: int) -> bytes:
        """Some traces with an answer each, two of three with a contradicted claim."""
        return request(
            *(
                span
                for trace in traces_of(number)
                for span in rag_trace(
                    trace,
                    start_ns=self._now,
                    answer=BAD if trace % 3 else GOOD,
                    route=f"route-{trace % 4}",
                )
            )
        )


def traces_of(number: int) -> range:
    """The numbers of a request's traces."""
    return range(number * TRACES + 1, (number + 1) * TRACES + 1)


def assert_all_is_there_once(folder: Path, load: Load) -> dict[str, Any]:
    """What was acknowledged is stored and decided once, and the sums say the same; the counts."""
    spans, answers, exact, rollup, claims = read(folder, SPAN_IDS, ANSWERS, EXACT, ROLLUP, CLAIMS)
    sent = TRACES * len(load.acknowledged)
    missing = load.span_ids - {(trace, span) for trace, span in spans}
    assert missing == set()
    assert answers == [[sent, sent, sent]]
    assert rollup == exact, (rollup, exact)
    assert claims == [[sum(row[2] for row in exact)]]
    return {"requests": len(load.acknowledged), "answers": sent, "replies": dict(load.replies)}
