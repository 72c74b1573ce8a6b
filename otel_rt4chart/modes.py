"""The two modes: mark spans for the service, or verify answers in this process."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from importlib.metadata import version
from typing import NamedTuple

from opentelemetry._logs import LoggerProvider
from opentelemetry.metrics import MeterProvider
from opentelemetry.sdk.trace import TracerProvider, sampling

from otel_rt4chart.core.guard import LOG
from otel_rt4chart.inline.completion_hook import PENDING_COMPLETIONS
from otel_rt4chart.marking.decisions import TraceDecisions
from otel_rt4chart.marking.exporter import keep_unmarked, mark_and_redact
from otel_rt4chart.marking.exporter_wrapping import add_processor_first, remove_processor
from otel_rt4chart.marking.processor import MarkingProcessor
from otel_rt4chart.redaction import Redactor, build_redactor
from otel_rt4chart.sampling import Sampler
from otel_rt4chart.sampling.rates import RatesSource
from otel_rt4chart.settings.application import ApplicationSettings, chosen_judge
from otel_rt4chart.spans.model.verdict import Verdict
from otel_rt4chart.spans.reading.sdk import RouteCallable

# These samplers drop nothing that the parent's sampler keeps.
KEEP_ALL_SAMPLERS = (sampling.ALWAYS_ON, sampling.DEFAULT_ON)


class InstrumentOptions(NamedTuple):
    """The validated arguments of `instrument`, with the settings of the environment.

    `is_wrong` says that the environment is invalid; `settings` are the defaults then.
    """

    provider: TracerProvider
    settings: ApplicationSettings
    route: RouteCallable | None = None
    redact: Callable[[str], str] | None = None
    judge: str | None = None
    logger_provider: LoggerProvider | None = None
    meter_provider: MeterProvider | None = None
    is_wrong: bool = False
    on_verdict: Callable[[Verdict], object] | None = None


def start_redaction_only(options: InstrumentOptions, cleanup: ExitStack) -> None:
    """Redact by the callable, or remove all texts, and do nothing else."""
    redactor = build_redactor("drop", "", options.redact)
    marker = MarkingProcessor(
        options.provider, mark_and_redact(keep_unmarked, redactor), hides=True
    )
    _add_processor(marker, options, cleanup)


def start_mode(options: InstrumentOptions, cleanup: ExitStack) -> None:
    """Attach to the provider; `cleanup` receives the callbacks that undo it."""
    settings = options.settings
    sampler = Sampler(settings.policy())
    if settings.rates:
        source = RatesSource(settings.rates, sampler, token=settings.rates_token)
        cleanup.callback(source.close)
    if settings.mode == "inline":
        _start_inline_mode(options, sampler, cleanup)
    else:
        _start_mark_mode(options, sampler, cleanup)


def _start_mark_mode(options: InstrumentOptions, sampler: Sampler, cleanup: ExitStack) -> None:
    """Decide on each trace, and write the decision on its spans as they are exported."""
    _warn_of_dropped_traces(options.provider, "to verify them, set RT4CHART_MODE=inline and")
    redactor = _build_redactor(options)
    change = mark_and_redact(TraceDecisions(sampler, options.route).mark, redactor)
    marker = MarkingProcessor(
        options.provider,
        change,
        marks=True,
        hides=redactor.is_on,
        baggage=options.settings.baggage,
    )
    _add_processor(marker, options, cleanup)


def _start_inline_mode(options: InstrumentOptions, sampler: Sampler, cleanup: ExitStack) -> None:
    """Verify in a worker thread of this process, and emit the verdicts."""
    from otel_rt4chart.emit import Emitter
    from otel_rt4chart.inline import InlineVerifier
    from otel_rt4chart.judges.build import build_verifier

    settings = options.settings
    if settings.record_unsampled:
        _record_unsampled(options.provider, cleanup)
    else:
        _warn_of_dropped_traces(options.provider, "to verify them, set")
    redactor = _build_redactor(options)
    emitter = Emitter(
        settings.emit,
        tracer_provider=options.provider,
        logger_provider=options.logger_provider,
        meter_provider=options.meter_provider,
        redactor=redactor,
        version=version("otel-rt4chart"),
        carrier=settings.carrier,
    )
    inline = InlineVerifier(
        sampler=sampler,
        build_verifier=partial(build_verifier, options.judge or chosen_judge() or "local"),
        emitter=emitter,
        layers=settings.layers,
        route=options.route,
        queue_size=settings.queue_size,
        on_verdict=options.on_verdict,
    )
    PENDING_COMPLETIONS.is_enabled = True
    cleanup.callback(PENDING_COMPLETIONS.clear)
    # This processor may also copy route and force from the baggage. Without redaction no exporter
    # is wrapped.
    change = mark_and_redact(keep_unmarked, redactor) if redactor.is_on else None
    marker = MarkingProcessor(
        options.provider, change, hides=redactor.is_on, baggage=settings.baggage
    )
    _add_processor(marker, options, cleanup)
    add_processor_first(options.provider, inline)
    cleanup.callback(inline.shutdown)
    cleanup.callback(remove_processor, options.provider, inline)


def _build_redactor(options: InstrumentOptions) -> Redactor:
    settings = options.settings
    return build_redactor(
        settings.redact, settings.redact_pattern, options.redact, salt=settings.salt
    )


def _add_processor(
    marker: MarkingProcessor, options: InstrumentOptions, cleanup: ExitStack
) -> None:
    cleanup.callback(marker.detach)
    options.provider.add_span_processor(marker)


def _record_unsampled(provider: TracerProvider, cleanup: ExitStack) -> None:
    """Record spans that the head sampler drops, so that we see them; they are not exported."""
    wrap = getattr(sampling, "AlwaysRecordSampler", None)
    if wrap is None:
        LOG.warning(
            "RT4CHART_RECORD_UNSAMPLED needs opentelemetry-sdk 1.45 or later and has no effect"
        )
        return
    before, provider.sampler = provider.sampler, wrap(provider.sampler)
    cleanup.callback(setattr, provider, "sampler", before)


def _warn_of_dropped_traces(provider: TracerProvider, remedy: str) -> None:
    if provider.sampler not in KEEP_ALL_SAMPLERS:
        LOG.warning(
            "answers in traces that the sampler %s drops are not verified; %s "
            "RT4CHART_RECORD_UNSAMPLED=true before the first tracer is created",
            provider.sampler.get_description(),
            remedy,
        )
