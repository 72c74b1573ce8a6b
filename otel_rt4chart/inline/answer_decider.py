"""Decides on one answer of the inline mode: verify it, or record why not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from otel_rt4chart.core import semconv
from otel_rt4chart.core.errors import RT4ChartError
from otel_rt4chart.core.guard import LOG, guard
from otel_rt4chart.inline.answer_gatherer import Answer
from otel_rt4chart.judges.answer_verdicts import (
    DEFAULT_LAYERS,
    Clock,
    unverified_verdict,
    verify_candidate,
    with_citations,
)
from otel_rt4chart.judges.judge_failure import find_judge_failure
from otel_rt4chart.redaction import Redactor
from otel_rt4chart.sampling import Layers, Sampler
from otel_rt4chart.spans.model.verdict import Candidate, Decision, Verdict
from otel_rt4chart.verify import Exchange, Verifier


class AnswerDecider:
    """Decides on one answer at a time, on one thread. A failure is a verdict, too.

    The verifier is built for the first answer that needs it. If that fails, it is logged once, and
    each such answer gets the decision `error`.
    """

    def __init__(
        self,
        *,
        sampler: Sampler,
        build_verifier: Callable[[], Verifier],
        redactor: Redactor,
        layers: Layers = DEFAULT_LAYERS,
        clock: Clock,
    ) -> None:
        """`clock` returns nanoseconds since the epoch."""
        self._sampler = sampler
        self._build_verifier = build_verifier
        self._redactor = redactor
        self._layers = layers
        self._clock = clock
        self._verifier: Verifier | None = None
        self._judge = ""
        self._failure = self._logged_failure = ""

    def decide(self, answer: Answer) -> Verdict:
        """The verdict; never raises."""
        candidate = answer.candidate
        if candidate.blocked is not None:
            return self._unverified(candidate, candidate.blocked)
        try:
            choice = self._sampler.choose(candidate.trace_id, answer.signals)
            if not choice.sampled:
                decision = Decision(choice.decision)
                unverified = self._unverified(candidate, decision, rate=choice.rate)
                return with_citations(unverified, self._layers)
            return self._verify(candidate, choice.rate)
        except BaseException as error:  # one answer must not stop the others
            with guard("verifying an answer", is_own_thread=True):
                raise
            return self.failed(answer, f"unexpected {type(error).__name__}", type(error).__name__)

    def failed(self, answer: Answer, error: str, kind: str) -> Verdict:
        """The verdict on an answer that could not be verified."""
        return self._unverified(answer.candidate, Decision.ERROR, error=error, kind=kind)

    def _verify(self, candidate: Candidate, rate: float) -> Verdict:
        verifier = self._get_verifier()
        if verifier is None:
            return self._unverified(
                candidate, Decision.ERROR, rate=rate, error=self._failure, kind="SettingsError"
            )
        # Redacted before verification, so that the ranges of claims fit the text that is shown.
        if not self._redactor.drops:
            candidate = replace(candidate, exchange=self._redactor.exchange(candidate.exchange))
        # With redaction by `drop`, the texts stay in this process: a remote judge may not see them.
        is_hidden = (
            verifier.is_remote if self._redactor.drops else _has_redacted_text(candidate.exchange)
        )
        if is_hidden:
            return self._unverified(candidate, Decision.REDACTED, rate=rate)
        verdict = verify_candidate(
            candidate, verifier, rate=rate, clock=self._clock, layers=self._layers
        )
        failure = find_judge_failure(verdict)
        if failure is None or not failure.is_total:
            self._logged_failure = ""
            return verdict
        if failure.kind != self._logged_failure:
            LOG.warning("answers get no verdict because the judge fails: %s", failure.kind)
            self._logged_failure = failure.kind
        if verdict.report is None:
            return verdict
        return self._unverified(
            candidate, Decision.ERROR, rate=rate, error=failure.kind, kind=failure.error_type
        )

    def _get_verifier(self) -> Verifier | None:
        if self._verifier is None and not self._failure:
            try:
                verifier = self._build_verifier()
                self._judge = verifier.id
                self._verifier = verifier
            except RT4ChartError as error:
                self._failure = str(error)
                LOG.error("no answer is verified: %s", error)
            except BaseException as error:  # noqa: BLE001 - the judge may be user code
                self._failure = f"unexpected {type(error).__name__}"
                LOG.error(
                    "no answer is verified: building the judge raised %s", type(error).__name__
                )
        return self._verifier

    def _unverified(
        self,
        candidate: Candidate,
        decision: Decision,
        *,
        rate: float = 1.0,
        error: str = "",
        kind: str = "",
    ) -> Verdict:
        return unverified_verdict(
            candidate,
            decision,
            verifier=self._judge,
            rate=rate,
            now_ns=self._clock(),
            error=error,
            error_type=kind,
        )


def _has_redacted_text(exchange: Exchange) -> bool:
    """True if a text was removed completely: the verdict may depend on it."""
    texts = (exchange.question, exchange.answer, *(passage.text for passage in exchange.passages))
    return semconv.REDACTED in texts
