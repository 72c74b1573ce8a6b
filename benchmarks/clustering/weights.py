"""The weights of the joint vector: how well each grouping of `train` agrees with people's edits.

    python -m benchmarks.clustering.weights DIR [--split train]

DIR is that of `python -m benchmarks.clustering`. Each block's weight is varied alone around the
weights that ship. A row has the adjusted Rand index of pattern and topic under HDBSCAN, its least
size chosen by the pattern; and, for sentences that people edited, the share of the ten nearest
that have the same pattern, or the same topic.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path

from benchmarks.clustering.comparison import Measured, choose, measure
from benchmarks.clustering.rows import Failing, edited, flagged
from benchmarks.clustering.systems import SIZES, Grouping, System, apart, dense, joint
from rt4chart_clustering.description.joint_vector import WEIGHTS, JointWeights

FACTORS = (0.0, 0.5, 1.5, 2.0)


def main() -> None:
    """Vary each weight, print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--split", default="train")
    options = parser.parse_args()
    sets = {
        "edited": edited(options.folder, options.split),
        "flagged": flagged(options.folder, options.split),
    }
    print("| weights | set | least size | ARI pattern | ARI topic | 10-NN pattern, topic |")
    print("|---|---|--:|--:|--:|--:|", flush=True)
    for name, weights in variants():
        for title, rows in sets.items():
            one = measured(rows, weights)
            print(
                f"| {name} | {title} | {one.setting:.0f} | {one.ari_pattern:.3f} | "
                f"{one.ari_topic:.3f} | {one.near_pattern:.3f}, {one.near_topic:.3f} |",
                flush=True,
            )


def variants() -> Iterator[tuple[str, JointWeights]]:
    """The weights that ship, then each block's weight changed alone; all rows are of one place."""
    yield "as it ships", WEIGHTS
    for field in fields(JointWeights):
        weight = getattr(WEIGHTS, field.name)
        for factor in FACTORS if field.name != "place" else ():
            changed = round(weight * factor, 3)
            yield f"{field.name} {changed}", replace(WEIGHTS, **{field.name: changed})


def measured(rows: Sequence[Failing], weights: JointWeights) -> Measured:
    """HDBSCAN over the joint vectors of these weights."""
    space = joint(rows, apart(rows), weights)

    def group(_rows: Sequence[Failing], size: float) -> Grouping:
        return Grouping(dense(space, int(size)), space)

    system = System("joint vector", group, SIZES)
    return measure(system, rows, choose(system, rows))


if __name__ == "__main__":
    main()
