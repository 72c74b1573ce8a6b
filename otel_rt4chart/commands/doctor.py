"""`rt4chart doctor`: what works here, what is missing, and the fix."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Literal

from otel_rt4chart.cli import Command
from otel_rt4chart.core.errors import RT4ChartError
from otel_rt4chart.core.settings import load
from otel_rt4chart.core.text import printable
from otel_rt4chart.judges import embedded_models
from otel_rt4chart.judges.build import build_judge, build_verifier, is_onnx
from otel_rt4chart.settings.application import (
    ApplicationSettings,
    JudgeSettings,
    chosen_judge,
    setting_warnings,
)
from otel_rt4chart.verify import AnswerLabel, Exchange, Label, Passage, Report, Verifier

GROUP = "rt4chart.checks"
_PATIENCE_S = 20.0
EXTRAS = {
    "openai": ("openai",),
    "collector": ("clickhouse_connect", "chdb", "starlette", "uvicorn", "opentelemetry.proto"),
    "clustering": ("sklearn", "numpy"),
    "local": embedded_models.PACKAGES,
}


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was tried: `fix` says what to do where `state` is not `ok`."""

    name: str
    state: Literal["ok", "missing", "failed"]
    detail: str
    fix: str = ""


Checks = Callable[[], Iterator[Check]]


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--judge",
        metavar="NAME",
        help="try this judge with one call (default: the one in RT4CHART_JUDGE, if any)",
    )
    parser.add_argument("--json", action="store_true", help="print the checks for machines")


def execute(options: argparse.Namespace) -> int:
    """Run every check; the status is 1 where one failed. A missing extra is no failure."""
    checks = [check for source in sources() for check in source()]
    name = options.judge or chosen_judge()
    if name not in ("", "local"):
        checks.append(onnx_check(name) if is_onnx(name) else asked_judge_check(name))
    if options.json:
        sys.stdout.write(json.dumps([asdict(check) for check in checks], indent=2) + "\n")
    else:
        for check in checks:
            sys.stdout.write(f"{check.state:8}{check.name:22}{check.detail}\n")
            if check.fix:
                sys.stdout.write(f"{'':30}→ {check.fix}\n")
    return int(any(check.state == "failed" for check in checks))


def sources() -> Iterator[Checks]:
    """The core's checks, then those of the installed packages (entry-point group `GROUP`)."""
    yield core_checks
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        if find_spec(entry.module.partition(".")[0]) and not _lacks(entry.name):
            yield entry.load()


def core_checks() -> Iterator[Check]:
    """Python, the settings of the application side, the extras, and one answer verified."""
    yield Check("python", "ok", sys.version.split()[0])
    first = ""
    try:
        settings, first = (
            load(ApplicationSettings),
            load(JudgeSettings).cascade_first,
        )
    except RT4ChartError as error:
        yield Check("settings", "failed", str(error), "change or unset that variable")
    else:
        yield Check("settings", "ok", f"mode {settings.mode}, sample rate {settings.sample_rate}")
    for warning in setting_warnings():
        yield Check("settings", "missing", warning, "rename or unset that variable")
    for extra in EXTRAS:
        lacking = _lacks(extra)
        fix = f"pip install 'otel-rt4chart[{extra}]'" if lacking else ""
        detail = f"{', '.join(lacking)} not installed" if lacking else "installed"
        yield Check(f"extra [{extra}]", "missing" if lacking else "ok", detail, fix)
    yield models_check()
    yield judge_check()
    if is_onnx(first):
        yield onnx_check(first)


def models_check() -> Check:
    """The embedded models open, and tell which they are."""
    lacking = embedded_models.missing_packages()
    if lacking:
        told = f"{', '.join(lacking)} not installed"
        return Check(
            "embedded models",
            "missing",
            told,
            "pip install ./otel-rt4chart/models './otel-rt4chart[local]'",
        )
    try:
        ids = embedded_models.ids()
    except RT4ChartError as error:
        return Check("embedded models", "failed", str(error), "install rt4chart-models again")
    return Check("embedded models", "ok", ", ".join(ids))


def judge_check() -> Check:
    """The local judge finds the wrong number in one sentence."""
    label = _tried(Verifier(build_judge("local"))).label
    if label.is_unfaithful:
        return Check("judge local", "ok", f"a wrong number is called {label}")
    return Check("judge local", "failed", f"a wrong number is called {label}", "report this")


def onnx_check(name: str) -> Check:
    """The model on disk opens, and entails a sentence that is its own passage."""
    text = "The free trial lasts 14 days."
    try:
        judge = build_judge(name)
    except RT4ChartError as error:
        return Check("judge onnx", "failed", str(error), "see docs/deploy/judges.md")
    label = Verifier(judge).verify(Exchange("", [Passage(id="p1", text=text)], text)).label
    detail = f"{judge.id}: a copied sentence is called {label}"
    if label is AnswerLabel.ENTAILED:
        return Check("judge onnx", "ok", detail)
    return Check("judge onnx", "failed", detail, "RT4CHART_ONNX_LABELS: is the order the logits'?")


def asked_judge_check(name: str) -> Check:
    """What an endpoint says to one short call, waited for once and not long."""
    title = f"judge {name}"[:21]
    try:
        given = load(JudgeSettings)
        build_judge(name, given)
        # One call for claims and labels, one more where its reply cannot be read; the endpoint,
        # key and model are the same for every judge.
        brief = replace(
            given,
            timeout_s=min(given.timeout_s, _PATIENCE_S),
            retries=0,
            calls_per_answer=2,
            cache="",
            embedding_model="",
        )
        report = _tried(build_verifier("single", brief))
    except RT4ChartError as error:
        return Check(title, "failed", str(error), "change that, or use the judge local")
    reasons = [printable(one.reason) for one in report.claims if one.label is Label.UNDECIDED]
    if reasons:
        return Check(title, "failed", reasons[0], "see OPENAI_BASE_URL, OPENAI_API_KEY, the model")
    said = f"{given.model} answered: a wrong number is called {report.label}"
    if report.label.is_unfaithful:
        return Check(title, "ok", said)
    return Check(title, "failed", said, "use a stronger model")


def _tried(verifier: Verifier) -> Report:
    passages = [Passage(id="p1", text="The free trial lasts 14 days.")]
    return verifier.verify(
        Exchange("How long is the trial?", passages, "The free trial lasts 30 days.")
    )


def _lacks(extra: str) -> list[str]:
    return [name for name in EXTRAS.get(extra, ()) if not _is_installed(name)]


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


COMMAND = Command("doctor", "say what works here, what is missing, and the fix", configure, execute)
