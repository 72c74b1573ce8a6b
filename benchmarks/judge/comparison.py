"""Every system's verdicts on the same answers, and the tables of quality that they give."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.judge import certainty, sections
from benchmarks.judge.gold import judge, kinds_of
from benchmarks.judge.sections import Runs
from benchmarks.judge.systems import system
from benchmarks.judge.tables import Table
from otel_rt4chart.bench.dataset import LabelledAnswer


def run(names: Sequence[str], rows: Sequence[LabelledAnswer]) -> Runs:
    """Each system's verdicts on all rows."""
    runs = {}
    for name in names:
        began = time.perf_counter()
        runs[name] = judge(system(name), rows)
        sys.stderr.write(f"{name}: {time.perf_counter() - began:.1f} s\n")
    return runs


def quality(runs: Runs, responses: Path) -> list[Table]:
    """All tables but those of speed."""
    return [
        sections.answers(runs),
        sections.claims(runs),
        sections.spans(runs),
        certainty.calibration(runs),
        certainty.bins(runs),
        certainty.decisions(runs),
        certainty.coverage_risk(runs),
        certainty.escalation(runs),
        sections.kinds(runs, kinds_of(responses)),
    ]
