"""The verification workers: take traces from the queue, and decide on each answer."""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from otel_rt4chart.core.errors import StoreError
from otel_rt4chart.judges.answer_verdicts import DEFAULT_LAYERS, Clock
from otel_rt4chart.judges.judge_failure import find_judge_failure
from otel_rt4chart.sampling import Layers
from otel_rt4chart.spans.exchange.assembly import AssembledTrace
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Candidate, Decision
from otel_rt4chart.verify import Verifier
from rt4chart_collector.core.instruments import (
    FAILURES,
    PUT_OFF_ANSWERS,
    UNSAVED_TRACES,
    VERIFICATION_DURATION,
)
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.core.redacted_error import redacted_error
from rt4chart_collector.pipeline.additions.verdict_additions import VerdictAdditions
from rt4chart_collector.pipeline.breaker import Breaker
from rt4chart_collector.pipeline.current_verifier import CurrentVerifier
from rt4chart_collector.pipeline.decision import decide, needs_judge, read_answers
from rt4chart_collector.pipeline.outcome_saver import OutcomeSaver
from rt4chart_collector.pipeline.retry import (
    AnswerOutcome,
    missing_answer_letter,
    outcome_of,
    postponed_letter,
)
from rt4chart_collector.pipeline.route_names import RouteNames
from rt4chart_collector.pipeline.trace_queue import TraceQueue
from rt4chart_collector.store.answers.dead_letters import DeadLetter, LetterState, letters_of
from rt4chart_collector.store.answers.spans import spans_of
from rt4chart_collector.store.answers.verdicts import PROVISIONAL, already_decided
from rt4chart_collector.store.engine.columns import AnswerKey
from rt4chart_collector.store.engine.connect import Client

LEASE_TRACES = 64
# For a judge on the network: the traces of one lease are judged one after another, and other
# threads could wait for the judge meanwhile. Several only while they need no waiting, as answers
# outside of the sample do.
REMOTE_LEASE_TRACES = 8
QUICK_NS = 500_000_000
SECOND = 10**9

log = logging.getLogger(__name__)


class Worker:
    """One thread's work: `run` leases traces until the queue is closed and empty.

    A trace is leased before anything is read for it, so that two workers never decide on the same
    answer. The saver stores the decisions, and then ends the lease. What could not be decided on
    stays undecided in the store, where recovery finds it again; `metrics` counts it
    (UNSAVED_TRACES).
    """

    def __init__(
        self,
        client: Client,
        queue: TraceQueue,
        saver: OutcomeSaver,
        verifier: CurrentVerifier,
        metrics: ServiceMetrics,
        breaker: Breaker,
        *,
        sample_rate: float,
        clock: Clock,
        layers: Layers = DEFAULT_LAYERS,
        strict_routes: frozenset[str] = frozenset(),
        additions: VerdictAdditions | None = None,
        routes: RouteNames | None = None,
        is_owned: Callable[[str], bool] = lambda trace_id: True,
    ) -> None:
        """Without `additions`, failed claims are neither traced nor supported by earlier turns.

        Without `routes`, answers are stored under any name.

        A trace that this process no longer owns is not verified.
        """
        self._client = client
        self._queue = queue
        self._saver = saver
        self._verifier = verifier
        self._metrics = metrics
        self._breaker = breaker
        self._sample_rate = sample_rate
        self._layers = layers
        self._strict_routes = strict_routes
        self._additions = additions
        self._routes = routes
        self._clock = clock
        self._is_owned = is_owned

    def run(self) -> None:
        """Verify until the queue is closed and empty."""
        remote = 1
        while traces := self._queue.lease(remote if self._waits_for_network else LEASE_TRACES):
            began = self._clock()
            self.handle(traces)
            is_quick = self._clock() - began < QUICK_NS
            remote = min(2 * remote, REMOTE_LEASE_TRACES) if is_quick else 1

    @property
    def _waits_for_network(self) -> bool:
        is_remote = self._additions is not None and self._additions.is_remote
        return is_remote or self._verifier.is_remote

    def handle(self, traces: Sequence[AssembledTrace]) -> None:
        """Decide on the answers of a lease, and hand the outcomes and its end to the saver."""
        left: Collection[str] = {trace.trace_id for trace in traces}
        try:
            left = self._decide(traces)
        except Exception as error:  # noqa: BLE001 - thread boundary: the worker goes on
            self._metrics.add(UNSAVED_TRACES, number=len(traces))
            self._note(error, f"{len(traces)} traces left undecided, found again later")
        finally:
            self._queue.judged(traces)
            self._saver.finish(traces, left)

    def _decide(self, traces: Sequence[AssembledTrace]) -> Collection[str]:
        """Decide on every answer of the traces that is new to this verifier, or due again.

        While the judge is paused its answers are postponed: nothing is stored for them, and
        recovery finds them again, as after a crash. Returns the ids of their traces.
        """
        left: set[str] = set()
        verifier = self._verifier.get(self._client)
        spans = self._complete(traces)
        found = self._candidates(spans)
        letters = letters_of(self._client, (trace.trace_id for trace in traces), verifier.id)
        for missing in self._missing_answers(letters, found):
            self._saver.put(missing)
        before = already_decided(self._client, found, verifier.id)
        answers = Counter(candidate.trace_id for candidate in found)
        for candidate in self._due(found, letters, before):
            if not self._is_owned(candidate.trace_id):
                continue
            key = (candidate.trace_id, candidate.span_id)
            letter = letters.get(key)
            outcome = self._attempt(candidate, verifier, letter, is_known=key in before)
            if outcome is not None and outcome.verdict is not None and self._additions is not None:
                trace, number = spans[candidate.trace_id], answers[candidate.trace_id]
                complete = self._additions.add(
                    self._client, verifier, outcome.verdict, trace, answers=number
                )
                outcome = replace(outcome, verdict=complete)
            if outcome is not None:
                self._saver.put(outcome)
            elif letter is None:
                left.add(candidate.trace_id)
        return left

    def _attempt(
        self,
        candidate: Candidate,
        verifier: Verifier,
        letter: DeadLetter | None,
        *,
        is_known: bool,
    ) -> AnswerOutcome | None:
        """The outcome of an attempt on the answer; None if it is postponed."""
        is_judged = needs_judge(candidate, self._sample_rate)
        if is_judged and not self._breaker.allows(candidate.service):
            # An answer with a letter stays due, and one without a decision is found by recovery.
            # Only one with a decision and no letter would be forgotten: it gets a letter.
            if letter is None and is_known:
                return AnswerOutcome(None, postponed_letter(candidate, verifier.id, self._clock()))
            self._metrics.add(PUT_OFF_ANSWERS, number=letter is None)
            return None
        verdict = decide(
            candidate,
            verifier,
            rate=self._sample_rate,
            clock=self._clock,
            layers=self._layers,
            strict=candidate.route in self._strict_routes,
        )
        if is_judged:
            duration_s = verdict.duration_ns / SECOND
            self._metrics.record(VERIFICATION_DURATION, duration_s, verdict.verifier)
            self._breaker.note(find_judge_failure(verdict), candidate.service)
        return outcome_of(verdict, letter)

    def _candidates(self, traces: Mapping[str, Sequence[SpanRecord]]) -> list[Candidate]:
        found: list[Candidate] = []
        for trace_id, spans in traces.items():
            try:
                answers = read_answers(self._client, spans)
                found.extend(self._routes.named(answers) if self._routes else answers)
            except StoreError:
                raise
            except Exception as error:  # noqa: BLE001 - one bad trace must not stop the others
                self._note(error, f"trace {trace_id} cannot be read")
        return found

    def _complete(self, traces: Sequence[AssembledTrace]) -> dict[str, Sequence[SpanRecord]]:
        """The spans of each trace, with those in the store if it did not arrive whole."""
        parts = sorted({trace.trace_id for trace in traces if not trace.is_whole})
        found: defaultdict[str, dict[str, SpanRecord]] = defaultdict(dict)
        for span in spans_of(self._client, parts) if parts else ():
            found[span.trace_id][span.span_id] = span
        for trace in traces:
            for span in trace.spans:
                # Another process may store these, and may not have done so yet.
                found[trace.trace_id].setdefault(span.span_id, span)
        return {trace_id: list(spans.values()) for trace_id, spans in found.items()}

    def _due(
        self,
        found: Sequence[Candidate],
        letters: Mapping[AnswerKey, DeadLetter],
        before: Mapping[AnswerKey, Decision],
    ) -> list[Candidate]:
        """The answers without a decision, those now complete, and those whose retry is due."""
        now = self._clock()

        def is_due(candidate: Candidate) -> bool:
            key = (candidate.trace_id, candidate.span_id)
            letter, decision = letters.get(key), before.get(key)
            if letter is not None and letter.state is LetterState.WAITING:
                return letter.next_ns <= now
            is_better = decision in PROVISIONAL and candidate.blocked is None
            return decision is None or is_better

        return [candidate for candidate in found if is_due(candidate)]

    def _missing_answers(
        self, letters: Mapping[AnswerKey, DeadLetter], found: Sequence[Candidate]
    ) -> list[AnswerOutcome]:
        """The due letters of these traces whose answer is not among the candidates."""
        keys = {(candidate.trace_id, candidate.span_id) for candidate in found}
        now = self._clock()
        return [
            AnswerOutcome(None, missing_answer_letter(letter, now))
            for key, letter in letters.items()
            if key not in keys and letter.state is LetterState.WAITING and letter.next_ns <= now
        ]

    def _note(self, error: Exception, what: str) -> None:
        self._metrics.add(FAILURES, type(error).__name__)
        log.error("%s: %s", what, redacted_error(error))
