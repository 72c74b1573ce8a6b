"""The embedded judge beside its alternatives: quality and speed, in one run.

    python -m benchmarks.judge DIR [--split dev] [--judges rules,local,onnx:PATH] [--limit N]

DIR has RAGTruth's two-file layout. Systems are those of `systems.py` and any judge by its
name on the command line. `--limit` takes whole documents, about so many answers of all data sets.
`--json` writes the tables for machines beside what is printed; `--skip-speed` leaves out the part
that needs a quiet machine.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.judge import certainty, sections
from benchmarks.judge.gold import judge, kinds_of, sample
from benchmarks.judge.sections import Runs
from benchmarks.judge.speed import speed
from benchmarks.judge.systems import SYSTEMS, system
from benchmarks.judge.tables import Table, as_markdown, as_text, as_value
from otel_rt4chart.bench.dataset import RESPONSES, LabelledAnswer, choose_split, read_rows
from otel_rt4chart.core.errors import RT4ChartError


def main() -> int:
    """Verify, measure, print."""
    options = _options()
    try:
        split, every = choose_split(read_rows(options.folder), options.split)
        rows = sample(every, options.limit)
        runs = run(options.judges, rows)
    except RT4ChartError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    documents = len({(row.dataset, row.group) for row in rows})
    title = f"{len(rows)} answers on {documents} documents, split {split}"
    tables = quality(runs, options.folder / RESPONSES)
    if not options.skip_speed:
        tables += speed(options.judges, rows)
    render = as_markdown if options.markdown else as_text
    print(f"{title}\n\n" + "\n".join(render(table) for table in tables))
    if options.json:
        found = {"title": title, "tables": [as_value(table) for table in tables]}
        options.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return 0


def run(names: Sequence[str], rows: Sequence[LabelledAnswer]) -> Runs:
    """Each system's verdicts on all rows."""
    runs = {}
    for name in names:
        began = time.perf_counter()
        runs[name] = judge(system(name), rows)
        sys.stderr.write(f"{name}: {time.perf_counter() - began:.1f} s\n")
    return runs


def quality(runs: Runs, responses: Path) -> list[Table]:
    """All tables but those of speed."""
    return [
        sections.answers(runs),
        sections.claims(runs),
        sections.spans(runs),
        certainty.calibration(runs),
        certainty.bins(runs),
        certainty.decisions(runs),
        certainty.coverage_risk(runs),
        certainty.escalation(runs),
        sections.kinds(runs, kinds_of(responses)),
    ]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.judge", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--split", help="which rows (default: dev, else test, else all)")
    parser.add_argument("--judges", type=_names, default=list(SYSTEMS), help=", ".join(SYSTEMS))
    parser.add_argument("--limit", type=int, help="about so many answers, whole documents")
    parser.add_argument("--json", type=Path, metavar="OUT")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--skip-speed", action="store_true")
    return parser.parse_args()


def _names(written: str) -> list[str]:
    return [name.strip() for name in written.split(",") if name.strip()]


if __name__ == "__main__":
    raise SystemExit(main())
