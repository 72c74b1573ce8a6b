"""Whether corrected rates are true: simulated deployments on claims that people labelled.

    python -m benchmarks.rates DIR... [--judges rules,good,biased] [--deployments 500] [--workers 2]

Each DIR has RAGTruth's two-file layout; each data set in it is a route. `good` and `biased` are
scripted judges, any other name is one of the command line's. `--rates` names the worlds: the claims
as they are labelled, or with wrong ones left out until a rate remains. `--cache` keeps a judge's
verdicts, because the embedded model takes minutes.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from benchmarks.judge.tables import Table, as_markdown, as_text, as_value
from benchmarks.rates.comparison import Deployment, simulate
from benchmarks.rates.tables import tables
from benchmarks.rates.world import (
    BIASED,
    GOOD,
    Route,
    Verdict,
    judged,
    routes_of,
    scripted,
    thinned,
    verdicts,
)

SCRIPTS = {script.name: script for script in (GOOD, BIASED)}
AS_LABELLED = "as-labelled"


def main(arguments: Sequence[str] | None = None) -> None:
    """Simulate, print, write the figures where asked."""
    options = _options(arguments)
    written: list[Table] = []
    for name in options.judges.split(","):
        routes = judge_routes(name, options.folders, options.split, options.cache)
        for rate in options.rates.split(","):
            began = time.perf_counter()
            world = routes if rate == AS_LABELLED else [thinned(one, float(rate)) for one in routes]
            runs = run(world, options.deployments, options.claims, options.workers)
            sys.stderr.write(f"{name}, {rate}: {time.perf_counter() - began:.0f} s\n")
            for table in tables(f"{name}, {rate}", runs):
                written.append(table)
                print((as_markdown if options.markdown else as_text)(table), flush=True)
    if options.json:
        text = json.dumps([as_value(table) for table in written], indent=1)
        options.json.write_text(text + "\n", encoding="utf-8")


def judge_routes(name: str, folders: Sequence[Path], split: str, cache: Path | None) -> list[Route]:
    """The routes of all folders as a judge sees them; a scripted one reads no text."""
    reader = "rules" if name in SCRIPTS else name
    found: list[Verdict] = [
        one for folder in folders for one in verdicts(folder, split, reader, cache)
    ]
    return scripted(SCRIPTS[name], found) if name in SCRIPTS else routes_of(found, judged)


def run(routes: Sequence[Route], deployments: int, claims: int, workers: int) -> list[Deployment]:
    """So many deployments; the same ones whatever the number of workers."""
    one = partial(simulate, routes, claims=claims)
    if workers == 1:
        return [one(number) for number in range(deployments)]
    with ProcessPoolExecutor(workers) as pool:
        return list(pool.map(one, range(deployments), chunksize=10))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rates", description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+", metavar="DIR")
    parser.add_argument("--judges", default="rules,good,biased")
    parser.add_argument("--rates", default=f"{AS_LABELLED},0.05", help="worlds, by true rate")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--deployments", type=int, default=500)
    parser.add_argument("--claims", type=int, default=1_000, help="of a route in a deployment")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--cache", type=Path, metavar="FOLDER")
    parser.add_argument("--json", type=Path, metavar="OUT")
    parser.add_argument("--markdown", action="store_true")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
