"""`rt4chart doctor`: what works here, what is missing, and the fix."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Literal

from otel_rt4chart.cli import Command
from otel_rt4chart.errors import RT4ChartError
from otel_rt4chart.judges import build_judge, is_onnx
from otel_rt4chart.settings import JudgeSettings, Settings
from otel_rt4chart.verify import AnswerLabel, Exchange, Passage, Verifier

GROUP = "rt4chart.checks"
EXTRAS = {
    "collector": ("clickhouse_connect", "chdb", "starlette", "uvicorn", "opentelemetry.proto"),
    "clustering": ("sklearn", "numpy"),
    "local": ("onnxruntime", "tokenizers"),
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
    parser.add_argument("--json", action="store_true", help="print the checks for machines")


def execute(options: argparse.Namespace) -> int:
    """Run every check; the status is 1 where one failed. A missing extra is no failure."""
    checks = [check for source in sources() for check in source()]
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
            Settings.from_environment(),
            JudgeSettings.from_environment().cascade_first,
        )
    except RT4ChartError as error:
        yield Check("settings", "failed", str(error), "change or unset that variable")
    else:
        yield Check("settings", "ok", f"mode {settings.mode}, sample rate {settings.sample_rate}")
    for extra in EXTRAS:
        lacking = _lacks(extra)
        fix = f"pip install 'otel-rt4chart[{extra}]'" if lacking else ""
        detail = f"{', '.join(lacking)} not installed" if lacking else "installed"
        yield Check(f"extra [{extra}]", "missing" if lacking else "ok", detail, fix)
    yield judge_check()
    if is_onnx(first):
        yield onnx_check(first)


def judge_check() -> Check:
    """The local judge finds the wrong number in one sentence."""
    passages = [Passage(id="p1", text="The free trial lasts 14 days.")]
    exchange = Exchange("How long is the trial?", passages, "The free trial lasts 30 days.")
    label = Verifier(build_judge("local")).verify(exchange).label
    if label.is_unfaithful:
        return Check("judge local", "ok", f"a wrong number is called {label}")
    return Check("judge local", "failed", f"a wrong number is called {label}", "report this")


def onnx_check(name: str) -> Check:
    """The model on disk opens, and entails a sentence that is its own passage."""
    text = "The free trial lasts 14 days."
    try:
        judge = build_judge(name)
    except RT4ChartError as error:
        return Check("judge onnx", "failed", str(error), "see docs/local-models.md")
    label = Verifier(judge).verify(Exchange("", [Passage(id="p1", text=text)], text)).label
    detail = f"{judge.id}: a copied sentence is called {label}"
    if label is AnswerLabel.ENTAILED:
        return Check("judge onnx", "ok", detail)
    return Check("judge onnx", "failed", detail, "RT4CHART_ONNX_LABELS: is the order the logits'?")


def _lacks(extra: str) -> list[str]:
    return [name for name in EXTRAS.get(extra, ()) if not _is_installed(name)]


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


COMMAND = Command("doctor", "say what works here, what is missing, and the fix", configure, execute)
