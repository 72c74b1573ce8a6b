"""`RT4ChartInstrumentor`: one line that attaches to the tracing that an application has."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import ExitStack
from dataclasses import replace
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
from otel_rt4chart.modes import Given, hide, start
from otel_rt4chart.sampling.policy import checked_rate
from otel_rt4chart.settings.application import (
    MODES,
    ApplicationSettings,
    chosen_judge,
    setting_warnings,
    wants_redaction,
)
from otel_rt4chart.spans.reading.sdk import Route


class RT4ChartInstrumentor(BaseInstrumentor):  # type: ignore[misc] # its package has no types
    """One line beside the instrumentation that is there: `RT4ChartInstrumentor().instrument()`.

    Arguments of `instrument`, all optional: `tracer_provider`, `logger_provider`,
    `meter_provider`; `mode` ("mark" or "inline"); `sample_rate` (0 to 1); `route`, a callable from
    spans of the trace, the local root first, to a name or None; `redact`, a callable from text to
    text; `judge`, the name of the inline mode's. What is not given comes from the environment. A
    wrong argument raises SettingsError; a wrong environment is logged and switches everything of
    ours off, because it must not stop the application; but where redaction was asked for, no text
    leaves that it would have been taken out of.
    """

    _attached: ExitStack | None = None

    def instrumentation_dependencies(self) -> Collection[str]:
        """None: it attaches to whatever writes spans."""
        return ()

    def _instrument(self, **arguments: Any) -> None:  # noqa: ANN401 the base class's signature
        given = _checked(**arguments)
        if given is None:
            return
        with guard("instrumenting"), ExitStack() as attached:
            (hide if given.is_wrong else start)(given, attached)
            self._attached = attached.pop_all()

    def _uninstrument(self, **_: Any) -> None:  # noqa: ANN401 the base class's signature
        attached, self._attached = self._attached, None
        with guard("uninstrumenting"):
            if attached is not None:
                attached.close()


def _checked(
    *,
    tracer_provider: object = None,
    logger_provider: LoggerProvider | None = None,
    meter_provider: MeterProvider | None = None,
    mode: str | None = None,
    sample_rate: float | None = None,
    route: Route | None = None,
    redact: Callable[[str], str] | None = None,
    judge: str | None = None,
    **others: object,
) -> Given | None:
    """What is to be done; None where that is nothing, with the reason in the log."""
    # An argument that is not known must not seem to work.
    if unknown := sorted(set(others) - {"skip_dep_check", "raise_exception_on_conflict"}):
        raise SettingsError(
            "instrument: expected tracer_provider, logger_provider, meter_provider, mode, "
            f"sample_rate, route, redact or judge, got {', '.join(unknown)}"
        )
    for name, value in (("route", route), ("redact", redact)):
        if value is not None and not callable(value):
            raise SettingsError(f"{name}: expected a callable, got {type(value).__name__}")
    if mode is not None and mode not in MODES:
        raise SettingsError(f"mode: expected one of {', '.join(MODES)}, got {mode!r}")
    if sample_rate is not None:
        checked_rate(sample_rate)
    if judge is not None:
        _check_judge(judge)
    settings, is_wrong = ApplicationSettings(), False
    for misspelt in setting_warnings():
        LOG.warning("%s", misspelt)
    try:
        settings = load(ApplicationSettings)
        if (mode or settings.mode) == "inline" and judge is None and (named := chosen_judge()):
            _check_judge(named, "RT4CHART_JUDGE: ")
    except SettingsError as error:
        LOG.error("otel-rt4chart is off: %s", error)
        if redact is None and not wants_redaction():
            return None
        LOG.error("redaction was asked for: it alone goes on; all texts are taken out without one")
        is_wrong = True
    settings = replace(
        settings,
        mode=settings.mode if mode is None else mode,
        sample_rate=settings.sample_rate if sample_rate is None else sample_rate,
    )
    if judge is not None and settings.mode != "inline":
        LOG.warning("judge=%r is not used: in mode=%r the service judges", judge, settings.mode)
    provider = _sdk_provider(tracer_provider or trace.get_tracer_provider())
    if provider is None:
        return None
    return Given(
        provider, settings, route, redact, judge, logger_provider, meter_provider, is_wrong
    )


def _check_judge(name: str, where: str = "") -> None:
    from otel_rt4chart.judges.build import checked_judge  # they take half a second to load

    try:
        checked_judge(name)
    except SettingsError as error:
        raise SettingsError(f"{where}{error}") from None


def _sdk_provider(given: object) -> TracerProvider | None:
    """The SDK's provider, also inside one that stands around it, as Logfire's does."""
    for provider in (given, getattr(given, "provider", None)):
        if isinstance(provider, TracerProvider):
            return provider
    LOG.warning(
        "otel-rt4chart is off: expected an SDK TracerProvider, got %s; "
        "call instrument() after setting one",
        type(given).__name__,
    )
    return None
