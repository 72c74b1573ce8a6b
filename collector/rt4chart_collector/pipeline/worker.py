"""The verification workers: take traces that were looked up, and decide on each answer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

from otel_rt4chart.judges.answer_verdicts import DEFAULT_LAYERS, Clock
from otel_rt4chart.judges.judge_failure import find_judge_failure
from otel_rt4chart.sampling import Layers
from otel_rt4chart.spans.exchange.assembly import AssembledTrace
from otel_rt4chart.spans.model.verdict import Candidate
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
from rt4chart_collector.pipeline.decision import decide, needs_judge
from rt4chart_collector.pipeline.look_ahead import LookAhead, LookedUp, LookUps
from rt4chart_collector.pipeline.outcome_saver import OutcomeSaver
from rt4chart_collector.pipeline.retry import (
    AnswerOutcome,
    missing_answer_letter,
    outcome_of,
    postponed_letter,
)
from rt4chart_collector.pipeline.trace_queue import TraceQueue
from rt4chart_collector.store.answers.dead_letters import DeadLetter, LetterState
from rt4chart_collector.store.answers.verdicts import PROVISIONAL
from rt4chart_collector.store.engine.connect import Client

SECOND = 10**9

log = logging.getLogger(__name__)


class Worker:
    """One thread's work: `run` takes one trace after another until there is none any more.

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
        look_ups: LookUps,
        metrics: ServiceMetrics,
        breaker: Breaker,
        *,
        sample_rate: float,
        clock: Clock,
        layers: Layers = DEFAULT_LAYERS,
        strict_routes: frozenset[str] = frozenset(),
        additions: VerdictAdditions | None = None,
        is_owned: Callable[[str], bool] = lambda trace_id: True,
    ) -> None:
        """Without `additions`, failed claims are neither traced nor supported by earlier turns.

        A trace that this process no longer owns is not verified.
        """
        self._client = client
        self._queue = queue
        self._saver = saver
        self._look_ups = look_ups
        self._metrics = metrics
        self._breaker = breaker
        self._sample_rate = sample_rate
        self._layers = layers
        self._strict_routes = strict_routes
        self._additions = additions
        self._clock = clock
        self._is_owned = is_owned

    def run(self, look_ahead: LookAhead) -> None:
        """Verify until there is no trace any more."""
        while (found := look_ahead.take()) is not None:
            if isinstance(found, LookedUp):
                self._judge(found)
            else:
                self.handle([found])

    def handle(self, traces: Sequence[AssembledTrace]) -> None:
        """Look leased traces up, and decide on their answers."""
        for found in self._look_ups.of(self._client, traces):
            self._judge(found)

    def _judge(self, found: LookedUp) -> None:
        """Decide on the answers of a trace, and hand the outcomes and the lease's end to the saver.

        While the judge is paused its answers are postponed: nothing is stored for them, and
        recovery finds them again, as after a crash.
        """
        left = True
        try:
            left = self._decide(found)
        except Exception as error:  # noqa: BLE001 - thread boundary: the worker goes on
            self._metrics.add(UNSAVED_TRACES)
            self._metrics.add(FAILURES, type(error).__name__)
            log.error("a trace left undecided, found again later: %s", redacted_error(error))
        finally:
            self._queue.judged([found.trace])
            self._saver.finish([found.trace], {found.trace.trace_id} if left else ())

    def _decide(self, found: LookedUp) -> bool:
        """Decide on each answer that is new to this verifier, or due again; True if one is left."""
        is_left = False
        for missing in self._missing_answers(found):
            self._saver.put(missing)
        for candidate in self._due(found):
            if not self._is_owned(candidate.trace_id):
                continue
            key = (candidate.trace_id, candidate.span_id)
            letter = found.letters.get(key)
            outcome = self._attempt(candidate, found.verifier, letter, is_known=key in found.before)
            if outcome is not None:
                self._saver.put(self._completed(outcome, found))
            elif letter is None:
                is_left = True
        return is_left

    def _completed(self, outcome: AnswerOutcome, found: LookedUp) -> AnswerOutcome:
        """The outcome with the additions to its verdict."""
        if outcome.verdict is None or self._additions is None:
            return outcome
        number = len(found.answers)
        complete = self._additions.add(
            self._client, found.verifier, outcome.verdict, found.spans, answers=number
        )
        return replace(outcome, verdict=complete)

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

    def _due(self, found: LookedUp) -> list[Candidate]:
        """The answers without a decision, those now complete, and those whose retry is due."""
        now = self._clock()

        def is_due(candidate: Candidate) -> bool:
            key = (candidate.trace_id, candidate.span_id)
            letter, decision = found.letters.get(key), found.before.get(key)
            if letter is not None and letter.state is LetterState.WAITING:
                return letter.next_ns <= now
            is_better = decision in PROVISIONAL and candidate.blocked is None
            return decision is None or is_better

        return [candidate for candidate in found.answers if is_due(candidate)]

    def _missing_answers(self, found: LookedUp) -> list[AnswerOutcome]:
        """The due letters of the trace whose answer is not among its answers."""
        keys = {(candidate.trace_id, candidate.span_id) for candidate in found.answers}
        now = self._clock()
        return [
            AnswerOutcome(None, missing_answer_letter(letter, now))
            for key, letter in found.letters.items()
            if letter.trace_id == found.trace.trace_id
            and key not in keys
            and letter.state is LetterState.WAITING
            and letter.next_ns <= now
        ]
