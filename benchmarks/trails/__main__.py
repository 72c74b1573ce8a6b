"""Is the step found where a claim went wrong, and at what cost?

    python -m benchmarks.trails DIR… [--split dev] [--judges oracle,oracle:0.05,local] [--chains 10]
        [--live] [--depths 2,3,4,5,6] [--merged 1,2,4,8]

Each DIR has RAGTruth's two-file layout. Chains of 2 to 6 steps that merge 1 to 8 texts each are
made of labelled rows, with an error at a known step (`planted.py`); the tracer is compared with
verifying every node. They are also traced as the service does, which flags claims itself, and
blames no step where it is in doubt. `oracle` knows people's labels and answers only what it is
asked; `oracle:0.05` is wrong in one of twenty judgements. A claim that is left undecided is neither
right nor found. Targets with the oracle: stage at least 0.95, calls at most 0.30 of those for every
node.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeVar

from benchmarks.judge.tables import Cell, Table, as_markdown, as_text
from benchmarks.trails.judges import OracleJudge
from benchmarks.trails.live import LiveBlame, count_blames, trace_live
from benchmarks.trails.methods import (
    Blamed,
    Method,
    Outcome,
    follow_trail,
    verify_every_node,
)
from benchmarks.trails.planted import Planted, Source, plant, sources_of
from otel_rt4chart.bench.dataset import choose_split, read_rows
from otel_rt4chart.core.errors import RT4ChartError
from otel_rt4chart.verify import LocalJudge
from otel_rt4chart.verify.core.judge import Judge

DEPTHS, BRANCHINGS = "2,3,4,5,6", "1,2,4,8"
METHODS: Mapping[str, Method] = {"trail": follow_trail, "every node": verify_every_node}
Key = TypeVar("Key", int, tuple[int, int])


class Run(NamedTuple):
    """One chain, with its shape and what both methods and the service's trails said of it."""

    depth: int
    branching: int
    chain: Planted
    outcomes: dict[str, Outcome]
    live: tuple[LiveBlame, ...]


def main() -> int:
    """Plant, trace, measure, print."""
    options = _options()
    try:
        rows = [
            row for one in options.folders for row in choose_split(read_rows(one), options.split)[1]
        ]
    except RT4ChartError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sources = sources_of(rows)
    render = as_markdown if options.markdown else as_text
    print(f"{len(sources)} sources of {len(rows)} labelled answers, seed {options.seed}\n")
    for name in options.judges.split(","):
        methods = {} if options.live else METHODS
        random = Random(options.seed)  # noqa: S311 no secret
        shapes = list(product(_numbers(options.depths), _numbers(options.merged)))
        runs = list(runs_of(name, sources, shapes, options.chains, random, methods))
        print("\n".join(render(table) for table in tables(name, runs, methods)))
    return 0


def runs_of(
    judge: str,
    sources: Sequence[Source],
    shapes: Sequence[tuple[int, int]],
    chains: int,
    random: Random,
    methods: Mapping[str, Method],
) -> Iterable[Run]:
    """So many chains of each shape (steps, texts merged), traced by the methods and as live."""
    local = LocalJudge() if judge == "local" else None
    error = float(judge.partition(":")[2] or 0)
    for depth, branching in shapes:
        for _ in range(chains):
            chain = plant(sources, depth, branching, random)
            asked: Judge = local or OracleJudge(chain.labels, error)
            yield Run(
                depth,
                branching,
                chain,
                {name: method(asked, chain) for name, method in methods.items()},
                trace_live(asked, chain),
            )


def _numbers(written: str) -> list[int]:
    return [int(number) for number in written.split(",")]


def tables(judge: str, runs: Sequence[Run], methods: Collection[str]) -> list[Table]:
    """How well and at what cost: over all chains, by the stage of the error, by shape."""
    if not methods:
        return [_live_table(judge, runs)]
    head = ["", "stage right", "step right", "claims, balanced", "undecided"]
    cost = ["calls a claim", "tokens a claim", "calls against every node", "tokens"]
    overall = [[name, *_quality(name, runs), *_cost(name, runs)] for name in METHODS]
    by_stage = [
        [
            f"{name}, {distance} before the answer" if distance else f"{name}, the answer",
            *_quality(name, those),
        ]
        for name in METHODS
        for distance, those in _groups(runs, _distance)
    ]
    by_shape = [
        [
            f"{depth} steps, {branching} merged",
            len(those),
            *_quality("trail", those),
            *_cost("trail", those),
        ]
        for (depth, branching), those in _groups(runs, lambda run: (run.depth, run.branching))
    ]
    note = f"{len(runs)} chains, {sum(len(run.chain.claims) for run in runs)} claims"
    return [
        Table(f"Judge {judge}", note, [*head, *cost], overall),
        Table(f"Judge {judge}, by the step of the error", "", head, by_stage),
        _live_table(judge, runs),
        Table(f"Judge {judge}, the trail by shape", "", ["", "chains", *head[1:], *cost], by_shape),
    ]


def _live_table(judge: str, runs: Sequence[Run]) -> Table:
    """The trails of the service: how often they blame the right step, a wrong one, or none."""
    counts = count_blames((run.chain, run.live) for run in runs)
    errors, true = counts.right + counts.wrong + counts.silent, counts.false + counts.silenced
    rows: list[list[Cell]] = [
        ["planted errors", errors, counts.right, counts.wrong, counts.silent],
        ["true claims", true, 0, counts.false, counts.silenced],
    ]
    note = f"false blame share {counts.false_share:.3f}: of flagged true claims, those with a blame"
    head = ["flagged", "claims", "right step", "wrong step", "silent"]
    return Table(f"Judge {judge}, as the service traces", note, head, rows)


def _groups(runs: Sequence[Run], key: Callable[[Run], Key]) -> list[tuple[Key, list[Run]]]:
    """The runs by a key, in its order."""
    found: defaultdict[Key, list[Run]] = defaultdict(list)
    for run in runs:
        found[key(run)].append(run)
    return sorted(found.items())


def _distance(run: Run) -> int:
    """How many steps before the answer the error was made."""
    return len(run.chain.stages) - 1 - run.chain.stages.index(run.chain.stage)


def _quality(method: str, runs: Sequence[Run]) -> list[Cell]:
    planted = [(run.chain, _of_error(run.chain, run.outcomes[method])) for run in runs]
    others = [
        one for run in runs for one in run.outcomes[method].blamed if one.claim != run.chain.error
    ]
    stage = _share(
        {_stage_of(step, chain) for step in one.steps} == {chain.stage} for chain, one in planted
    )
    step = _share(one.steps == (chain.step,) for chain, one in planted)
    flagged = _share(not one.is_supported and not one.is_undecided for _, one in planted)
    kept = _share(one.is_supported for one in others)
    every = [one for _, one in planted] + others
    return [
        stage,
        step,
        (flagged + kept) / 2 if others else flagged,
        _share(one.is_undecided for one in every),
    ]


def _cost(method: str, runs: Sequence[Run]) -> list[Cell]:
    claims = sum(len(run.chain.claims) for run in runs)
    calls, tokens = (
        sum(getattr(run.outcomes[method], key) for run in runs) for key in ("calls", "tokens")
    )
    all_calls, all_tokens = (
        sum(getattr(run.outcomes["every node"], key) for run in runs) for key in ("calls", "tokens")
    )
    return [calls / claims, tokens / claims, calls / all_calls, tokens / all_tokens]


def _of_error(chain: Planted, outcome: Outcome) -> Blamed:
    return next(one for one in outcome.blamed if one.claim == chain.error)


def _stage_of(step: str, chain: Planted) -> str:
    return next(node.stage for node in chain.nodes if node.id == step)


def _share(values: Iterable[bool]) -> float:
    found = list(values)
    return sum(found) / len(found) if found else 0.0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.trails", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    parser.add_argument("folders", type=Path, nargs="+", metavar="DIR")
    parser.add_argument("--split", help="dev, else test, else all")
    parser.add_argument("--judges", default="oracle,oracle:0.05,local")
    parser.add_argument("--chains", type=int, default=10, help="of each shape")
    parser.add_argument("--depths", default=DEPTHS, help="numbers of steps")
    parser.add_argument("--merged", default=BRANCHINGS, help="numbers of texts that a step merges")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--live", action="store_true", help="only trace as the service does")
    parser.add_argument("--markdown", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
