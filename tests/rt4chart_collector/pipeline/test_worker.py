"""The workers and the step before them: every answer decided once, whatever comes again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count

import pytest

from otel_rt4chart.core import semconv
from otel_rt4chart.spans.exchange.assembly import AssembledTrace, TraceBuffer, TraceTimeouts
from otel_rt4chart.spans.model.record import SpanLink, SpanRecord
from otel_rt4chart.testing import Script, ScriptedJudge
from otel_rt4chart.verify import DraftClaim, Label, Sentence, Verifier
from rt4chart_collector.core.instruments import ANSWERS, FAILURES, SPANS_RECOVERED, UNSAVED_TRACES
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.ingest.otlp.decode import decode_spans
from rt4chart_collector.pipeline.assembler import Assembler
from rt4chart_collector.pipeline.breaker import Breaker
from rt4chart_collector.pipeline.look_ahead import LookAhead
from rt4chart_collector.pipeline.recovery import PAUSE_NS, Recovery, Retries
from rt4chart_collector.pipeline.trace_queue import TraceQueue
from rt4chart_collector.store.answers.spans import insert_spans, spans_of
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.one_worker import OneWorker
from tests.rt4chart_collector.otlp.messages import rag_trace, request
from tests.rt4chart_collector.records import NOON, SECOND

ANSWER = "The trial lasts 14 days."
JUDGE = ScriptedJudge({ANSWER: Script(Label.ENTAILED, evidence=("14 days",))})
Make = Callable[..., OneWorker]


def spans_from(number: int, answer: str = ANSWER) -> tuple[SpanRecord, ...]:
    """A retriever's, a generator's and the root's span of one trace."""
    return decode_spans(request(*rag_trace(number, start_ns=NOON, answer=answer))).spans


def whole(spans: Sequence[SpanRecord]) -> AssembledTrace:
    """A trace with nothing missing."""
    return AssembledTrace(spans[0].trace_id, tuple(spans), is_whole=True)


@pytest.fixture
def metrics() -> ServiceMetrics:
    """Nothing counted."""
    return ServiceMetrics()


@pytest.fixture
def worker(client: Client, metrics: ServiceMetrics) -> Make:
    """Makes a worker on the test's database."""
    clock = count(NOON + 60 * SECOND, SECOND)

    def make(judge: ScriptedJudge = JUDGE, *, sample_rate: float = 1.0) -> OneWorker:
        return OneWorker(
            client,
            Verifier(judge),
            lambda: next(clock),
            metrics=metrics,
            sample_rate=sample_rate,
        )

    return make


def decisions(client: Client) -> list[tuple[str, str, str]]:
    """What is in force: the trace's number, the decision and the label."""
    rows = client.query(
        "SELECT TraceId, Decision, Label FROM rt4chart_verifications FINAL ORDER BY TraceId"
    ).result_rows
    return [(trace.lstrip("0"), decision, label) for trace, decision, label in rows]


def test_answer_is_verified_once_however_often_it_comes(client: Client, worker: Make) -> None:
    """Redelivery and another process's copy change nothing; the carrier is there once."""
    trace = whole(spans_from(1))

    worker().handle([trace])
    worker().handle([trace])

    assert decisions(client) == [("1", "verified", "entailed")]
    rows = client.query(
        "SELECT count(), any(SpanAttributes['openinference.span.kind']), any(Links.TraceId) "
        "FROM otel_traces WHERE ScopeName = {scope:String}",
        {"scope": semconv.SCOPE_NAME},
    ).result_rows
    assert rows == [(1, "EVALUATOR", [trace.trace_id])]


def test_carrier_is_no_answer(client: Client, worker: Make) -> None:
    """Our own spans, sent back to us, are not verified in their turn."""
    worker().handle([whole(spans_from(1))])
    carrier_id = client.query(
        "SELECT TraceId FROM otel_traces WHERE ScopeName = {scope:String}",
        {"scope": semconv.SCOPE_NAME},
    ).result_rows[0][0]

    worker().handle([whole(spans_of(client, [carrier_id]))])

    assert len(decisions(client)) == 1


def test_part_of_a_trace_is_completed_from_the_store(client: Client, worker: Make) -> None:
    """A late span alone is not the trace."""
    spans = spans_from(1)
    insert_spans(client, spans)

    worker().handle([AssembledTrace(spans[0].trace_id, spans[-1:], is_whole=False)])

    assert decisions(client) == [("1", "verified", "entailed")]


def test_answer_without_its_passages_is_verified_when_they_come(
    client: Client, worker: Make
) -> None:
    """No context is a decision for as long as there is none."""
    retrieval, *rest = spans_from(1)
    worker().handle([whole(rest)])
    before = decisions(client)

    worker().handle([whole([retrieval, *rest])])
    worker().handle([whole(rest)])

    assert before == [("1", "no_context", "none")]
    assert decisions(client) == [("1", "verified", "entailed")]


def test_passages_of_a_linked_trace_are_fetched(client: Client, worker: Make) -> None:
    """A queue stands between the retrieval and the answer, and each side has its own trace."""
    retrieval, *rest = spans_from(1)
    there = replace(retrieval, trace_id="9" * 32, parent_span_id="")
    link = SpanLink(there.trace_id, there.span_id)
    insert_spans(client, [there])

    worker().handle([whole([replace(span, links=(link,)) for span in rest])])

    assert decisions(client) == [("1", "verified", "entailed")]


class Particular(ScriptedJudge):
    """A judge with a fault that one answer brings out."""

    def decompose(self, sentences: Sequence[Sentence]) -> Sequence[DraftClaim]:
        """Fail on that answer."""
        if any("Nobody" in sentence.text for sentence in sentences):
            raise RuntimeError("a fault")
        return ScriptedJudge.decompose(self, sentences)


def test_one_bad_answer_stops_no_other(
    client: Client, worker: Make, metrics: ServiceMetrics
) -> None:
    """It is recorded as an error, the next one is verified."""
    judge = Particular(JUDGE.scripts)

    worker(judge).handle([whole(spans_from(1, "Nobody knows.")), whole(spans_from(2))])

    assert decisions(client) == [("1", "error", "none"), ("2", "verified", "entailed")]
    assert +Counter(metrics.counts(ANSWERS)) == {("error",): 1, ("verified",): 1}


def test_answers_outside_the_sample_are_recorded(client: Client, worker: Make) -> None:
    """Every candidate has its decision."""
    worker(sample_rate=0.0).handle([whole(spans_from(n)) for n in (1, 2)])

    assert decisions(client) == [("1", "not_sampled", "none"), ("2", "not_sampled", "none")]


def test_answers_that_cannot_be_stored_are_counted_and_the_worker_goes_on(
    client: Client, metrics: ServiceMetrics
) -> None:
    """They stay undecided in the store, where recovery finds them."""
    clock, queue = count(NOON, SECOND), TraceQueue(9)
    failing = client.sibling()
    failing.close()
    queue.put([whole(spans_from(1))])
    queue.close()
    one = OneWorker(failing, Verifier(JUDGE), lambda: next(clock), queue=queue, metrics=metrics)

    look_ahead = LookAhead(failing, queue, one.look_ups)
    look_ahead.run()
    one.worker.run(look_ahead)
    one.saver.save_waiting()

    assert (queue.pending, metrics.total(UNSAVED_TRACES)) == (0, 1)
    assert metrics.counts(FAILURES) == {("StoreError",): 1}


class Steps:
    """An assembler under a clock that the test moves."""

    def __init__(self, client: Client, *, max_bytes: int = 10**7) -> None:
        self.now = NOON + 60 * SECOND
        self.queue = TraceQueue(9)
        self.metrics = ServiceMetrics()
        self.assembler = Assembler(
            TraceBuffer(TraceTimeouts(SECOND, 5 * SECOND, 60 * SECOND), max_bytes=max_bytes),
            self.queue,
            self.queue.put,
            Retries(client, lambda: JUDGE.id),
            Breaker(JUDGE.id, lambda: self.now),
            self.metrics,
            recovery=Recovery(client, lambda: JUDGE.id),
            clock=lambda: self.now,
        )

    def after(self, seconds: int) -> list[str]:
        """Step now, and step again later; the numbers of the traces handed over."""
        self.assembler.step()
        self.now += seconds * SECOND
        self.assembler.step()
        self.queue.close()
        leased = self.queue.lease(99)
        self.queue.done(leased)
        return sorted(trace.trace_id.lstrip("0") for trace in leased)


@pytest.fixture
def steps(client: Client) -> Steps:
    """An assembler on the test's database, where traces 1 and 2 are stored."""
    for number in (1, 2):
        insert_spans(client, spans_from(number))
    return Steps(client)


def test_start_finds_what_was_left_undecided(client: Client, steps: Steps, worker: Make) -> None:
    """What an earlier process decided is left alone."""
    worker().handle([whole(spans_from(1))])

    assert steps.after(2) == ["2"]
    assert steps.metrics.total(SPANS_RECOVERED) == 3
    assert not steps.assembler.is_recovering


def test_recovered_trace_and_its_redelivery_are_one(steps: Steps) -> None:
    """A client that was not answered sends again what is already in the store."""
    steps.assembler.step()
    steps.assembler.accept(spans_from(1))

    assert steps.after(2) == ["1", "2"]


def test_trace_older_than_a_day_is_let_be(client: Client, steps: Steps) -> None:
    """Recovery looks one day back."""
    steps.now += 86_400 * SECOND

    assert steps.after(2) == []


def test_trace_given_up_for_memory_is_found_again(client: Client, worker: Make) -> None:
    """It waits in the store until there is room, however little there is at once."""
    steps = Steps(client, max_bytes=10_000)
    for number in (1, 2, 3):
        spans = spans_from(number)
        insert_spans(client, spans)
        steps.assembler.accept(spans)
    assert steps.assembler.evicted_traces > 0

    for _ in range(12):
        steps.now += PAUSE_NS + SECOND
        steps.assembler.step()
        while steps.queue.pending:
            leased = steps.queue.lease(9)
            worker().handle(leased)
            steps.queue.done(leased)

    assert [number for number, *_ in decisions(client)] == ["1", "2", "3"]


def test_unreachable_store_postpones_the_search(client: Client) -> None:
    """The open traces go on meanwhile."""
    failing = client.sibling()
    failing.close()
    steps = Steps(failing)
    steps.assembler.accept(spans_from(1))

    assert steps.after(2) == ["1"]
    assert steps.assembler.is_recovering


def test_stopped_assembler_hands_over_every_open_trace(steps: Steps) -> None:
    """Also those that would have waited for more."""
    steps.assembler.accept([replace(span, parent_span_id="9" * 16) for span in spans_from(7)])
    steps.assembler.stop()

    steps.assembler.run()

    assert steps.queue.pending == 1
