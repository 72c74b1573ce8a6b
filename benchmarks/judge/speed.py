"""How fast a system is, how much memory it takes and how soon it starts, in fresh processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.judge.systems import claims_of
from benchmarks.judge.tables import Cell, Table
from benchmarks.judge.worker import WARM
from otel_rt4chart.bench.dataset import LabelledAnswer
from otel_rt4chart.verify.core.model import Exchange

ANSWERS, CLAIMS, STARTS = 120, 200, 5
THREADS = (1, 2)
BESIDE = "rules"
WORKER = "benchmarks.judge.worker"
# What limits the threads that a judge, or a library beneath it, computes with.
LIMITS = ("RT4CHART_ONNX_THREADS", "OMP_NUM_THREADS")
HEAD = (
    "system", "claims", *(f"claims/s, threads {count}" for count in THREADS), "claims/CPU s",
    "single claims", "p50 ms", "p95 ms", "peak MiB", "over Python MiB", "cold start s",
)  # fmt: skip


def speed(
    names: Sequence[str], rows: Sequence[LabelledAnswer], *, starts: int = STARTS
) -> list[Table]:
    """The table as measured, and its figures as multiples of the rules' where they are there."""
    load, cores = os.getloadavg()[0], os.cpu_count()
    note = (
        f"Through the whole pipeline, {WARM} answers before the clock starts, as many side by side"
        f" as there are threads; at most {ANSWERS}"
        f" answers, each of another source, and {CLAIMS} of their claims as answers of their own;"
        f" cold start: from the start of the process to its first verdict, median of {starts}."
        f" The machine has {cores} cores and began with a load of {load:.1f}: with others at work"
        " only the ratios and claims/CPU s mean much."
    )
    answers, claims = samples(rows)
    python = _bare_mib()
    found = {name: measure(name, answers, claims, python, starts) for name in names}
    tables = [Table("7. Speed", note, HEAD, [(name, *cells) for name, cells in found.items()])]
    if BESIDE in found:
        ratios = [(name, *_ratios(cells, found[BESIDE])) for name, cells in found.items()]
        tables.append(Table("7b. Speed as a multiple of the rules", "", HEAD, ratios))
    return tables


def samples(rows: Sequence[LabelledAnswer]) -> tuple[list[Exchange], list[Exchange]]:
    """Answers of different sources, evenly from all, and single claims of them as answers."""
    sources = list({row.source_id: row.exchange for row in rows}.values())
    answers = _spread(sources, ANSWERS + WARM)
    alone = [
        Exchange(one.question, one.passages, draft.text)
        for one in answers
        for draft in claims_of(one.answer)
    ]
    return answers, _spread(alone, CLAIMS + WARM)


def _spread(found: Sequence[Exchange], most: int) -> list[Exchange]:
    size = min(len(found), most)
    return [found[at * len(found) // size] for at in range(size)]


def measure(
    name: str,
    answers: Sequence[Exchange],
    claims: Sequence[Exchange],
    python: float | None,
    starts: int,
) -> Sequence[Cell]:
    """One system's row."""
    runs = [_worker(name, "many", answers, threads) for threads in THREADS]
    times = sorted(_worker(name, "each", claims, THREADS[0])["times"])
    began = [_start_s(name, answers[:1]) for _ in range(starts)]
    peak = runs[0]["peak"]
    return (
        runs[0]["claims"],
        *(run["claims"] / run["seconds"] for run in runs),
        runs[0]["claims"] / max(runs[0]["cpu"], 1e-9),
        len(times), quantile(times, 0.5), quantile(times, 0.95),
        peak, None if peak is None or python is None else peak - python, median(began),
    )  # fmt: skip


def quantile(ordered: Sequence[float], share: float) -> float | None:
    """The value that this share of the others does not exceed."""
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else None


def _start_s(name: str, exchanges: Sequence[Exchange]) -> float:
    began = time.monotonic()
    return float(_worker(name, "first", exchanges, THREADS[0])["at"]) - began


def _worker(name: str, mode: str, exchanges: Sequence[Exchange], threads: int) -> Mapping[str, Any]:
    """What a fresh process says."""
    given = [[one.question, [p.text for p in one.passages], one.answer] for one in exchanges]
    done = subprocess.run(
        [sys.executable, "-m", WORKER, name, mode],
        input=json.dumps(given),
        env=os.environ | dict.fromkeys(LIMITS, str(threads)),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    told: Mapping[str, Any] = json.loads(done.stdout)
    return told


def _bare_mib() -> float | None:
    """What an interpreter takes that has imported nothing of ours."""
    code = "print(next((l.split()[1] for l in open('/proc/self/status') if l[:5] == 'VmHWM'), ''))"
    if not Path("/proc/self/status").exists():
        return None
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return int(done.stdout) / 1024 if done.stdout.strip() else None


def _ratios(cells: Sequence[Cell], beside: Sequence[Cell]) -> list[Cell]:
    return [
        one / other if isinstance(one, float) and isinstance(other, float) and other else one
        for one, other in zip(cells, beside, strict=True)
    ]
