"""The process that verifies one pasted answer: `python -m …trial_process SECONDS`.

It yields the processor to the service, and ends by itself after its time. It reads a
`TrialRequest` as JSON from standard input and writes the pickled report to standard output; an
error is one line on standard error, with status 2.
"""

from __future__ import annotations

import json
import os
import pickle
import resource
import sys
import time
from dataclasses import replace

from otel_rt4chart.core.errors import RT4ChartError
from otel_rt4chart.core.settings import load
from otel_rt4chart.judges.build import build_verifier
from otel_rt4chart.judges.choice import check_installed
from otel_rt4chart.settings.application import JudgeSettings
from otel_rt4chart.verify.core.model import Exchange, Passage

LOWEST_PRIORITY = 19


def main(argv: list[str]) -> int:
    """Verify the answer on standard input within that many seconds of the processor."""
    seconds = int(argv[0])
    os.nice(LOWEST_PRIORITY)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        written = _verified(sys.stdin.buffer.read(), seconds)
    except (RT4ChartError, ModuleNotFoundError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.buffer.write(written)
    return 0


def _verified(request: bytes, seconds: int) -> bytes:
    asked = json.loads(request)
    settings = load(JudgeSettings)
    # One thread leaves the other cores to the service; no verdict on a pasted text is kept.
    limits = [one for one in (settings.seconds_per_answer, float(seconds)) if one is not None]
    settings = replace(settings, onnx_threads=1, cache="", seconds_per_answer=min(limits))
    name = check_installed(asked["judge"], settings)
    passages = [Passage(f"p{place}", text) for place, text in enumerate(asked["passages"], start=1)]
    exchange = Exchange(asked["question"], passages, asked["answer"], asked["as_of"])
    verifier = build_verifier(name, settings, clock=time.perf_counter_ns)
    return pickle.dumps(verifier.verify(exchange))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
