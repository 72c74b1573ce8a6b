"""The two modes: mark the spans for the service, or verify in this process."""

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
from otel_rt4chart.inline.completion_hook import HELD
from otel_rt4chart.marking.attach import put_first, remove
from otel_rt4chart.marking.decisions import Decisions
from otel_rt4chart.marking.exporter import changes, unmarked
from otel_rt4chart.marking.marker import Marker
from otel_rt4chart.redaction import Redactor, build_redactor
from otel_rt4chart.sampling import Sampler
from otel_rt4chart.sampling.rates import RatesSource
from otel_rt4chart.settings.application import ApplicationSettings, chosen_judge
from otel_rt4chart.spans.reading.sdk import Route

# What these samplers keep is all that their parents, if they have any, keep.
KEEPING = (sampling.ALWAYS_ON, sampling.DEFAULT_ON)


class Given(NamedTuple):
    """The arguments of `instrument`, checked; what is None comes from elsewhere."""

    provider: TracerProvider
    settings: ApplicationSettings
    route: Route | None = None
    redact: Callable[[str], str] | None = None
    judge: str | None = None
    logger_provider: LoggerProvider | None = None
    meter_provider: MeterProvider | None = None
    is_wrong: bool = False  # the environment is; the settings are the defaults then


def hide(given: Given, attached: ExitStack) -> None:
    """Redact by the callable, or take all texts out, and do nothing else."""
    redactor = build_redactor("drop", "", given.redact)
    marker = Marker(given.provider, changes(unmarked, redactor), hides=True)
    _add(marker, given, attached)


def start(given: Given, attached: ExitStack) -> None:
    """Attach to the provider; `attached` takes in how to undo it."""
    settings = given.settings
    sampler = Sampler(settings.policy())
    if settings.rates:
        source = RatesSource(settings.rates, sampler, token=settings.rates_token)
        attached.callback(source.close)
    if settings.mode == "inline":
        _inline(given, sampler, attached)
    else:
        _mark(given, sampler, attached)


def _mark(given: Given, sampler: Sampler, attached: ExitStack) -> None:
    """Decide, and write the decision on the spans as they are exported."""
    _tell_what_is_dropped(given.provider, "RT4CHART_MODE=inline sees them too, where")
    redactor = _redactor(given)
    change = changes(Decisions(sampler, given.route).mark, redactor)
    marker = Marker(given.provider, change, marks=True, hides=redactor.is_on)
    _add(marker, given, attached)


def _inline(given: Given, sampler: Sampler, attached: ExitStack) -> None:
    """Verify in a worker thread of this process, and emit the verdicts."""
    from otel_rt4chart.emit import Emitter
    from otel_rt4chart.inline import InlineVerifier
    from otel_rt4chart.judges.build import build_verifier

    settings = given.settings
    if settings.record_unsampled:
        _record_all(given.provider, attached)
    else:
        _tell_what_is_dropped(given.provider, "to see them,")
    redactor = _redactor(given)
    emitter = Emitter(
        settings.emit,
        tracer_provider=given.provider,
        logger_provider=given.logger_provider,
        meter_provider=given.meter_provider,
        redactor=redactor,
        version=version("otel-rt4chart"),
    )
    inline = InlineVerifier(
        sampler=sampler,
        build_verifier=partial(build_verifier, given.judge or chosen_judge() or "local"),
        emitter=emitter,
        route=given.route,
        queue_size=settings.queue_size,
    )
    HELD.is_wanted = True
    attached.callback(HELD.clear)
    # The baggage's route and wish are read there too; without redaction no exporter is touched.
    change = changes(unmarked, redactor) if redactor.is_on else None
    marker = Marker(given.provider, change, hides=redactor.is_on)
    _add(marker, given, attached)
    put_first(given.provider, inline)
    attached.callback(inline.shutdown)
    attached.callback(remove, given.provider, inline)


def _redactor(given: Given) -> Redactor:
    settings = given.settings
    return build_redactor(
        settings.redact, settings.redact_pattern, given.redact, salt=settings.salt
    )


def _add(marker: Marker, given: Given, attached: ExitStack) -> None:
    attached.callback(marker.detach)
    given.provider.add_span_processor(marker)


def _record_all(provider: TracerProvider, attached: ExitStack) -> None:
    """See the spans too that a head sampler drops; what is exported stays the same."""
    wrap = getattr(sampling, "AlwaysRecordSampler", None)
    if wrap is None:
        LOG.warning("RT4CHART_RECORD_UNSAMPLED needs opentelemetry-sdk 1.45 or later: it is off")
        return
    before, provider.sampler = provider.sampler, wrap(provider.sampler)
    attached.callback(setattr, provider, "sampler", before)


def _tell_what_is_dropped(provider: TracerProvider, remedy: str) -> None:
    if provider.sampler not in KEEPING:
        LOG.warning(
            "answers in traces that the sampler %s drops are not seen; %s set "
            "RT4CHART_RECORD_UNSAMPLED=true before the first tracer is made",
            provider.sampler.get_description(),
            remedy,
        )
