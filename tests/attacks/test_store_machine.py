"""The store under spans that are sent again, conflicts, failed inserts and kills at any point.

The state machine runs in this process: a kill is an error at an insert, before or after its rows
are stored, after which everything in memory is made anew. The last test kills a real service.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from otel_rt4chart.core.errors import StoreError
from otel_rt4chart.core.semconv import CARRIER_NAME
from otel_rt4chart.spans.model.record import SpanRecord
from rt4chart_collector.pipeline.decision import save_outcomes
from rt4chart_collector.pipeline.retry import AnswerOutcome
from rt4chart_collector.store.answers.deduplicate_spans import InsertedSpans, SpanDeduplicator
from rt4chart_collector.store.answers.spans import spans_of
from rt4chart_collector.store.answers.verdicts import already_decided
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.rates.rollup import repair_rollup
from tests.integration.service import Service, read, service
from tests.rt4chart_collector.otlp.messages import rag_trace, request
from tests.rt4chart_collector.records import NOON, SECOND, VERIFIER, trace_spans, verdict

IS_FULL = os.environ.get("RT4CHART_ATTACK") == "full"
EXAMPLES, STEPS = (300, 40) if IS_FULL else (12, 15)
KILLS, TRACES = (30, 200) if IS_FULL else (2, 30)
BEFORE, AFTER = "before", "after"

# Spans by number, three to a trace, each in one of two contents.
batches = st.lists(st.tuples(st.integers(0, 11), st.booleans()), min_size=1, max_size=12)
moments = st.sampled_from((BEFORE, AFTER))
points = st.none() | st.tuples(st.integers(0, 4), moments)
_machines = count(1)


class KilledError(BaseException):
    """The process is dead: nobody handles this."""


class DoomedClient(Client):
    """A client whose next insert but `after_inserts` ends with an error."""

    error: BaseException | None = None
    after_inserts = 0
    moment = BEFORE

    def doom(self, error: BaseException, moment: str, after_inserts: int = 0) -> None:
        """Let an insert fail, before or after its rows are stored."""
        self.error, self.moment, self.after_inserts = error, moment, after_inserts

    def insert(self, *args: object, **options: object) -> int:
        """Insert, unless doomed."""
        error = self.error
        is_due = error is not None and self.after_inserts == 0
        self.after_inserts -= 1
        if error is None or not is_due:
            return super().insert(*args, **options)  # type: ignore[arg-type]
        self.error = None
        if self.moment == AFTER:
            super().insert(*args, **options)  # type: ignore[arg-type]
        raise error


class StoreMachine(RuleBasedStateMachine):
    """Compares the store with a dictionary; each machine has traces and a route of its own."""

    def __init__(self, client: Client) -> None:
        super().__init__()
        self.client = DoomedClient(client._driver, client.target)
        self.first_trace = next(_machines) * 100
        self.route = f"route-{self.first_trace}"
        self.stored: dict[tuple[str, str], SpanRecord] = {}
        self.begun: set[int] = set()
        self.now_ns = NOON + 10 * SECOND
        self.start()

    @rule()
    def start(self) -> None:
        """A new process: the memory is read from the store, and the rollup repaired."""
        self.client.error = None
        self.deduplicator = SpanDeduplicator(self.client, capacity=10_000, now_ns=self.now_ns)
        repair_rollup(self.client, 0)

    @rule(batch=batches)
    def send(self, batch: Sequence[tuple[int, bool]]) -> None:
        """A batch is stored but for duplicates and conflicts, each of which is reported."""
        spans = self.spans(batch)

        found = self.deduplicator.insert(spans)

        assert found == self.expected(spans)

    @rule(batch=batches, moment=moments)
    def fail(self, batch: Sequence[tuple[int, bool]], moment: str) -> None:
        """An insert fails, though its rows may be stored; the process goes on."""
        self.interrupt(batch, StoreError("no answer"), moment)

    @rule(batch=batches, moment=moments)
    def kill(self, batch: Sequence[tuple[int, bool]], moment: str) -> None:
        """The process dies at an insert, and another one starts."""
        self.interrupt(batch, KilledError(), moment)
        self.start()

    @rule(numbers=st.sets(st.integers(1, 9), min_size=1), point=points)
    def decide(self, numbers: set[int], point: tuple[int, str] | None) -> None:
        """Answers are decided, or the process dies at one of the inserts of a decision."""
        self.begun |= numbers
        if point is None:
            self.decide_undecided(numbers)
            return
        after_inserts, moment = point
        self.client.doom(KilledError(), moment, after_inserts)
        try:
            self.decide_undecided(numbers)
        except KilledError:
            self.start()
        self.client.error = None

    def teardown(self) -> None:
        """After a last start, everything is there once and the sums are exact."""
        self.start()
        self.decide_undecided(self.begun)
        traces = sorted({trace_id for trace_id, _ in self.stored})
        rows = self.rows(
            "TraceId IN {traces:Array(String)} AND SpanName != {name:String}",
            traces=traces,
            name=CARRIER_NAME,
        )
        assert Counter(rows) == Counter(
            (trace_id, span_id, span.name) for (trace_id, span_id), span in self.stored.items()
        )
        found = {
            (span.trace_id, span.span_id): span
            for span in spans_of(self.client, traces)
            if not span.is_verdict
        }
        assert found == self.stored
        carriers = self.rows(
            "SpanName = {name:String} AND SpanAttributes['rt4chart.route'] = {route:String}",
            name=CARRIER_NAME,
            route=self.route,
        )
        assert len(set(carriers)) == len(carriers) == len(self.begun)
        assert self.sums() == [self.exact()]

    def spans(self, batch: Sequence[tuple[int, bool]]) -> list[SpanRecord]:
        """The spans of a batch."""
        made = []
        for number, is_other in batch:
            span = trace_spans(self.first_trace + number // 3)[number % 3]
            made.append(replace(span, name="other") if is_other else span)
        return made

    def expected(self, spans: Sequence[SpanRecord]) -> InsertedSpans:
        """What the insert of a batch returns; its new spans are stored from now on."""
        results: Counter[str] = Counter()
        conflicts = []
        for position, span in enumerate(spans):
            before = self.stored.setdefault((span.trace_id, span.span_id), span)
            if before is span:
                results["stored"] += 1
            elif before == span:
                results["duplicates"] += 1
            else:
                conflicts.append(position)
        return InsertedSpans(results["stored"], results["duplicates"], tuple(conflicts))

    def interrupt(
        self, batch: Sequence[tuple[int, bool]], error: BaseException, moment: str
    ) -> None:
        """An insert that ends with the error, if there is anything new to insert."""
        spans = self.spans(batch)
        self.client.doom(error, moment)
        try:
            found = self.deduplicator.insert(spans)
        except (StoreError, KilledError):
            if moment == AFTER:
                self.expected(spans)
        else:
            assert found == self.expected(spans)
            assert found.stored == 0
        self.client.error = None

    def decide_undecided(self, numbers: set[int]) -> None:
        """What a worker does: decisions for the answers that have none, each a little later."""
        made = []
        for number in sorted(numbers):
            self.now_ns += SECOND
            answer = self.first_trace + number
            made.append(verdict(answer, decided_ns=self.now_ns, route=self.route))
        known = already_decided(self.client, [one.candidate for one in made], VERIFIER)
        keys = [(one.candidate.trace_id, one.candidate.span_id) for one in made]
        save_outcomes(
            self.client,
            [AnswerOutcome(one) for key, one in zip(keys, made, strict=True) if key not in known],
            "1",
        )

    def rows(self, where: str, **parameters: object) -> list[tuple[str, str, str]]:
        """Trace, span and name of the rows as they lie in the table, duplicates included."""
        query = f"SELECT TraceId, SpanId, SpanName FROM otel_traces WHERE {where}"  # noqa: S608
        return [tuple(row) for row in self.client.query(query, parameters).result_rows]

    def sums(self) -> list[tuple[int, ...]]:
        """Answers and claims of the route, from the sums per minute."""
        found = self.client.query(
            "SELECT sum(Answers), sum(Claims) FROM rt4chart_route_1m WHERE Route = {route:String}",
            {"route": self.route},
        )
        return [tuple(row) for row in found.result_rows]

    def exact(self) -> tuple[int, int]:
        """Every answer that was begun is decided once, with two claims."""
        return (len(self.begun), 2 * len(self.begun))


SPANS = "SELECT TraceId, SpanId FROM otel_traces WHERE SpanName != {name:String}"


def test_no_kill_or_failure_stores_a_span_twice_or_loses_one(client: Client) -> None:
    """Whatever the batches, the table has each span once, and the sums are those of the answers."""

    machines: list[StoreMachine] = []

    class Machine(StoreMachine):
        def __init__(self) -> None:
            super().__init__(client)
            machines.append(self)

    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=EXAMPLES, stateful_step_count=STEPS, deadline=None, database=None
        ),
    )

    stored = client.query(SPANS, {"name": CARRIER_NAME}).result_rows
    sent = [key for machine in machines for key in machine.stored]
    assert Counter(map(tuple, stored)) == Counter(sent)
    assert len(sent) > 0


class Resender:
    """Sends random groups of a set of spans, over and over; notes what was acknowledged."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - no secrets
        now_ns = time.time_ns()
        self.spans = [
            span
            for number in range(1, TRACES + 1)
            for span in rag_trace(number, start_ns=now_ns, answer="The trial lasts 14 days.")
        ]
        self.acknowledged = 0
        self.sent = 0

    def send_until_gone(self, running: Service) -> None:
        """Send until the service does not answer."""
        while self.send(running, self._random.sample(self.spans, self._random.randint(1, 40))):
            pass

    def send(self, running: Service, spans: Sequence[object]) -> bool:
        """One request; whether it was acknowledged."""
        is_acknowledged = running.send(request(*spans)) == 200  # type: ignore[arg-type]
        self.sent += 1
        self.acknowledged += is_acknowledged
        return is_acknowledged


CARRIERS = f"SELECT count(), uniqExact(TraceId) FROM otel_traces WHERE SpanName = '{CARRIER_NAME}'"  # noqa: S608
ANSWERS = "SELECT count() FROM rt4chart_verifications FINAL WHERE Decision = 'verified'"


@pytest.mark.e2e
def test_killed_service_stores_what_is_sent_again_once(tmp_path: Path) -> None:
    """Three clients send overlapping groups, and signal 9 comes at random moments."""
    flags = ("--judge", "rules", "--trace-quiet-s", "0.1")
    database, moments = tmp_path / "db", random.Random(7)  # noqa: S311 - no secrets
    clients = [Resender(seed) for seed in range(3)]
    for one in clients[1:]:
        one.spans = clients[0].spans
    for _ in range(KILLS):
        with service(f"chdb://{database}", *flags) as running:
            threads = [
                threading.Thread(target=one.send_until_gone, args=(running,)) for one in clients
            ]
            for thread in threads:
                thread.start()
            time.sleep(moments.uniform(0.5, 2.5))
            running.stop(signal.SIGKILL)
            for thread in threads:
                thread.join()
    with service(f"chdb://{database}", *flags) as running:
        for first in range(0, len(clients[0].spans), 7):
            assert clients[0].send(running, clients[0].spans[first : first + 7])
        status = running.wait_until(lambda status: bool(status["idle"]))
        code = running.stop()

    own = "SELECT count(), uniqExact(TraceId, SpanId) FROM otel_traces WHERE SpanName != '{}'"
    spans, carriers, answers = read(database, own.format(CARRIER_NAME), CARRIERS, ANSWERS)
    print({"requests": sum(one.sent for one in clients), "again": status["spans_duplicate"]})  # noqa: T201
    assert code == 0
    assert spans == [[3 * TRACES, 3 * TRACES]]
    assert carriers == [[TRACES, TRACES]]
    assert answers == [[TRACES]]
