"""`rt4chart doctor`: checks the installation and the settings, and suggests fixes."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Literal
from urllib.parse import urlsplit

from otel_rt4chart.core.errors import RT4ChartError, SettingsError
from otel_rt4chart.core.extras import EXTRAS, missing_packages
from otel_rt4chart.core.settings import load
from otel_rt4chart.core.text import printable
from otel_rt4chart.core.urls import is_loopback
from otel_rt4chart.judges.build import (
    build_criteria,
    build_judge,
    build_verifier,
    shared_endpoint,
)
from otel_rt4chart.judges.embedded_models import installed_model_ids
from otel_rt4chart.judges.names import is_on_disk, is_onnx
from otel_rt4chart.sampling.layers import AUTO, REMOTE_SCAN_RATE
from otel_rt4chart.settings.application import (
    ApplicationSettings,
    JudgeSettings,
    chosen_judge,
    setting_warnings,
)
from otel_rt4chart.settings.criteria_file import chosen_criteria
from otel_rt4chart.verify import AnswerLabel, Exchange, Label, Passage, Report, Verifier
from otel_rt4chart.verify.criteria.model import CriterionOutcome, JudgedCheck

GROUP = "rt4chart.checks"
SAMPLE_CRITERION = JudgedCheck("The answer names a number of days.", reads_passages=False)


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check; `fix` says what to do if `state` is not `ok`."""

    name: str
    state: Literal["ok", "missing", "failed"]
    detail: str
    fix: str = ""


Checks = Callable[[], Iterator[Check]]


def execute(options: argparse.Namespace) -> int:
    """Run every check. The status is 1 if one failed; a missing extra is no failure."""
    checks = [check for source in check_sources() for check in source()]
    try:
        name = options.judge or chosen_judge()
    except SettingsError as error:
        name = ""
        checks.append(Check("judge", "failed", str(error), "change or unset that variable"))
    if is_on_disk(name):
        checks.append(onnx_check(name))
    elif name not in ("", "local", "rules"):  # the local judge is always tested, rules need nothing
        checks.append(_second_check(name))
    if options.json:
        sys.stdout.write(json.dumps([asdict(check) for check in checks], indent=2) + "\n")
    else:
        for check in checks:
            sys.stdout.write(f"{check.state:8}{check.name:22}{check.detail}\n")
            if check.fix:
                sys.stdout.write(f"{'':30}→ {check.fix}\n")
    return int(any(check.state == "failed" for check in checks))


def check_sources() -> Iterator[Checks]:
    """The core's checks, then those of installed packages (entry-point group `GROUP`)."""
    yield core_checks
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        if find_spec(entry.module.partition(".")[0]) and not missing_packages(entry.name):
            yield entry.load()


def core_checks() -> Iterator[Check]:
    """Checks of Python, the settings, the extras, the models and the local judge."""
    yield Check("python", "ok", sys.version.split()[0])
    first = ""
    try:
        settings, judging = load(ApplicationSettings), load(JudgeSettings)
    except RT4ChartError as error:
        yield Check("settings", "failed", str(error), "change or unset that variable")
    else:
        first = judging.cascade_first
        yield Check("settings", "ok", f"mode {settings.mode}, sample rate {settings.sample_rate}")
        yield layers_check(settings, judging)
    for warning in setting_warnings():
        yield Check("settings", "missing", warning, "rename or unset that variable")
    for extra in EXTRAS:
        packages = missing_packages(extra)
        fix = f"pip install 'otel-rt4chart[{extra}]'" if packages else ""
        detail = f"{', '.join(packages)} not installed" if packages else "installed"
        yield Check(f"extra [{extra}]", "missing" if packages else "ok", detail, fix)
    yield models_check()
    yield judge_check()
    yield criteria_check()
    if is_onnx(first):
        yield onnx_check(first)


def layers_check(settings: ApplicationSettings, judging: JudgeSettings) -> Check:
    """What runs on an answer, by layer."""
    rates = f"judge={settings.sample_rate:g}, {settings.layers}"
    notes = [f"borderline: a confidence below {judging.cascade_threshold:g}"]
    if AUTO in rates:
        notes.append(f"auto: 1; with a remote judge {REMOTE_SCAN_RATE:g}, and 0 for trail")
    return Check("layers", "ok", f"{rates} ({'; '.join(notes)})")


def models_check() -> Check:
    """Load the embedded models and report their ids."""
    missing = missing_packages("local")
    if missing:
        detail = f"{', '.join(missing)} not installed"
        return Check(
            "embedded models",
            "missing",
            detail,
            "pip install ./otel-rt4chart/models './otel-rt4chart[local]'",
        )
    try:
        ids = installed_model_ids()
    except RT4ChartError as error:
        return Check("embedded models", "failed", str(error), "install rt4chart-models again")
    return Check("embedded models", "ok", ", ".join(ids))


def judge_check() -> Check:
    """Check that the local judge finds a wrong number in one sentence."""
    label = _verify_wrong_number(Verifier(build_judge("local"))).label
    if label.is_unfaithful:
        return Check("judge local", "ok", f"a wrong number is called {label}")
    return Check("judge local", "failed", f"a wrong number is called {label}", "report this")


def _second_check(name: str) -> Check:
    """What a cascade's second judge answers; of another name, the endpoint."""
    try:
        second = load(JudgeSettings).cascade_second
    except RT4ChartError:
        second = ""  # the check of the settings says so
    return onnx_check(second) if name == "cascade" and is_onnx(second) else endpoint_check(name)


def onnx_check(name: str) -> Check:
    """Load the model on disk, and check that it entails a sentence equal to its passage."""
    text = "The free trial lasts 14 days."
    try:
        judge = build_judge(name)
    except RT4ChartError as error:
        return Check("judge onnx", "failed", str(error), "see docs/deploy/judges.md")
    label = Verifier(judge).verify(Exchange("", [Passage(id="p1", text=text)], text)).label
    detail = f"{judge.id}: a copied sentence is called {label}"
    if label is AnswerLabel.ENTAILED:
        return Check("judge onnx", "ok", detail)
    return Check(
        "judge onnx",
        "failed",
        detail,
        "check that RT4CHART_ONNX_LABELS has the order of the logits",
    )


def criteria_check() -> Check:
    """Which custom criteria are set, and whether the endpoint judges one, with one short call."""
    advice = "see docs/operate/criteria.md, or unset RT4CHART_CRITERIA"
    try:
        criteria, settings = chosen_criteria(), _short_settings(load(JudgeSettings))
        judge = build_criteria(criteria, settings, shared_endpoint(settings))
    except RT4ChartError as error:
        return Check("criteria", "failed", str(error), advice)
    if judge is None:
        return Check("criteria", "ok", "none: RT4CHART_CRITERIA names no file")
    if not criteria.judged:
        return Check("criteria", "ok", f"{criteria}; none needs an endpoint")
    (said,) = judge.ask((SAMPLE_CRITERION,), Exchange("How long?", (), "It lasts 14 days."))
    if said.outcome is CriterionOutcome.UNDECIDED:
        where = "see OPENAI_BASE_URL, OPENAI_API_KEY, the model"
        return Check("criteria", "failed", f"{criteria}: {printable(said.reason)}", where)
    detail = f"{criteria}; {settings.model} judges: a sample is called {said.outcome}"
    return Check("criteria", "ok", detail + plain_http_note(settings.base_url))


def _short_settings(settings: JudgeSettings) -> JudgeSettings:
    """The same endpoint, key and model, for a test of few calls, without another try."""
    return replace(
        settings,
        retries=0,
        votes=1,
        calls_per_answer=2,
        cache="",
        embedding_model="",
    )


def endpoint_check(name: str) -> Check:
    """Test an endpoint with one short call, and as much time as the judge would have."""
    title = f"judge {name}"[:21]
    try:
        settings = load(JudgeSettings)
        build_judge(name, settings)
        # The judge `single` needs one call, and a second one if the reply is unreadable. Endpoint,
        # key and model are the same for every judge.
        report = _verify_wrong_number(build_verifier("single", _short_settings(settings)))
    except RT4ChartError as error:
        return Check(title, "failed", str(error), "change that, or use the judge local")
    reasons = [printable(claim.reason) for claim in report.claims if claim.label is Label.UNDECIDED]
    if reasons:
        return Check(title, "failed", reasons[0], "see OPENAI_BASE_URL, OPENAI_API_KEY, the model")
    detail = f"{settings.model} answered: a wrong number is called {report.label}"
    detail += plain_http_note(settings.base_url)
    if report.label.is_unfaithful:
        return Check(title, "ok", detail)
    return Check(title, "failed", detail, "use a stronger model")


def plain_http_note(base_url: str) -> str:
    """What is to be known of an endpoint without TLS on another machine; else nothing."""
    where = urlsplit(base_url)
    if where.scheme.lower() != "http" or is_loopback(where.hostname or ""):
        return ""
    return "; OPENAI_BASE_URL is http: the key and all texts can be read on the network"


def _verify_wrong_number(verifier: Verifier) -> Report:
    passages = [Passage(id="p1", text="The free trial lasts 14 days.")]
    return verifier.verify(
        Exchange("How long is the trial?", passages, "The free trial lasts 30 days.")
    )
