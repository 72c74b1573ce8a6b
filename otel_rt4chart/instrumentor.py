"""`RT4ChartInstrumentor`: attaches to the tracing of an application in one line."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import replace
from inspect import iscoroutinefunction
from typing import Any

from opentelemetry import trace
from opentelemetry._logs import LoggerProvider
from opentelemetry.instrumentation.instrumentor import (  # type: ignore[attr-defined]
    BaseInstrumentor,
)
from opentelemetry.metrics import MeterProvider
from opentelemetry.sdk.trace import TracerProvider

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.guard import LOG, guard
from otel_rt4chart.core.settings import load
from otel_rt4chart.modes import InstrumentOptions, start_mode, start_redaction_only
from otel_rt4chart.sampling.policy import checked_rate
from otel_rt4chart.settings.application import (
    MODES,
    ApplicationSettings,
    chosen_judge,
    setting_warnings,
    wants_redaction,
)
from otel_rt4chart.spans.model.verdict import Verdict
from otel_rt4chart.spans.reading.sdk import RouteCallable


class RT4ChartInstrumentor(BaseInstrumentor):  # type: ignore[misc] # its package has no types
    """Add one line to an instrumented application: `RT4ChartInstrumentor().instrument()`.

    Arguments of `instrument`, all optional: `tracer_provider`, `logger_provider`,
    `meter_provider`; `mode` ("mark" or "inline"); `sample_rate` (0 to 1); `route`, a callable from
    the spans of a trace, local root first, to a name or None; `redact`, a callable from text to
    text; `judge`, the name of the judge of the inline mode; `on_verdict`, a callable that the
    inline mode calls with each `Verdict`. Defaults come from the environment.

    A wrong argument raises SettingsError. A wrong environment variable is logged and switches
    verification off, because it must not stop the application. If redaction was requested, it stays
    on and removes all texts: a mistake must not let out text that was to be redacted.
    """

    _cleanup: ExitStack | None = None

    def instrumentation_dependencies(self) -> Collection[str]:
        """None: it works with any library that writes spans."""
        return ()

    def _instrument(self, **arguments: Any) -> None:  # noqa: ANN401 the base class's signature
        options = _check_arguments(**arguments)
        if options is None:
            return
        with guard("instrumenting"), ExitStack() as cleanup:
            (start_redaction_only if options.is_wrong else start_mode)(options, cleanup)
            self._cleanup = cleanup.pop_all()

    def _uninstrument(self, **_: Any) -> None:  # noqa: ANN401 the base class's signature
        cleanup, self._cleanup = self._cleanup, None
        with guard("uninstrumenting"):
            if cleanup is not None:
                cleanup.close()


def _check_arguments(
    *,
    tracer_provider: object = None,
    logger_provider: LoggerProvider | None = None,
    meter_provider: MeterProvider | None = None,
    mode: str | None = None,
    sample_rate: float | None = None,
    route: RouteCallable | None = None,
    redact: Callable[[str], str] | None = None,
    judge: str | None = None,
    on_verdict: Callable[[Verdict], object] | None = None,
    **unknown_arguments: object,
) -> InstrumentOptions | None:
    """The validated options; None, with the reason in the log, if there is nothing to do."""
    _check_names(unknown_arguments)
    _check_values(
        {"route": route, "redact": redact, "on_verdict": on_verdict},
        mode=mode,
        sample_rate=sample_rate,
        judge=judge,
    )
    settings, is_wrong = ApplicationSettings(), False
    for warning in setting_warnings():
        LOG.warning("%s", warning)
    try:
        settings = load(ApplicationSettings)
        if (mode or settings.mode) == "inline" and judge is None and (configured := chosen_judge()):
            _check_judge_name(configured, "RT4CHART_JUDGE: ")
    except SettingsError as error:
        LOG.error("otel-rt4chart is off: %s", error)
        if redact is None and not wants_redaction():
            return None
        LOG.error(
            "redaction stays on because it was requested; without a callable it removes all texts"
        )
        is_wrong = True
    settings = replace(
        settings,
        mode=settings.mode if mode is None else mode,
        sample_rate=settings.sample_rate if sample_rate is None else sample_rate,
    )
    _warn_of_ignored(settings.mode, judge, on_verdict)
    provider = _find_sdk_provider(tracer_provider or trace.get_tracer_provider())
    if provider is None:
        return None
    return InstrumentOptions(
        provider,
        settings,
        route,
        redact,
        judge,
        logger_provider,
        meter_provider,
        is_wrong,
        on_verdict,
    )


def _check_names(unknown_arguments: Collection[str]) -> None:
    """SettingsError for an unknown argument: it must not be ignored silently."""
    if unknown := sorted(
        set(unknown_arguments) - {"skip_dep_check", "raise_exception_on_conflict"}
    ):
        raise SettingsError(
            "instrument: expected tracer_provider, logger_provider, meter_provider, mode, "
            f"sample_rate, route, redact, judge or on_verdict, got {', '.join(unknown)}"
        )


def _warn_of_ignored(mode: str, judge: str | None, on_verdict: object) -> None:
    """Log the arguments that only the inline mode uses."""
    if mode == "inline":
        return
    if judge is not None:
        LOG.warning("judge=%r is ignored: in mode=%r the service chooses the judge", judge, mode)
    if on_verdict is not None:
        LOG.warning("on_verdict is ignored: in mode=%r the service verifies", mode)


def _check_values(
    callables: Mapping[str, object],
    *,
    mode: str | None,
    sample_rate: float | None,
    judge: str | None,
) -> None:
    """SettingsError for a wrong argument; None stands for the environment's value."""
    for name, value in callables.items():
        if value is not None and not callable(value):
            raise SettingsError(f"{name}: expected a callable, got {type(value).__name__}")
    if iscoroutinefunction(callables["on_verdict"]):
        raise SettingsError("on_verdict: expected a function that is not async: it is not awaited")
    if mode is not None and mode not in MODES:
        raise SettingsError(f"mode: expected one of {', '.join(MODES)}, got {mode!r}")
    if sample_rate is not None:
        checked_rate(sample_rate)
    if judge is not None:
        _check_judge_name(judge)


def _check_judge_name(name: str, where: str = "") -> None:
    from otel_rt4chart.judges.build import check_judge_name

    try:
        check_judge_name(name)
    except SettingsError as error:
        raise SettingsError(f"{where}{error}") from None


def _find_sdk_provider(configured: object) -> TracerProvider | None:
    """The SDK's provider, also inside a wrapper such as Logfire's."""
    for provider in (configured, getattr(configured, "provider", None)):
        if isinstance(provider, TracerProvider):
            return provider
    LOG.warning(
        "otel-rt4chart is off: expected an SDK TracerProvider, got %s; "
        "call instrument() after setting one",
        type(configured).__name__,
    )
    return None
