"""How many traces a worker takes at once: few where others could wait for the judge meanwhile."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from contextlib import ExitStack, closing
from threading import Barrier, Event

from otel_rt4chart.judges.build import build_criteria, shared_endpoint
from otel_rt4chart.judges.criteria import CriteriaJudge
from otel_rt4chart.sampling import Layers
from otel_rt4chart.settings.application import JudgeSettings
from otel_rt4chart.spans.exchange.assembly import AssembledTrace
from otel_rt4chart.verify import DraftClaim, RulesJudge, Sentence, Verifier
from otel_rt4chart.verify.criteria.model import Criteria, Criterion, JudgedCheck
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.pipeline.additions.verdict_additions import verdict_additions
from rt4chart_collector.pipeline.breaker import Breaker
from rt4chart_collector.pipeline.current_verifier import CurrentVerifier
from rt4chart_collector.pipeline.outcome_saver import OutcomeSaver
from rt4chart_collector.pipeline.trace_queue import TraceQueue
from rt4chart_collector.pipeline.worker import LEASE_TRACES, REMOTE_LEASE_TRACES, Worker
from rt4chart_collector.service.stages import Shutdown, workers_running
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.pipeline.line import decisions, spans_from

THREADS = 4


class Together(RulesJudge):
    """Answers `THREADS` calls at once or none: a call waits until the others are there."""

    is_remote = True

    def __init__(self) -> None:
        """No call yet."""
        super().__init__()
        self.barrier = Barrier(THREADS, timeout=60)

    def decompose(self, sentences: Sequence[Sentence]) -> Sequence[DraftClaim]:
        """Wait for the other calls, and longer than a quick batch takes."""
        self.barrier.wait()
        time.sleep(0.6)
        return super().decompose(sentences)


class Remote(RulesJudge):
    """Rules that count as an endpoint."""

    is_remote = True


class Leases:
    """The sizes of finished leases."""

    def __init__(self) -> None:
        """None yet."""
        self.sizes: list[int] = []

    def note(self, traces: Sequence[AssembledTrace], undecided: Collection[str]) -> None:
        """A lease has ended."""
        self.sizes.append(len(traces))


def work(
    client: Client,
    judge: RulesJudge,
    *,
    answers: int,
    threads: int,
    rate: float = 1.0,
    criteria: CriteriaJudge | None = None,
) -> list[int]:
    """Let the threads decide on as many answers, all there from the start; the leases' sizes."""
    leases = Leases()
    queue = TraceQueue(999, on_done=leases.note)
    spans = [spans_from(number) for number in range(1, answers + 1)]
    queue.put([AssembledTrace(one[0].trace_id, one, is_whole=True) for one in spans])
    queue.close()
    with ExitStack() as stack:
        siblings = [stack.enter_context(closing(client.sibling())) for _ in range(threads)]
        verifier = CurrentVerifier(Verifier(judge), time.time_ns)
        breaker, giving_up = Breaker(judge.id, time.time_ns), Event()
        additions = verdict_additions(
            Verifier(judge),
            ServiceMetrics(),
            layers=Layers(),
            calls=60,
            clock=time.time_ns,
            criteria=criteria,
        )
        metrics, own = ServiceMetrics(), stack.enter_context(closing(client.sibling()))
        saver = OutcomeSaver(own, queue.done, metrics, clock=time.time_ns, giving_up=giving_up)
        workers = [
            Worker(
                sibling,
                queue,
                saver,
                verifier,
                metrics,
                breaker,
                sample_rate=rate,
                additions=additions,
                clock=time.time_ns,
            )
            for sibling in siblings
        ]
        with workers_running(queue, workers, saver, giving_up, shutdown=Shutdown(120)):
            pass
    return leases.sizes


def test_every_thread_waits_for_a_slow_endpoint_at_once(client: Client) -> None:
    """One thread took all waiting traces, and waited for the judge with one after another."""
    sizes = work(client, Together(), answers=3 * THREADS, threads=THREADS)

    assert sizes == [1] * 3 * THREADS
    assert decisions(client) == {("verified", "entailed"): 3 * THREADS}


def test_traces_that_need_no_waiting_are_taken_together(client: Client) -> None:
    """Answers outside of the sample: a lease has its own statements, and each costs time."""
    sizes = work(client, Remote(), answers=3 * REMOTE_LEASE_TRACES, threads=1, rate=0.0)

    assert sum(sizes) == 3 * REMOTE_LEASE_TRACES
    assert max(sizes) <= REMOTE_LEASE_TRACES
    assert len(sizes) < sum(sizes) / 2


def test_judge_of_this_process_gets_all_that_wait(client: Client) -> None:
    """It computes: more threads would not make it faster, more statements slower."""
    sizes = work(client, RulesJudge(), answers=LEASE_TRACES, threads=1)

    assert sizes == [LEASE_TRACES]


def test_criteria_that_a_model_judges_count_as_an_endpoint(client: Client) -> None:
    """A worker would keep 64 traces waiting for the model, one after another."""
    criteria = Criteria((Criterion("short", JudgedCheck("The answer is short.")),))
    settings = JudgeSettings(base_url="http://127.0.0.1:9/v1", model="m")
    judge = build_criteria(criteria, settings, shared_endpoint(settings))

    sizes = work(
        client,
        RulesJudge(),
        answers=3 * REMOTE_LEASE_TRACES,
        threads=1,
        rate=0.0,
        criteria=judge,
    )

    assert max(sizes) <= REMOTE_LEASE_TRACES
