"""Judges compared by the paper's protocol, as a page of the documentation.

    python -m benchmarks.protocol demo=DIR dev=DIR --results FOLDER --out judges-compared.md

Each NAME=DIR has RAGTruth's two-file layout. FOLDER keeps the verdicts, so that a run that broke
off continues, and the page can be made again without judging anything.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.judge.tables import Cell, Table, as_markdown
from benchmarks.protocol.paper import PUBLISHED
from otel_rt4chart.bench.paired import PairedComparison, compare_runs
from otel_rt4chart.bench.saved_runs import read_saved_run
from otel_rt4chart.cli import main as rt4chart
from otel_rt4chart.judges.names import RIVAL_NAMES

HEAD = """# Judges compared

The judges of this package, measured by the protocol of the RT4CHART paper on labelled answers,
beside the paper's own tables. [Measure a judge on your data](measure-a-judge.md) does the same for
yours, and runs [published detectors](measure-a-judge.md#published-detectors) over the same rows.
This page is written by

    {command}

`demo` are the labelled answers that come with the package, `dev` all held-out answers of SummEdits,
XSumFaith and DialFact, of which `demo` is a part. The figures are not comparable with the published
ones: the answers, their errors and the share of wrong ones are others. RAGTruth's sources cannot be
had here. The line *flag all* is what calling every answer wrong gets; where most answers are wrong,
its F1 is hard to beat and says little, so compare balanced accuracy.
"""
PAPER = """
## Published, not reproduced

From the paper (arXiv 2603.27752). RAGTruth++ has 408 answers, RAGTruth-Enhance 2,675.
"""


READ_ALL = {"rules", "local"}  # judges that look for evidence in the whole context themselves


class Measured(NamedTuple):
    """A judge on a data set: what `rt4chart bench --json` printed, and its file."""

    data: str
    judge: str
    values: dict[str, Any]
    file: Path


def main() -> int:
    """Run the judges, and write the page."""
    options = _options()
    options.results.mkdir(parents=True, exist_ok=True)
    found = [
        measure(name, Path(folder), judge, options)
        for name, folder in options.data
        for judge in options.judges
    ]
    options.out.write_text(page(found, command(options)), encoding="utf-8")
    return 0


def command(options: argparse.Namespace) -> str:
    """How the page was made, without the folders of one machine."""
    sets = " ".join(f"{name}=DIR" for name, _ in options.data)
    return f"python -m benchmarks.protocol {sets} --results FOLDER --out FILE"


def measure(name: str, folder: Path, judge: str, options: argparse.Namespace) -> Measured:
    """One judge on one data set, without each step that it has a use for."""
    file = options.results / f"{name}-{judge}.json"
    arguments = ["bench", str(folder), "--split", options.split, "--judge", judge]
    has_steps = judge != "single" and judge not in RIVAL_NAMES
    arguments += ["--ablate", options.ablate] if options.ablate and has_steps else []
    kept = ["--resume", str(file.with_suffix(".jsonl"))]
    printed = StringIO()
    with redirect_stdout(printed):
        status = rt4chart([*arguments, *kept, "--json"])
    if status:
        raise SystemExit(status)
    file.write_text(printed.getvalue(), encoding="utf-8")
    return Measured(name, judge, json.loads(printed.getvalue()), file)


def page(found: Sequence[Measured], made_by: str) -> str:
    """The whole page."""
    measured = [_answers(found), _kinds(found), *_paired(found), *_ablations(found), _cost(found)]
    parts = [HEAD.format(command=made_by), "## Measured\n", *map(as_markdown, measured)]
    return "\n".join([*parts, PAPER, *map(as_markdown, PUBLISHED)])


def _answers(found: Sequence[Measured]) -> Table:
    rows: list[Sequence[Cell]] = []
    for name in dict.fromkeys(one.data for one in found):
        own = [one for one in found if one.data == name]
        overall = own[0].values["overall"]
        rows += [(f"{name}: {one.judge}", *_figures(one.values["overall"])) for one in own]
        rows.append((f"{name}: flag all", *_figures(overall | {"answer": overall["flag_all"]})[:5]))
        rows += [
            (f"{name}, {data}: {one.judge}", *_figures(one.values["datasets"][data]))
            for data in sorted(own[0].values["datasets"])
            for one in own
            if len(one.values["datasets"]) > 1
        ]
    head = ("judge", "answers", *_PRF, "balanced accuracy", *(f"span {one}" for one in _PRF))
    filled = [(*row, *[None] * (len(head) - len(row))) for row in rows]
    note = "An answer is flagged if a claim of it is contradicted or baseless; spans by characters."
    if rivals := sorted(_judges(found) & set(RIVAL_NAMES)):
        note += f" Of the whole answer alone, without spans: {', '.join(rivals)}."
    return Table("Answers and spans", note, head, filled)


_PRF = ("precision", "recall", "F1")


def _figures(scores: dict[str, Any]) -> tuple[Cell, ...]:
    answer, span = scores["answer"], scores["span"]
    own = (answer[key] for key in ("precision", "recall", "f1", "balanced_accuracy"))
    return scores["answers"], *own, span["precision"], span["recall"], span["f1"]


def _judges(found: Sequence[Measured]) -> set[str]:
    return {one.judge for one in found}


def _kinds(found: Sequence[Measured]) -> Table:
    rows: list[Sequence[Cell]] = [
        (f"{one.data}: {one.judge}", what.replace("_", " "), *counts.values())
        for one in found
        for what in ("conflict_cases", "baseless_cases")
        if (counts := one.values["conflicts"][what]) is not None
    ]
    note = "Of the answers whose labels tell the kind of error, as those of SummEdits do not."
    if all(one.values["conflicts"]["refuting_evidence"] is None for one in found):
        note += " No set quotes the evidence that refutes a conflict, so its table is left out."
    return Table("Conflict and baseless cases", note, ("judge", "cases", *_PRF), rows)


def _paired(found: Sequence[Measured]) -> Iterator[Table]:
    """Each pair of judges on the same answers."""
    rows: list[Sequence[Cell]] = []
    for name in dict.fromkeys(one.data for one in found):
        first, *others = [one for one in found if one.data == name]
        for other in others:
            a, b = (read_saved_run(one.file)[1] for one in (first, other))
            title = f"{name}: {other.judge} minus {first.judge}"
            rows.append((title, *_difference(compare_runs(a, b))))
    head = ("judges", "balanced accuracy", "span F1", "right alone", "McNemar p")
    note = (
        "Differences with their 95% intervals (bootstrap over documents), then the answers that "
        "only the first, or only the second of the two has right, and McNemar's exact test."
    )
    if rows:
        yield Table("Judges against each other", note, head, rows)


def _difference(found: PairedComparison) -> tuple[Cell, ...]:
    shown = {
        one.metric: f"{one.difference:+.3f} ({one.low:+.3f} to {one.high:+.3f})"
        for one in found.differences
        if one.difference is not None and one.low is not None and one.high is not None
    }
    right = f"{found.only_b} and {found.only_a}"
    p = f"{found.p_value:.2g}"
    return shown.get("balanced accuracy"), shown.get("span F1"), right, p


def _ablations(found: Sequence[Measured]) -> Iterator[Table]:
    rows: list[Sequence[Cell]] = []
    for one in found:
        for run in one.values["runs"]:
            metrics = run["metrics"]
            against = one.values.get("against_full", {}).get(run["variant"])
            p = None if against is None else f"{against['mcnemar_p']:.2g}"
            names = (*_PRF, "balanced accuracy", "span F1")
            shown = (metrics[name] for name in names)
            rows.append((f"{one.data}: {one.judge}, {run['variant']}", *shown, p))
    note = "Without the global step, the OR-join of the chunks is the verdict."
    if whole := sorted(_judges(found) & READ_ALL):
        who = "These judges" if _judges(found) <= READ_ALL else f"{', '.join(whole)}:"
        note = (
            f"{who} read the whole context themselves, so the local step and its hints change no "
            f"label of theirs. {note}"
        )
    head = ("pipeline", *_PRF, "balanced accuracy", "span F1", "McNemar p")
    if len(rows) > len(found):
        yield Table("Without a step", note, head, rows)


def _cost(found: Sequence[Measured]) -> Table:
    rows: list[Sequence[Cell]] = []
    for one in found:
        run = one.values["runs"][0]
        seconds = run["cost"]["seconds"] / max(len(run["answers"]), 1)
        rows.append((f"{one.data}: {one.judge}", run["cost"]["calls"], seconds))
    note = "Seconds on two busy cores; a judge in this process makes no calls."
    if any(calls for _, calls, _ in rows):
        note += " Of the others, the seconds are mostly those of their endpoint."
    return Table("Cost", note, ("judge", "calls", "seconds an answer"), rows)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.protocol",
        description=__doc__.splitlines()[0] if __doc__ else "",
    )
    parser.add_argument("data", nargs="+", type=_named, metavar="NAME=DIR")
    parser.add_argument("--judges", type=lambda text: text.split(","), default=["rules", "local"])
    parser.add_argument("--ablate", default="global,decomposition", metavar="STEP,…")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--results", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    return parser.parse_args()


def _named(written: str) -> tuple[str, str]:
    name, _, folder = written.partition("=")
    if not name or not folder:
        raise argparse.ArgumentTypeError(f"expected NAME=DIR, got {written!r}")
    return name, folder


if __name__ == "__main__":
    sys.exit(main())
