"""Whether failures are grouped by pattern or by topic: ours beside topic clusterers, in one run.

    python -m benchmarks.clustering DIR [--tune train] [--split dev] [--json OUT]

DIR holds SummEdits in RAGTruth's two-file layout: the kind of the edit is the pattern, the domain
the topic. Each set is grouped twice, by every way alike: all rows as those of one route, and each
domain as a route of its own. Each way's one setting is chosen by the pattern's ARI on the first
split (of the second table by the mean within routes), and what is printed is the other one. It
needs umap-learn and hdbscan beside the package, its models and scikit-learn. Noise counts as one
group. ARI and neighbours are taken over the rows whose pattern (or topic) is known; the interval is
that of halves of the documents.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

from benchmarks.clustering.comparison import (
    choose,
    choose_routed,
    compared,
    described,
    measure,
    measure_routed,
    routed_table,
    shares,
    table,
)
from benchmarks.clustering.rows import edited, flagged
from benchmarks.clustering.systems import ROUTED, SYSTEMS

# The modules of the rivals, and the packages that they come from.
PACKAGES = {"umap": "umap-learn", "hdbscan": "hdbscan"}


def main() -> int:
    """Choose settings, group, measure, print."""
    options = _options()
    if missing := [PACKAGES[name] for name in PACKAGES if not find_spec(name)]:
        sys.stderr.write(f"expected the packages of the rivals: pip install {' '.join(missing)}\n")
        return 2
    tuning = edited(options.folder, options.tune)
    chosen = {system.name: choose(system, tuning) for system in SYSTEMS}
    routed = {system.name: choose_routed(system, tuning) for system in ROUTED}
    told: dict[str, object] = {"settings": chosen, "settings by route": routed}
    for title, rows in (
        (f"People's edits, {options.split}", edited(options.folder, options.split)),
        (f"What the judge flags, {options.split}", flagged(options.folder, options.split)),
    ):
        measured = [measure(system, rows, chosen[system.name]) for system in SYSTEMS]
        apiece = [measure_routed(system, rows, routed[system.name]) for system in ROUTED]
        print(f"### {title}\n\n{described(rows)}\n\n{table(measured)}\n\n{compared(measured)}\n")
        print(f"Each domain a route of its own:\n\n{routed_table(apiece)}\n")
        told[title] = {
            "shares": shares(rows),
            "systems": [asdict(one) for one in measured],
            "by route": [asdict(one) for one in apiece],
        }
    if options.json:
        options.json.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.clustering",
        description=__doc__.splitlines()[0] if __doc__ else "",
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tune", default="train", help="the split that settings are chosen on")
    parser.add_argument("--split", default="dev", help="the split that is reported")
    parser.add_argument("--json", type=Path, metavar="OUT")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
