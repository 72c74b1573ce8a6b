"""The runs of `rt4chart bench`: each judge or variant of the pipeline, as often as asked."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from itertools import product

from otel_rt4chart.bench.dataset import LabelledAnswer
from otel_rt4chart.bench.protocol import (
    PipelineVariant,
    ProtocolRun,
    judge_variants,
    plan_variants,
)
from otel_rt4chart.bench.records import AnswerRecord
from otel_rt4chart.bench.results_file import ResultsFile
from otel_rt4chart.bench.rivals.build import build_rival, is_rival
from otel_rt4chart.bench.rivals.verdict import HolisticVerdict, Rival
from otel_rt4chart.bench.runner import Found, run_bench
from otel_rt4chart.core.errors import InputError, JudgeError
from otel_rt4chart.judges.batch import MAX_FAILURES_IN_A_ROW, BatchSummary
from otel_rt4chart.judges.build import build_verifier, check_judge_name, settings_for_judge
from otel_rt4chart.judges.judge_failure import failure_in_report
from otel_rt4chart.judges.names import JUDGE_NAMES, RIVAL_NAMES, calls_model
from otel_rt4chart.settings.application import JudgeSettings
from otel_rt4chart.verify.core.judge import BatchJudge
from otel_rt4chart.verify.core.model import Exchange, Report
from otel_rt4chart.verify.llm.endpoint import address_of
from otel_rt4chart.verify.pipeline import Verifier

# Settings on which no verdict depends: what is secret, what only takes time or counts money, and
# the address, of which the part without credentials counts.
_WITHOUT_EFFECT = {
    *("api_key", "base_url", "cache", "concurrency", "onnx_threads", "prices", "retries"),
    *("timeout_s", "calls_per_minute", "tokens_per_minute", "budget"),
}


@dataclass(slots=True)
class BenchRuns:
    """All runs of one call; `reports` are those of the first run, `verified` counts answers.

    `silent` are the judges that gave no verdict at all, with the main reason.
    """

    options: argparse.Namespace
    rows: Sequence[LabelledAnswer]
    split: str
    runs: list[ProtocolRun] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)
    summary: BatchSummary = field(default_factory=BatchSummary)
    silent: dict[str, str] = field(default_factory=dict)
    verifier: Verifier | None = None
    judge: str = ""
    done: int = 0

    def execute(self) -> None:
        """Run each variant; JudgeError where the judge keeps failing."""
        options = self.options
        planned = self._planned()
        if options.resume and (options.stages or options.escalation):
            raise InputError("--stages and --escalation read what --resume does not keep")
        with ExitStack() as stack:
            file = stack.enter_context(ResultsFile(options.resume)) if options.resume else None
            for number, (name, variant, repeat) in enumerate(planned):
                title = f"run {number + 1} of {len(planned)}, {variant.name}: " * (len(planned) > 1)
                self.judge, self.summary = name, BatchSummary()
                settings = self._settings(name)
                run = self._run_rival if is_rival(name) else self._run
                self.runs.append(run(settings, variant, repeat, file, title))
                if self.summary.is_silent:
                    self.silent[name] = self.summary.main_reason

    def _planned(self) -> list[tuple[str, PipelineVariant, int]]:
        """Each run: its judge, its variant and its number; InputError for what cannot be run."""
        options, names = self.options, list(dict.fromkeys(self.options.judges))
        if not names:
            raise InputError("--judge: expected the name of a judge")
        for name in names:
            if not is_rival(name):
                check_judge_name(name, also=RIVAL_NAMES)
        rivals = [name for name in names if is_rival(name)]
        if self._varies and (len(names) > 1 or rivals):
            raise InputError(
                "--ablate, --window, --overlap and --exhaustive vary the pipeline of one judge of "
                f"{', '.join(JUDGE_NAMES)}"
            )
        if (options.stages or options.escalation) and (len(names) > 1 or rivals):
            raise InputError("--stages and --escalation read the claims of one judge's run")
        for name in rivals:
            build_rival(name, self._settings(name))  # a missing package is told before any run
        settings = self._settings(names[0])
        base = settings.window, settings.overlap
        repeats = range(1, options.repeats + 1)
        if len(names) > 1:
            judges = zip(names, judge_variants(names, base), strict=True)
            return [(name, one, n) for name, one in judges for n in repeats]
        variants = plan_variants(base, options.ablate, options.window, options.overlap)
        self._tell_unfit(settings)
        return [(names[0], one, n) for one in variants for n in repeats]

    def _tell_unfit(self, settings: JudgeSettings) -> None:
        windows = self.options.window or [settings.window]
        overlaps = self.options.overlap or [settings.overlap]
        for window, overlap in product(windows, overlaps):
            if overlap >= window:
                sys.stderr.write(f"not run: window {window} with overlap {overlap}\n")

    @property
    def _varies(self) -> bool:
        options = self.options
        return bool(options.ablate or options.window or options.overlap or options.exhaustive)

    def _settings(self, name: str) -> JudgeSettings:
        """The settings for a judge; of several judges, `--model` is for those that call one."""
        options = self.options
        is_for_others = not calls_model(name) and any(map(calls_model, options.judges))
        model = None if is_for_others else options.model
        return settings_for_judge(name, model, exhaustive=options.exhaustive)

    def _run(
        self,
        settings: JudgeSettings,
        variant: PipelineVariant,
        repeat: int,
        file: ResultsFile | None,
        title: str,
    ) -> ProtocolRun:
        """One run with a verifier of its own, so that no run profits from another one's cache."""
        own = replace(settings, window=variant.window, overlap=variant.overlap)
        if self.options.repeats > 1:
            own = replace(own, cache="")  # a repeat that reads its verdicts repeats nothing
        verifier = build_verifier(self.judge, own, left_out=variant.left_out)
        judge = verifier.judge
        if self._varies and isinstance(judge, BatchJudge) and judge.one_call:
            raise InputError(f"{judge.id} asks once and has no steps or chunks to vary")
        self.verifier = self.verifier or verifier
        left_out = "+".join(sorted(variant.left_out)) or "nothing"
        name = f"{judge.id} | without {left_out} | {run_digest(own)} | {repeat}"
        return self._bench(judge.id, self._verify(verifier), name, variant, repeat, file, title)

    def _run_rival(
        self,
        settings: JudgeSettings,
        variant: PipelineVariant,
        repeat: int,
        file: ResultsFile | None,
        title: str,
    ) -> ProtocolRun:
        """One run of a judge of whole answers."""
        rival = build_rival(self.judge, settings)
        name = f"{rival.id} | {run_digest(settings)} | {repeat}"
        return self._bench(rival.id, self._ask(rival), name, variant, repeat, file, title)

    def _bench(
        self,
        judge: str,
        verify: Callable[[Exchange], Found],
        name: str,
        variant: PipelineVariant,
        repeat: int,
        file: ResultsFile | None,
        title: str,
    ) -> ProtocolRun:
        self.done = 0
        result = run_bench(
            self.rows,
            verify,
            judge=judge,
            split=self.split,
            clock=time.perf_counter_ns,
            progress=self._progress(title),
            known=file.known(name) if file else {},
            keep=self._keep(file, name),
        )
        return ProtocolRun(variant, repeat, result)

    def _verify(self, verifier: Verifier) -> Callable[[Exchange], Report]:
        def verify(exchange: Exchange) -> Report:
            report = verifier.verify(exchange)
            self.summary.add(report)
            if not self.runs:
                self.reports.append(report)
            self._stop_if_hopeless()
            return report

        return verify

    def _ask(self, rival: Rival) -> Callable[[Exchange], HolisticVerdict]:
        def verify(exchange: Exchange) -> HolisticVerdict:
            found = rival.verify(exchange)
            self.summary.add_whole(found.reason)
            self._stop_if_hopeless()
            return found

        return verify

    def _stop_if_hopeless(self) -> None:
        if self.summary.is_hopeless:
            raise JudgeError(
                f"{MAX_FAILURES_IN_A_ROW} answers in a row got no verdict: "
                f"{self.summary.main_reason}"
            )

    def _keep(
        self, file: ResultsFile | None, name: str
    ) -> Callable[[LabelledAnswer, AnswerRecord, Found], None]:
        def keep(row: LabelledAnswer, record: AnswerRecord, found: Found) -> None:
            # An answer on which the endpoint failed is verified again when the run is continued.
            if isinstance(found, HolisticVerdict):
                has_failed = bool(found.reason)
            else:
                has_failed = failure_in_report(found) is not None
            if file and not has_failed:
                file.keep(name, row, record)

        return keep

    def _progress(self, title: str) -> Callable[[int, int], None]:
        """A line on standard error: as it goes on a terminal, else one for each of several runs."""
        is_live = sys.stderr.isatty()

        def show(done: int, total: int) -> None:
            self.done = done
            if is_live:
                sys.stderr.write(f"\r{title}{done}/{total} answers" + "\n" * (done == total))
                sys.stderr.flush()
            elif title and done == total:
                sys.stderr.write(f"{title}{done} answers\n")

        return show


def run_digest(settings: JudgeSettings) -> str:
    """A hash over what verdicts depend on beside the judge's id: embedder, windows, budgets, …"""
    values = {key: value for key, value in asdict(settings).items() if key not in _WITHOUT_EFFECT}
    values["address"] = address_of(settings.base_url)
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:12]
