"""The runs of `rt4chart bench`: each variant of the pipeline, as often as asked, resumable."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import product

from otel_rt4chart.bench.dataset import LabelledAnswer
from otel_rt4chart.bench.protocol import PipelineVariant, ProtocolRun, plan_variants
from otel_rt4chart.bench.records import AnswerRecord
from otel_rt4chart.bench.results_file import ResultsFile
from otel_rt4chart.bench.runner import run_bench
from otel_rt4chart.core.errors import InputError, JudgeError
from otel_rt4chart.judges.batch import MAX_FAILURES_IN_A_ROW, BatchSummary
from otel_rt4chart.judges.build import build_verifier, settings_for_judge
from otel_rt4chart.judges.judge_failure import failure_in_report
from otel_rt4chart.settings.application import JudgeSettings
from otel_rt4chart.verify.core.judge import BatchJudge
from otel_rt4chart.verify.core.model import Exchange, Report
from otel_rt4chart.verify.pipeline import Verifier


@dataclass(slots=True)
class BenchRuns:
    """All runs of one call; `reports` are those of the first run, `verified` counts answers."""

    options: argparse.Namespace
    rows: Sequence[LabelledAnswer]
    split: str
    runs: list[ProtocolRun] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)
    summary: BatchSummary = field(default_factory=BatchSummary)
    verifier: Verifier | None = None
    done: int = 0

    def execute(self) -> None:
        """Run each variant; JudgeError where the judge keeps failing."""
        options = self.options
        settings = settings_for_judge(options.judge, options.model, exhaustive=options.exhaustive)
        variants = plan_variants(
            (settings.window, settings.overlap), options.ablate, options.window, options.overlap
        )
        windows, overlaps = (
            options.window or [settings.window],
            options.overlap or [settings.overlap],
        )
        for window, overlap in product(windows, overlaps):
            if overlap >= window:
                sys.stderr.write(f"not run: window {window} with overlap {overlap}\n")
        if options.resume and (options.stages or options.escalation):
            raise InputError("--stages and --escalation read what --resume does not keep")
        planned = [(one, n) for one in variants for n in range(1, options.repeats + 1)]
        with ExitStack() as stack:
            file = stack.enter_context(ResultsFile(options.resume)) if options.resume else None
            for number, (variant, repeat) in enumerate(planned):
                title = f"run {number + 1} of {len(planned)}, {variant.name}: " * (len(planned) > 1)
                self.runs.append(self._run(settings, variant, repeat, file, title))

    @property
    def _varies(self) -> bool:
        options = self.options
        return bool(options.ablate or options.window or options.overlap or options.exhaustive)

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
        verifier = build_verifier(self.options.judge, own, left_out=variant.left_out)
        judge = verifier.judge
        if self._varies and isinstance(judge, BatchJudge) and judge.one_call:
            raise InputError(f"{judge.id} asks once and has no steps or chunks to vary")
        self.verifier = self.verifier or verifier
        name = f"{judge.id} | {variant.name} | {own.window}/{own.overlap}" + (
            f" | exhaustive={own.exhaustive} | {repeat}"
        )
        self.done = 0
        known = file.known(name) if file else {}
        result = run_bench(
            self.rows,
            self._verify(verifier),
            judge=judge.id,
            split=self.split,
            clock=time.perf_counter_ns,
            progress=self._progress(title),
            known=known,
            keep=self._keep(file, name),
        )
        return ProtocolRun(variant, repeat, result)

    def _verify(self, verifier: Verifier) -> Callable[[Exchange], Report]:
        def verify(exchange: Exchange) -> Report:
            report = verifier.verify(exchange)
            self.summary.add(report)
            if not self.runs:
                self.reports.append(report)
            if self.summary.is_hopeless:
                raise JudgeError(
                    f"{MAX_FAILURES_IN_A_ROW} answers in a row got no verdict: "
                    f"{self.summary.main_reason}"
                )
            return report

        return verify

    def _keep(
        self, file: ResultsFile | None, name: str
    ) -> Callable[[LabelledAnswer, AnswerRecord, Report], None]:
        def keep(row: LabelledAnswer, record: AnswerRecord, report: Report) -> None:
            # An answer on which the endpoint failed is verified again when the run is continued.
            if file and failure_in_report(report) is None:
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
