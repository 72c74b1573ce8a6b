"""What each command computes before it answers: its help, and plain reads of a database.

    python -m benchmarks.application.startup [--runs 5]

Each command runs in a process of its own, the fewest CPU seconds of its runs count (user and
kernel, all threads): a busy machine does not move them much. Reads are of an empty database, first
opened by the command itself (the embedded engine starts in its process), then through a running
`rt4chart up`. The last column is the ratio to `python -c pass`. The aim for help is 0.5 s.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from otel_rt4chart.cli import load_commands
from rt4chart_collector.store.engine.embedded_folder import read_endpoint

AIM_S = 0.5
RUN = (sys.executable, "-m", "otel_rt4chart")
READS = (("issues",), ("alerts",), ("sql", "SELECT 1"), ("evalset", "list"), ("report",))


def main() -> None:
    """Measure, and print a line for each command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    floor = cpu_s((sys.executable, "-c", "pass"), runs)
    print(f"{'python -c pass':34}{floor:8.3f}")
    shown = [
        ("--version",),
        ("--help",),
        ("nosuch",),
        *((one, "--help") for one in load_commands()),
    ]
    took = {words: measured(words, (), runs, floor) for words in shown}
    with tempfile.TemporaryDirectory() as folder:
        dsn = ("--dsn", f"chdb://{Path(folder) / 'db'}")
        subprocess.run([*RUN, "migrate", *dsn], check=True, stdout=subprocess.DEVNULL)
        for words in READS:
            measured(words, dsn, runs, floor)
        with served(dsn, Path(folder) / "db"):
            print("beside a running service")
            for words in READS:
                measured(words, dsn, runs, floor)
    late = [" ".join(words) for words, seconds in took.items() if seconds > AIM_S]
    print(f"over {AIM_S} s of CPU: {', '.join(late) or 'none'}")


def measured(words: Sequence[str], dsn: Sequence[str], runs: int, floor: float) -> float:
    """Print the CPU seconds of a command, and return them."""
    seconds = cpu_s((*RUN, *words, *dsn), runs)
    print(f"{' '.join(words):34}{seconds:8.3f}{seconds / floor:7.0f}×", flush=True)
    return seconds


def cpu_s(command: Sequence[str], runs: int) -> float:
    """The fewest CPU seconds of the runs."""
    took = []
    for _ in range(runs):
        before = getrusage(RUSAGE_CHILDREN)
        subprocess.run(command, capture_output=True)
        after = getrusage(RUSAGE_CHILDREN)
        took.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(took)


@contextmanager
def served(dsn: Sequence[str], folder: Path) -> Iterator[None]:
    """A service on the database, ready for commands while the block runs."""
    ports = ("--otlp-http", "127.0.0.1:0", "--otlp-grpc", "127.0.0.1:0", "--health", "off")
    command = [*RUN, "up", *dsn, *ports, "--console", "off", "--judge", "rules"]
    up = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 60
        while read_endpoint(folder) is None and time.monotonic() < until and up.poll() is None:
            time.sleep(0.2)
        if read_endpoint(folder) is None:
            raise SystemExit(f"the service did not start: {' '.join(command)}")
        yield
    finally:
        up.terminate()
        up.wait(60)


if __name__ == "__main__":
    main()
