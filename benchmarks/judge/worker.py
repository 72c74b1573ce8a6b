"""One system in a process of its own, timed: `speed.py` starts it and reads its line.

It imports nothing that the system does not: what it takes is the system's.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.judge.systems import System, system
from otel_rt4chart.judges.batch import map_in_order
from otel_rt4chart.verify.core.model import Exchange, Passage

WARM = 3


def main() -> None:
    """`benchmarks.judge.worker SYSTEM MODE`, exchanges as JSON on standard input."""
    name, mode = sys.argv[1:3]
    exchanges = [
        Exchange(question, tuple(Passage(f"p{at}", text) for at, text in enumerate(texts)), answer)
        for question, texts, answer in json.load(sys.stdin)
    ]
    print(json.dumps(MODES[mode](system(name), exchanges)))


def first(verify: System, exchanges: Sequence[Exchange]) -> Mapping[str, object]:
    """The moment of the first verdict, by the clock that all processes share."""
    verify(exchanges[0])
    return {"at": time.monotonic()}


def many(verify: System, exchanges: Sequence[Exchange]) -> Mapping[str, object]:
    """All answers, as many side by side as there are threads, as `rt4chart verify` does it.

    The first few are verified before, unmeasured.
    """
    threads = int(os.environ["RT4CHART_ONNX_THREADS"])
    for exchange in exchanges[:WARM]:
        verify(exchange)
    measured = exchanges[WARM:] or exchanges
    began, spent = time.perf_counter(), time.process_time()
    claims = sum(len(done.claims) for done in map_in_order(verify, measured, threads))
    seconds, cpu = time.perf_counter() - began, time.process_time() - spent
    return {"claims": claims, "seconds": seconds, "cpu": cpu, "peak": peak_mib()}


def each(verify: System, exchanges: Sequence[Exchange]) -> Mapping[str, object]:
    """Milliseconds of every answer alone."""
    for exchange in exchanges[:WARM]:
        verify(exchange)
    return {"times": [_ms(verify, exchange) for exchange in exchanges[WARM:] or exchanges]}


def _ms(verify: System, exchange: Exchange) -> float:
    began = time.perf_counter()
    verify(exchange)
    return (time.perf_counter() - began) * 1_000


def peak_mib() -> float | None:
    """The most memory that this process has held; None where the system does not tell.

    Not by getrusage: a process starts with what its parent had held when it was started.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    lines = status.read_text(encoding="ascii", errors="replace").splitlines()
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), None)


MODES: dict[str, Callable[[System, Sequence[Exchange]], Mapping[str, object]]] = {
    "first": first,
    "many": many,
    "each": each,
}

if __name__ == "__main__":
    main()
