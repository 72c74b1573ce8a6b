"""Backfill: verifies stored answers again, or by another judge, and stores the verdicts."""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from typing import NamedTuple

from otel_rt4chart.core.semconv import CarrierPlace
from otel_rt4chart.judges.answer_verdicts import DEFAULT_LAYERS, Clock
from otel_rt4chart.judges.batch import BatchSummary, UsageTotals, map_in_order
from otel_rt4chart.judges.judge_failure import find_judge_failure
from otel_rt4chart.sampling import Layers
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Candidate, Decision, Verdict
from otel_rt4chart.verify import Verifier
from otel_rt4chart.verify.core.json_rows import usage_row
from rt4chart_collector.pipeline.additions.verdict_additions import VerdictAdditions
from rt4chart_collector.pipeline.decision import (
    judge_candidate,
    read_answers,
    sampling_choice,
    save_outcomes,
)
from rt4chart_collector.pipeline.retry import AnswerOutcome
from rt4chart_collector.pipeline.route_names import RouteNames
from rt4chart_collector.store.answers.dead_letters import letters_of
from rt4chart_collector.store.answers.spans import MAX_TIME_NS, spans_of, unverified_traces
from rt4chart_collector.store.answers.trace_sizes import first_traces
from rt4chart_collector.store.answers.verdicts import past_decisions
from rt4chart_collector.store.engine.connect import Client

PAGE_TRACES = 64
BATCH_OUTCOMES = 64
FLUSH_NS = 500_000_000
# Only answers with these decisions were given to a judge; the others have nothing to verify.
REVERIFIED_DECISIONS = (Decision.VERIFIED, Decision.ERROR)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BackfillFilter:
    """Which stored answers to verify: those that began in [since, until), of `route` or of all.

    `again` includes those that this verifier has verified; `limit` 0 means no limit.
    """

    since_ns: int
    until_ns: int = MAX_TIME_NS
    route: str = ""
    limit: int = 0
    again: bool = False


def _is_reverified(decision: Decision, *, is_chosen: bool) -> bool:
    """True for an answer that was given to a judge, or would have been but for its budget."""
    was_refused = decision is Decision.OVER_BUDGET and is_chosen
    return decision in REVERIFIED_DECISIONS or was_refused


class _BackfillTask(NamedTuple):
    """An answer to verify; `spans` are those of its trace, with so many `answers`."""

    candidate: Candidate
    rate: float
    is_first: bool
    spans: Sequence[SpanRecord]
    answers: int


class Backfill:
    """One run: `verify_all` does the work, the other attributes hold its results.

    It draws the same sample as the service, so that the rates of two judges are about the same
    answers. An answer on which the judge failed is not stored, and the next run tries it again.
    """

    def __init__(
        self,
        client: Client,
        verifier: Verifier,
        selection: BackfillFilter,
        *,
        sample_rate: float,
        clock: Clock,
        version: str,
        layers: Layers = DEFAULT_LAYERS,
        strict_routes: frozenset[str] = frozenset(),
        carrier: CarrierPlace = CarrierPlace.TRACE,
        has_carriers: bool = True,
        jobs: int = 1,
        additions: VerdictAdditions | None = None,
        routes: RouteNames | None = None,
    ) -> None:
        """`sample_rate`, `layers`, `strict_routes` and `carrier` are the service's settings.

        Without `has_carriers` verdicts are stored only as rows, not as carrier spans; without
        `additions` and `routes`, as for a `Worker`.
        """
        self._client = client
        self._verifier = verifier
        self._selection = selection
        self._sample_rate = sample_rate
        self._clock = clock
        self._version = version
        self._layers = layers
        self._strict_routes = strict_routes
        self._carrier = carrier
        self._has_carriers = has_carriers
        self._jobs = jobs
        self._additions = additions
        self._routes = routes
        self._readers: SimpleQueue[Client] = SimpleQueue()
        self._spent = UsageTotals()
        self.summary = BatchSummary()
        self.skipped: Counter[str] = Counter()
        self.count = self.errors = 0
        self.stopped = ""

    def verify_all(self) -> Iterator[int]:
        """Verify and store; yields the number of answers so far after each."""
        try:
            # A connection is for one thread: each job has its own, beside that of this thread.
            for _ in range(self._jobs if self._additions is not None else 0):
                self._readers.put(self._client.sibling())
            yield from self._verify_all()
        finally:
            # One that a job of a run that was stopped still uses stays open to the process's end:
            # to close it under that job could crash the engine.
            with suppress(Empty):
                while True:
                    self._readers.get_nowait().close()

    def _verify_all(self) -> Iterator[int]:
        outcomes: list[AnswerOutcome] = []
        flushed = self._clock()
        try:
            for task, verdict in map_in_order(self._verify, self._tasks(), self._jobs):
                if self._add(task, verdict):
                    skips_carrier = not (task.is_first and self._has_carriers)
                    outcomes.append(AnswerOutcome(verdict, skips_carrier=skips_carrier))
                if len(outcomes) >= BATCH_OUTCOMES or self._clock() - flushed > FLUSH_NS:
                    self._save(outcomes)
                    outcomes, flushed = [], self._clock()
                yield self.count
                if self.stopped:
                    return
        finally:
            self._save(outcomes)

    def lines(self) -> Iterator[str]:
        """The summary for people."""
        yield f"{self.count} answers, {self.errors} with an error"
        for reason, count in self.skipped.most_common():
            yield f"skipped: {count} × {reason}"
        yield from self.summary.lines()
        if spent := str(self._spent):
            yield spent

    def _tasks(self) -> Iterator[_BackfillTask]:
        """The answers to verify; queries run in the thread that iterates."""
        number, after = 0, ""
        selection = self._selection
        while page := unverified_traces(
            self._client,
            "" if selection.again else self._verifier.id,
            selection.since_ns,
            PAGE_TRACES,
            after=after,
            until_ns=selection.until_ns,
            errors_count=False,
        ):
            page = first_traces(self._client, page)
            after = page[-1]
            for task in self._select(self._traces(page)):
                if selection.limit and number >= selection.limit:
                    return
                number += 1
                yield task

    def _traces(
        self, trace_ids: Sequence[str]
    ) -> list[tuple[Sequence[SpanRecord], Sequence[Candidate]]]:
        """The spans and the answers of each trace."""
        traces: defaultdict[str, list[SpanRecord]] = defaultdict(list)
        for span in spans_of(self._client, trace_ids):
            traces[span.trace_id].append(span)
        found: list[tuple[Sequence[SpanRecord], Sequence[Candidate]]] = []
        for trace_id, spans in traces.items():
            try:
                answers = read_answers(self._client, spans)
                named = self._routes.named(answers) if self._routes else answers
                found.append((spans, named))
            except Exception as error:  # noqa: BLE001 - one bad trace must not stop the others
                log.warning("trace %s cannot be read: %s", trace_id, type(error).__name__)
                self.skipped["unreadable trace"] += 1
        return found

    def _select(
        self, traces: Sequence[tuple[Sequence[SpanRecord], Sequence[Candidate]]]
    ) -> Iterator[_BackfillTask]:
        """The answers to verify; the others are counted in `skipped` with the reason."""
        selection = self._selection
        found = [candidate for _, answers in traces for candidate in answers]
        before = past_decisions(self._client, found, self._verifier.id)
        sources = {
            answers[0].trace_id: (spans, len(answers)) for spans, answers in traces if answers
        }
        for candidate in found:
            is_within = selection.since_ns <= candidate.start_ns < selection.until_ns
            if not is_within or selection.route not in ("", candidate.route):
                continue
            decision, rate = before.get((candidate.trace_id, candidate.span_id), (None, 0.0))
            is_chosen, probability = sampling_choice(candidate, self._sample_rate)
            if candidate.blocked is not None:
                self.skipped[candidate.blocked] += 1
            elif decision is not None and not _is_reverified(decision, is_chosen=is_chosen):
                self.skipped[decision] += 1
            elif decision is Decision.VERIFIED and not selection.again:
                self.skipped["verified by this judge before"] += 1
            elif decision is None and not is_chosen:
                self.skipped[candidate.decision_hint or Decision.NOT_SAMPLED] += 1
            else:
                # A stored answer keeps the sampling probability of its first decision: that is what
                # it is weighted by in the rates.
                is_first = decision is not Decision.VERIFIED
                weight = rate if decision else probability
                yield _BackfillTask(candidate, weight, is_first, *sources[candidate.trace_id])

    def _verify(self, task: _BackfillTask) -> tuple[_BackfillTask, Verdict]:
        strict = task.candidate.route in self._strict_routes
        verdict = judge_candidate(
            task.candidate,
            self._verifier,
            rate=task.rate,
            clock=self._clock,
            layers=self._layers,
            strict=strict,
        )
        return task, self._complete(task, verdict)

    def _complete(self, task: _BackfillTask, verdict: Verdict) -> Verdict:
        """The verdict with what the service adds to it, too."""
        if self._additions is None:
            return verdict
        client = self._readers.get()
        try:
            return self._additions.add(
                client, self._verifier, verdict, task.spans, answers=task.answers
            )
        finally:
            self._readers.put(client)

    def _add(self, task: _BackfillTask, verdict: Verdict) -> bool:
        """Count the verdict; returns whether to store it."""
        self.count += 1
        failure, report = find_judge_failure(verdict), verdict.report
        if report is not None:
            self.summary.add(report)
            self._spent.add(usage_row(report.usage))
        if self.summary.is_hopeless:
            self.stopped = self.summary.stop_reason
        self.errors += failure is not None
        if failure is None:
            return True
        # A partial verdict is better than none, but must not replace a stored one.
        return task.is_first and report is not None and report.decided > 0

    def _save(self, outcomes: Sequence[AnswerOutcome]) -> None:
        """Store the outcomes; the retry letters of these answers are withdrawn."""
        done = [
            (outcome, outcome.verdict.candidate)
            for outcome in outcomes
            if outcome.verdict is not None
        ]
        if not done:
            return
        ids = (candidate.trace_id for _, candidate in done)
        letters = letters_of(self._client, ids, self._verifier.id)
        complete = [
            replace(outcome, answered_letter=letters.get((candidate.trace_id, candidate.span_id)))
            for outcome, candidate in done
        ]
        save_outcomes(self._client, complete, self._version, place=self._carrier)
