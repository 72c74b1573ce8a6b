"""How soon a risen hallucination rate is found, and how often one is found that is none.

    python -m benchmarks.drift [--full] [--months N] [--changes N] [--seed N] [--json FILE]

One simulated route at 50, 200 and 1,000 verified answers an hour (`world.py`), in a
steady and in a restless world; after fourteen days of history, a month without a change tells the
false alarms, and changes of +2, +3 and +5 points at random times of it the delays. The shipped
detector, with the baseline that it estimates itself, stands beside z windows, two proportions, SRE
burn rates, CUSUM and river's ADWIN and Page-Hinkley. Then the same with adaptive sampling.
river is not needed; where it is not installed the run says so.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.drift.comparison import FULL, QUICK, run
from benchmarks.drift.river import MISSING, makers
from benchmarks.drift.tables import figures, print_row


def main(arguments: Sequence[str] | None = None) -> None:
    """Run it, print the tables, write the figures where asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.drift", description=__doc__)
    parser.add_argument("--full", action="store_true", help="40 route-months, 200 changes each")
    parser.add_argument("--months", type=int, help="route-months of each scene")
    parser.add_argument("--changes", type=int, help="changes of each size in a route-month")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="where to write the figures")
    given = parser.parse_args(arguments)
    size = FULL if given.full else QUICK
    if given.months:
        size = replace(size, months=given.months)
    if given.changes:
        size = replace(size, changes=given.changes, adaptive_changes=given.changes)
    began = time.perf_counter()
    if not makers():
        print(MISSING)
    rows = []
    for row in run(size, given.seed):
        print_row(row)
        rows.append(row)
    print(f"\n{size.months} route-months a scene, {time.perf_counter() - began:.0f} s")
    if given.json:
        given.json.write_text(json.dumps([figures(row) for row in rows], indent=1) + "\n")


if __name__ == "__main__":
    main()
