"""What is done with one answer in the application's process: verified, or left with the reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from otel_rt4chart.core import semconv
from otel_rt4chart.core.errors import RT4ChartError
from otel_rt4chart.core.guard import LOG, guard
from otel_rt4chart.inline.gather import Answer
from otel_rt4chart.judges import verdicts
from otel_rt4chart.judges.failure import failure_in
from otel_rt4chart.judges.verdicts import Clock
from otel_rt4chart.redaction import Redactor
from otel_rt4chart.sampling import Sampler
from otel_rt4chart.spans.model.verdict import Candidate, Decision, Verdict
from otel_rt4chart.verify import Exchange, Verifier


class Decider:
    """Decides on answers one by one; for one thread. A failure is a verdict too.

    The verifier is built at the first answer that needs it; where that fails it is told once, and
    each such answer is an `error`.
    """

    def __init__(
        self,
        *,
        sampler: Sampler,
        build_verifier: Callable[[], Verifier],
        redactor: Redactor,
        clock: Clock,
    ) -> None:
        """`clock` tells nanoseconds since the epoch."""
        self._sampler = sampler
        self._build_verifier = build_verifier
        self._redactor = redactor
        self._clock = clock
        self._verifier: Verifier | None = None
        self._judge = ""
        self._failure = self._told = ""

    def decide(self, answer: Answer) -> Verdict:
        """The verdict; never raises."""
        candidate = answer.candidate
        if candidate.blocked is not None:
            return self._left(candidate, candidate.blocked)
        try:
            choice = self._sampler.choose(candidate.trace_id, answer.signals)
            if not choice.sampled:
                decision = Decision(choice.decision)
                return self._left(candidate, decision, rate=choice.rate)
            return self._verified(candidate, choice.rate)
        except Exception as error:  # one bad answer must not stop the others
            with guard("verifying an answer"):
                raise
            return self.failed(answer, f"unexpected {type(error).__name__}", type(error).__name__)

    def failed(self, answer: Answer, error: str, kind: str) -> Verdict:
        """The verdict on an answer that could not be verified."""
        return self._left(answer.candidate, Decision.ERROR, error=error, kind=kind)

    def _verified(self, candidate: Candidate, rate: float) -> Verdict:
        verifier = self._built()
        if verifier is None:
            return self._left(
                candidate, Decision.ERROR, rate=rate, error=self._failure, kind="SettingsError"
            )
        # Redacted before and not after, so that the ranges of claims fit the text that is shown.
        if not self._redactor.drops:
            candidate = replace(candidate, exchange=self._redactor.exchange(candidate.exchange))
        is_hidden = verifier.is_remote if self._redactor.drops else _is_hidden(candidate.exchange)
        if is_hidden:
            return self._left(candidate, Decision.REDACTED, rate=rate)
        verdict = verdicts.verified(candidate, verifier, rate=rate, clock=self._clock)
        failure = failure_in(verdict)
        if failure is None or not failure.is_total:
            self._told = ""
            return verdict
        if failure.kind != self._told:
            LOG.warning("answers get no verdict, the judge fails: %s", failure.kind)
            self._told = failure.kind
        if verdict.report is None:
            return verdict
        return self._left(
            candidate, Decision.ERROR, rate=rate, error=failure.kind, kind=failure.error_type
        )

    def _built(self) -> Verifier | None:
        if self._verifier is None and not self._failure:
            try:
                verifier = self._build_verifier()
                self._judge = verifier.judge.id
                self._verifier = verifier
            except RT4ChartError as error:
                self._failure = str(error)
                LOG.error("no answer is verified: %s", error)
            except Exception as error:  # noqa: BLE001 - the judge may be anybody's
                self._failure = f"unexpected {type(error).__name__}"
                LOG.error(
                    "no answer is verified: building the judge raised %s", type(error).__name__
                )
        return self._verifier

    def _left(
        self,
        candidate: Candidate,
        decision: Decision,
        *,
        rate: float = 1.0,
        error: str = "",
        kind: str = "",
    ) -> Verdict:
        return verdicts.left(
            candidate,
            decision,
            verifier=self._judge,
            rate=rate,
            now_ns=self._clock(),
            error=error,
            error_type=kind,
        )


def _is_hidden(exchange: Exchange) -> bool:
    """True where a text was taken out whole: it may be what the verdict hangs on."""
    texts = (exchange.question, exchange.answer, *(one.text for one in exchange.passages))
    return semconv.REDACTED in texts
