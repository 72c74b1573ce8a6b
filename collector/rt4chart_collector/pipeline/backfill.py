"""Stored answers verified once more, or by another judge: from the store to the store."""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from otel_rt4chart.judges.answer_verdicts import Clock
from otel_rt4chart.judges.batch import BatchSummary, UsageTotals, map_in_order
from otel_rt4chart.judges.judge_failure import find_judge_failure
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Candidate, Decision, Verdict
from otel_rt4chart.verify import Verifier
from otel_rt4chart.verify.core.json_rows import usage_row
from rt4chart_collector.pipeline.decision import answers_in, chosen, judged, save
from rt4chart_collector.pipeline.retry import AnswerOutcome
from rt4chart_collector.store.answers.dead_letters import letters_of
from rt4chart_collector.store.answers.spans import MAX_TIME_NS, spans_of, unverified_traces
from rt4chart_collector.store.answers.verdicts import past_decisions
from rt4chart_collector.store.engine.connect import Client

TRACES = 64
OUTCOMES = 64
FLUSH_NS = 500_000_000
# The answers that the judge was asked about; of the others there is nothing to verify.
REDONE = (Decision.VERIFIED, Decision.ERROR)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BackfillFilter:
    """Which stored answers: those that began in [since, until), of one route or (empty) of all.

    `again` also takes those that this verifier has verified; `limit` 0 is no limit.
    """

    since_ns: int
    until_ns: int = MAX_TIME_NS
    route: str = ""
    limit: int = 0
    again: bool = False


class _BackfillTask(NamedTuple):
    candidate: Candidate
    rate: float
    is_first: bool


class Backfill:
    """One run: `answers` does the work, the rest says what it came to.

    The same sample is taken as the service takes, so that two judges' rates are of the same
    answers. What the judge failed on is not stored, and taken up by the next run.
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
        strict_routes: frozenset[str] = frozenset(),
        has_carriers: bool = True,
        jobs: int = 1,
    ) -> None:
        """`sample_rate` and `strict_routes` are the service's settings.

        Without `has_carriers` the verdicts are rows alone, and no spans.
        """
        self._client = client
        self._verifier = verifier
        self._selection = selection
        self._sample_rate = sample_rate
        self._clock = clock
        self._version = version
        self._strict_routes = strict_routes
        self._has_carriers = has_carriers
        self._jobs = jobs
        self._spent = UsageTotals()
        self.summary = BatchSummary()
        self.skipped: Counter[str] = Counter()
        self.count = self.errors = 0
        self.stopped = ""

    def answers(self) -> Iterator[int]:
        """Verify and store; the number of answers so far, after each."""
        outcomes: list[AnswerOutcome] = []
        flushed = self._clock()
        try:
            for job, verdict in map_in_order(self._done, self._found(), self._jobs):
                if self._add(job, verdict):
                    is_silent = not (job.is_first and self._has_carriers)
                    outcomes.append(AnswerOutcome(verdict, is_silent=is_silent))
                if len(outcomes) >= OUTCOMES or self._clock() - flushed > FLUSH_NS:
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

    def _found(self) -> Iterator[_BackfillTask]:
        """The answers to verify; queries run in the thread that iterates."""
        number, after = 0, ""
        selection = self._selection
        while page := unverified_traces(
            self._client,
            "" if selection.again else self._verifier.judge.id,
            selection.since_ns,
            TRACES,
            after=after,
            until_ns=selection.until_ns,
            errors_count=False,
        ):
            after = page[-1]
            for job in self._jobs_of(self._candidates(page)):
                if selection.limit and number >= selection.limit:
                    return
                number += 1
                yield job

    def _candidates(self, trace_ids: Sequence[str]) -> list[Candidate]:
        traces: defaultdict[str, list[SpanRecord]] = defaultdict(list)
        for span in spans_of(self._client, trace_ids):
            traces[span.trace_id].append(span)
        found: list[Candidate] = []
        for trace_id, spans in traces.items():
            try:
                found.extend(answers_in(self._client, spans))
            except Exception as error:  # noqa: BLE001 - one bad trace must not stop the others
                log.warning("trace %s cannot be read: %s", trace_id, type(error).__name__)
                self.skipped["unreadable trace"] += 1
        return found

    def _jobs_of(self, found: Sequence[Candidate]) -> Iterator[_BackfillTask]:
        selection = self._selection
        before = past_decisions(self._client, found, self._verifier.judge.id)
        for candidate in found:
            is_within = selection.since_ns <= candidate.start_ns < selection.until_ns
            if not is_within or selection.route not in ("", candidate.route):
                continue
            decision, rate = before.get((candidate.trace_id, candidate.span_id), (None, 0.0))
            is_chosen, probability = chosen(candidate, self._sample_rate)
            if candidate.blocked is not None:
                self.skipped[candidate.blocked] += 1
            elif decision is not None and decision not in REDONE:
                self.skipped[decision] += 1
            elif decision is Decision.VERIFIED and not selection.again:
                self.skipped["verified by this judge before"] += 1
            elif decision is None and not is_chosen:
                self.skipped[candidate.decision_hint or Decision.NOT_SAMPLED] += 1
            else:
                # The weight that an answer came in with stays its weight.
                is_first = decision is not Decision.VERIFIED
                yield _BackfillTask(candidate, rate if decision else probability, is_first)

    def _done(self, job: _BackfillTask) -> tuple[_BackfillTask, Verdict]:
        strict = job.candidate.route in self._strict_routes
        made = judged(
            job.candidate, self._verifier, rate=job.rate, clock=self._clock, strict=strict
        )
        return job, made

    def _add(self, job: _BackfillTask, verdict: Verdict) -> bool:
        """Count the verdict; whether it is to be stored."""
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
        # Some claims are better than none, and worse than what was there before.
        return job.is_first and report is not None and report.decided > 0

    def _save(self, outcomes: Sequence[AnswerOutcome]) -> None:
        """Store them; an answer that waited to be tried again is answered."""
        done = [
            (outcome, outcome.verdict.candidate)
            for outcome in outcomes
            if outcome.verdict is not None
        ]
        if not done:
            return
        ids = (candidate.trace_id for _, candidate in done)
        letters = letters_of(self._client, ids, self._verifier.judge.id)
        settled = [
            replace(outcome, settled=letters.get((candidate.trace_id, candidate.span_id)))
            for outcome, candidate in done
        ]
        save(self._client, settled, self._version)
