"""The parts that `rt4chart up` and `rt4chart work` share: judge, connections and workers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from threading import Event, Thread

from otel_rt4chart.core.settings import load
from otel_rt4chart.judges.answer_verdicts import Clock
from otel_rt4chart.judges.build import (
    build_budget,
    build_criteria,
    build_verifier,
    shared_endpoint,
)
from otel_rt4chart.settings.application import JudgeSettings
from otel_rt4chart.spans.exchange.assembly import TraceBuffer, TraceTimeouts
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.verify.llm.spending import BUDGET_UNKNOWN, OVER_BUDGET, SharedBudget
from rt4chart_collector.core.instruments import (
    JUDGE_CALLS_REFUSED,
    LOG_LINES_DROPPED,
    SPANS_DUPLICATE,
    SPANS_REFUSED,
    SPANS_STORED,
    STORE_INSERT_DURATION,
    STORE_INSERT_FAILURES,
)
from rt4chart_collector.core.logs import dropped_lines
from rt4chart_collector.core.memory import return_large_blocks
from rt4chart_collector.core.metrics import Labels, ServiceMetrics
from rt4chart_collector.core.settings import ServiceSettings
from rt4chart_collector.pipeline.additions.verdict_additions import verdict_additions
from rt4chart_collector.pipeline.breaker import Breaker
from rt4chart_collector.pipeline.current_verifier import CurrentVerifier
from rt4chart_collector.pipeline.look_ahead import LookAhead, LookUps
from rt4chart_collector.pipeline.outcome_saver import OutcomeSaver
from rt4chart_collector.pipeline.route_names import RouteNames
from rt4chart_collector.pipeline.trace_queue import TraceQueue
from rt4chart_collector.pipeline.worker import Worker
from rt4chart_collector.service.health import STORE_UNREACHABLE, StoreWatch
from rt4chart_collector.service.stages import Shutdown, closing, stage, workers_running
from rt4chart_collector.store.answers.deduplicate_spans import SpanDeduplicator
from rt4chart_collector.store.engine.budgets import StoreLedger
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.leases import new_holder
from rt4chart_collector.store.rates.traffic import routes_by_claims

MIB = 2**20
# A Collector sends again for five minutes by default: 1,600 spans a second fill this. It takes
# 60 MiB when it is full.
REMEMBERED_SPANS = 500_000


def refused_calls(budget: SharedBudget) -> dict[Labels, float]:
    """The calls that the budgets of hours and days refused, by reason."""
    return {(reason,): budget.refused[reason] for reason in (OVER_BUDGET, BUDGET_UNKNOWN)}


class VerificationRuntime:
    """The judge, its breaker, the metrics and the connections of one process.

    Every thread that waits for the database has a connection of its own; `stack` closes them.
    """

    def __init__(self, settings: ServiceSettings, shutdown: Shutdown, clock: Clock) -> None:
        """Build the judge; SettingsError if that fails."""
        return_large_blocks()
        self._settings = settings
        self._shutdown = shutdown
        self._clock = clock
        judging = load(JudgeSettings)
        self.budget = build_budget(judging)
        endpoint = shared_endpoint(judging, self.budget)
        verifier = build_verifier(settings.judge, judging, endpoint=endpoint)
        self.judge = verifier.judge.id
        self._verifier = CurrentVerifier(verifier, clock)
        self.breaker = Breaker(self.judge, clock)
        self.metrics = ServiceMetrics(judge=self.judge)
        self.metrics.observe(LOG_LINES_DROPPED, dropped_lines)
        self.metrics.observe(JUDGE_CALLS_REFUSED, lambda: refused_calls(self.budget))
        self._additions = verdict_additions(
            verifier,
            self.metrics,
            layers=settings.layers,
            calls=settings.trail_calls,
            clock=clock,
            criteria=build_criteria(settings.criteria, judging, endpoint),
        )

    def verifier_id(self) -> str:
        """The id of the verifier in use: the judge's, with its recalibration if there is one."""
        return self._verifier.id

    def connect(self, client: Client, stack: ExitStack) -> None:
        """Open a connection for each thread, beside `client`."""

        def sibling() -> Client:
            return stack.enter_context(closing(client.sibling(), self._shutdown))

        self.search_client = sibling()
        self._spans = SpanDeduplicator(client, capacity=REMEMBERED_SPANS, now_ns=self._clock())
        self._watch = StoreWatch(sibling())
        # Before the first answer, and before recovery asks what this verifier has not decided.
        self._verifier.get(self.search_client)
        if self.budget.limits:
            self.budget.ledger = StoreLedger(sibling(), new_holder())
            stack.callback(self._give_budget_back)
        self._saver_client, self._look_up_client = sibling(), sibling()
        self._worker_clients = [sibling() for _ in range(self._settings.workers)]
        self._shutdown.health.add_check(STORE_UNREACHABLE, lambda: self._watch.is_unreachable)

    def _give_budget_back(self) -> None:
        """Let other processes spend what this one did not, unless the store does not answer."""
        thread = Thread(target=self.budget.close, name="budgets", daemon=True)
        thread.start()
        self._shutdown.join([thread])

    def insert(self, spans: Sequence[SpanRecord]) -> Collection[int]:
        """Store the spans that are not stored yet, and count them; for one thread.

        Returns the positions of those with the ids of a stored span and another content: they are
        not stored.
        """
        timed = self.metrics.timed(STORE_INSERT_DURATION, STORE_INSERT_FAILURES, "spans")
        with self._watch.inserting(), timed:
            inserted = self._spans.insert(spans)
        self.metrics.add(SPANS_STORED, number=inserted.stored)
        self.metrics.add(SPANS_DUPLICATE, number=inserted.duplicates)
        self.metrics.add(SPANS_REFUSED, "conflict", number=len(inserted.conflicts))
        return inserted.conflicts

    def open_buffer(self, *, max_bytes: int) -> TraceBuffer:
        """A buffer of open traces, with the timeouts of the settings."""
        settings = self._settings
        seconds = (settings.trace_quiet_s, settings.trace_orphan_s, settings.trace_max_s)
        return TraceBuffer(TraceTimeouts(*(round(s * 1e9) for s in seconds)), max_bytes=max_bytes)

    def start(
        self,
        queue: TraceQueue,
        stack: ExitStack,
        *,
        is_owned: Callable[[str], bool] = lambda _: True,
    ) -> None:
        """Start the export of metrics, the watch of the store and the workers of the queue."""
        # Set when the time at shutdown is up.
        giving_up = Event()
        saver = OutcomeSaver(
            self._saver_client,
            queue.done,
            self.metrics,
            carrier=self._settings.carrier,
            clock=self._clock,
            giving_up=giving_up,
            is_owned=is_owned,
        )
        limit = self._settings.route_limit
        routes = RouteNames(
            folds=self._settings.fold_routes, limit=limit, clock=self._clock, metrics=self.metrics
        )
        # Else another service's flood of names that comes first would take theirs.
        routes.know(routes_by_claims(self.search_client, now_ns=self._clock(), limit=limit))
        look_ups = LookUps(saver, self._verifier, self.metrics, routes)
        workers = [
            Worker(
                client,
                queue,
                saver,
                look_ups,
                self.metrics,
                self.breaker,
                sample_rate=self._settings.sample_rate,
                layers=self._settings.layers,
                strict_routes=self._settings.strict_routes,
                additions=self._additions,
                clock=self._clock,
                is_owned=is_owned,
            )
            for client in self._worker_clients
        ]
        stack.enter_context(self.metrics.pushed(self._settings.self_metrics))
        watch, shutdown = self._watch, self._shutdown
        stack.enter_context(stage("store watch", watch.run, stop=watch.stop, shutdown=shutdown))
        ahead = LookAhead(self._look_up_client, queue, look_ups)
        stack.enter_context(workers_running(ahead, workers, saver, giving_up, shutdown=shutdown))
