"""The saver of outcomes: few inserts, a lease ends when its outcomes are stored, one bad row."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from threading import Event, Thread

import pytest

from otel_rt4chart.core.errors import StoreError
from otel_rt4chart.core.semconv import CarrierPlace
from otel_rt4chart.spans.exchange.assembly import AssembledTrace
from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.verify import RulesJudge, Verifier
from rt4chart_collector.core.instruments import (
    ANSWERS,
    FAILURES,
    STORE_INSERT_FAILURES,
    UNSAVED_TRACES,
)
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.pipeline import outcome_saver
from rt4chart_collector.pipeline.decision import decide, save_outcomes
from rt4chart_collector.pipeline.outcome_saver import BATCH_OUTCOMES, OutcomeSaver
from rt4chart_collector.pipeline.retry import AnswerOutcome, outcome_of
from rt4chart_collector.store.engine.connect import Client
from tests.polling import wait_until
from tests.rt4chart_collector.pipeline.line import decisions, rollup, spans_from
from tests.rt4chart_collector.records import NOON

VERIFIER = Verifier(RulesJudge())
ticks = count(NOON)


class Ended:
    """The leases that ended: the traces, and which of them were left undecided."""

    def __init__(self) -> None:
        self.traces: list[str] = []
        self.undecided: set[str] = set()

    def note(self, traces: Sequence[AssembledTrace], undecided: Collection[str]) -> None:
        """A lease has ended."""
        self.traces += [trace.trace_id for trace in traces]
        self.undecided |= set(undecided)


def made(number: int) -> tuple[AssembledTrace, AnswerOutcome]:
    """A trace, and the outcome on its answer."""
    spans = spans_from(number)
    (candidate,) = find_candidates(spans)
    verdict = decide(candidate, VERIFIER, rate=1.0, clock=lambda: next(ticks))
    return AssembledTrace(spans[0].trace_id, spans, is_whole=True), outcome_of(verdict, None)


def unfit(outcome: AnswerOutcome) -> AnswerOutcome:
    """The outcome with a time that no column holds."""
    assert outcome.verdict is not None
    candidate = replace(outcome.verdict.candidate, start_ns=-(2**70))
    return AnswerOutcome(replace(outcome.verdict, candidate=candidate))


def put(saver: OutcomeSaver, *made: tuple[AssembledTrace, AnswerOutcome]) -> None:
    """Hand over as a worker does, each trace in a lease of its own."""
    for trace, outcome in made:
        saver.put(outcome)
        saver.finish([trace], ())


def saver_of(
    client: Client, ended: Ended, metrics: ServiceMetrics, giving_up: Event | None = None
) -> OutcomeSaver:
    """A saver on the test's database."""
    return OutcomeSaver(
        client,
        ended.note,
        metrics,
        clock=lambda: next(ticks),
        giving_up=giving_up or Event(),
    )


@contextmanager
def running(saver: OutcomeSaver) -> Iterator[None]:
    """The saver's own thread."""
    thread = Thread(target=saver.run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        saver.close()
        thread.join(60)
    assert not thread.is_alive()


def inserts(client: Client) -> int:
    """The INSERT statements since the engine's start."""
    query = "SELECT sum(value) FROM system.events WHERE event = 'InsertQuery'"
    return int(client.query(query).result_rows[0][0])


def test_many_answers_are_stored_with_the_statements_of_one(client: Client) -> None:
    """The number of INSERTs does not grow with the number of answers, and nothing is lost."""
    ended, metrics = Ended(), ServiceMetrics()
    saver = saver_of(client, ended, metrics)
    before = inserts(client)
    put(saver, made(1))
    saver.save_waiting()
    of_one = inserts(client) - before

    put(saver, *(made(number) for number in range(2, 102)))
    saver.save_waiting()

    assert inserts(client) - before == 2 * of_one
    assert decisions(client) == {("verified", "entailed"): 101}
    assert rollup(client) == (101, 101, 101, 0)
    assert (len(ended.traces), ended.undecided) == (101, set())
    assert metrics.counts(ANSWERS)["verified",] == 101


def test_a_lease_ends_only_when_its_outcomes_are_stored(client: Client) -> None:
    """An offset that was committed before would lose an answer when the process is killed."""
    ended = Ended()
    saver = saver_of(client, ended, ServiceMetrics())

    put(saver, made(1))
    before = list(ended.traces)
    saver.save_waiting()

    assert (before, len(ended.traces)) == ([], 1)
    assert decisions(client) == {("verified", "entailed"): 1}


def test_what_waits_is_stored_before_the_saver_ends(client: Client) -> None:
    """Closing comes after the last worker."""
    ended = Ended()
    saver = saver_of(client, ended, ServiceMetrics())
    with running(saver):
        put(saver, *(made(number) for number in range(1, 8)))

    assert len(ended.traces) == 7
    assert decisions(client) == {("verified", "entailed"): 7}


def test_answers_that_come_one_by_one_are_gathered(client: Client) -> None:
    """The first is stored at once, the others of the same second together."""
    ended, saved = Ended(), []
    saver = saver_of(client, ended, ServiceMetrics())
    with running(saver):
        put(saver, made(1))
        assert wait_until(lambda: len(ended.traces) == 1)
        before = inserts(client)
        for number in range(2, 12):
            put(saver, made(number))
            saved.append(len(ended.traces))
        assert wait_until(lambda: len(ended.traces) == 11)

    assert saved == [1] * 10
    assert inserts(client) - before < 10


def test_one_answer_that_cannot_be_stored_keeps_no_other_from_it(client: Client) -> None:
    """It is left undecided and counted; it was made so that no column takes it."""
    ended, metrics = Ended(), ServiceMetrics()
    saver = saver_of(client, ended, metrics)
    (bad, outcome), *good = (made(number) for number in (1, 2, 3))

    put(saver, good[0], (bad, unfit(outcome)), good[1])
    saver.save_waiting()

    assert decisions(client) == {("verified", "entailed"): 2}
    assert (len(ended.traces), ended.undecided) == (3, {bad.trace_id})
    assert metrics.total(UNSAVED_TRACES) == 1


@pytest.mark.parametrize("bad", [(1, 2), (3, 4), (1, 8), (2, 5, 6)])
def test_answers_that_the_store_refuses_keep_no_other_from_it(
    client: Client, monkeypatch: pytest.MonkeyPatch, bad: tuple[int, ...]
) -> None:
    """Side by side or apart, and although an error of the store may be tried again."""
    monkeypatch.setattr(outcome_saver, "INSERT_RETRIES_S", (0.0,))
    all_made = {number: made(number) for number in range(1, 9)}
    refused = {all_made[number][0].trace_id for number in bad}

    def refuse(
        client: Client, outcomes: Sequence[AnswerOutcome], version: str, *, place: CarrierPlace
    ) -> None:
        if any(outcome.trace_id in refused for outcome in outcomes):
            raise StoreError("refused")
        save_outcomes(client, outcomes, version, place=place)

    monkeypatch.setattr(outcome_saver, "save_outcomes", refuse)
    ended, metrics = Ended(), ServiceMetrics()
    saver = saver_of(client, ended, metrics)

    put(saver, *all_made.values())
    saver.save_waiting()

    assert ended.undecided == refused
    assert decisions(client) == {("verified", "entailed"): 8 - len(bad)}
    assert rollup(client)[0] == 8 - len(bad)
    assert metrics.total(UNSAVED_TRACES) == len(bad)


def test_store_that_is_away_leaves_all_undecided_after_few_attempts(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each attempt may take ten seconds: not one for each of hundreds of answers."""
    monkeypatch.setattr(outcome_saver, "INSERT_RETRIES_S", (0.0, 0.0))
    ended, metrics = Ended(), ServiceMetrics()
    away = client.sibling()
    away.close()
    saver = saver_of(away, ended, metrics)

    put(saver, *(made(number) for number in range(1, 11)))
    saver.save_waiting()

    assert (len(ended.traces), len(ended.undecided)) == (10, 10)
    assert metrics.total(UNSAVED_TRACES) == 10
    assert metrics.counts(STORE_INSERT_FAILURES)["verdicts",] == 3
    assert metrics.counts(FAILURES) == {("StoreError",): 1}


def test_workers_wait_while_too_much_waits_to_be_saved(client: Client) -> None:
    """What waits is in memory: it has an end."""
    ended = Ended()
    saver = saver_of(client, ended, ServiceMetrics())
    _, outcome = made(1)
    for _ in range(BATCH_OUTCOMES):
        saver.put(outcome)
    late = Thread(target=saver.put, args=(made(2)[1],), daemon=True)
    late.start()
    time.sleep(0.1)
    waited = late.is_alive()

    saver.save_waiting()
    late.join(60)
    saver.save_waiting()

    assert (waited, late.is_alive()) == (True, False)
    assert decisions(client) == {("verified", "entailed"): 2}


def test_an_answer_and_its_lease_count_once(client: Client) -> None:
    """A thousand answers are one save: their leases are no further ones, and nobody waits."""
    ended = Ended()
    saver = saver_of(client, ended, ServiceMetrics())
    trace, outcome = made(1)
    putting = Thread(
        target=lambda: put(saver, *[(trace, outcome)] * (BATCH_OUTCOMES - 1)), daemon=True
    )
    putting.start()
    putting.join(60)
    waited = putting.is_alive()

    saved = saver.save_waiting()

    assert (waited, saved, len(ended.traces)) == (False, BATCH_OUTCOMES - 1, BATCH_OUTCOMES - 1)


def test_trace_that_was_lost_meanwhile_is_not_stored(client: Client) -> None:
    """Another process has its partition, and decides on it."""
    ended = Ended()
    (lost, outcome), kept = made(1), made(2)
    saver = OutcomeSaver(
        client,
        ended.note,
        ServiceMetrics(),
        clock=lambda: next(ticks),
        giving_up=Event(),
        is_owned=lambda trace_id: trace_id != lost.trace_id,
    )

    put(saver, (lost, outcome), kept)
    saver.save_waiting()

    assert decisions(client) == {("verified", "entailed"): 1}
    assert len(ended.traces) == 2
