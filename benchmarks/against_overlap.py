"""The local judge beside content-word coverage, on the same answers in the same run.

    python benchmarks/against_overlap.py DIR

DIR has RAGTruth's two-file layout. Coverage is the share of the answer's content words, by rarity,
that the passages have; its threshold is chosen on `train` for balanced accuracy, all data sets
alike. Both are reported on `dev`, with flagging everything as the floor.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from otel_rt4chart.bench.dataset import Row, read_rows
from otel_rt4chart.verify import RulesJudge, Verifier
from otel_rt4chart.verify.local.tokens import content

STEPS = 200


def main() -> None:
    """Choose the threshold, score both, print a line a data set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    rows = read_rows(parser.parse_args().folder)
    train = [row for row in rows if row.split == "train"]
    dev = [row for row in rows if row.split == "dev"]
    covered = {row.id: coverage(row) for row in rows}
    threshold = max(
        (step / STEPS for step in range(STEPS + 1)),
        key=lambda limit: balanced(train, {r.id for r in train if covered[r.id] < limit}),
    )
    verifier = Verifier(RulesJudge())
    ours = {row.id for row in dev if verifier.verify(row.exchange).label.is_unfaithful}
    theirs = {row.id for row in dev if covered[row.id] < threshold}
    print(f"balanced accuracy on dev; coverage below {threshold:.3f} is flagged (chosen on train)")
    print(f"{'':12}{'answers':>9}{'local':>9}{'coverage':>10}{'flag all':>10}")
    for name in [*sorted({row.dataset for row in dev}), "all"]:
        part = [row for row in dev if name in (row.dataset, "all")]
        scores = (balanced(part, flagged) for flagged in (ours, theirs, {r.id for r in part}))
        print(f"{name:12}{len(part):9}" + "{:9.3f}{:10.3f}{:10.3f}".format(*scores))


def coverage(row: Row) -> float:
    """The share of the answer's content that stands anywhere in the passages."""
    said = content(row.exchange.answer)
    known = {stem for passage in row.exchange.passages for stem in content(passage.text)}
    total = sum(said.values())
    return sum(rarity for stem, rarity in said.items() if stem in known) / total if total else 1.0


def balanced(rows: Sequence[Row], flagged: set[str]) -> float:
    """The mean of recall and specificity."""
    bad = [row.id in flagged for row in rows if row.is_hallucinated]
    good = [row.id not in flagged for row in rows if not row.is_hallucinated]
    return (sum(bad) / max(len(bad), 1) + sum(good) / max(len(good), 1)) / 2


if __name__ == "__main__":
    main()
