"""Which pipelines are run, and what is computed of their runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from otel_rt4chart.bench.dataset import read_rows
from otel_rt4chart.bench.protocol import FULL, PipelineVariant, ProtocolRun, plan_variants, spreads
from otel_rt4chart.bench.records import (
    AnswerRecord,
    RecordedClaim,
    parse_record,
    record_values,
    row_key,
)
from otel_rt4chart.bench.results_file import ResultsFile
from otel_rt4chart.bench.runner import bench_result
from otel_rt4chart.bench.saved_runs import read_saved_run
from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.model import AnswerLabel, AnswerRange, Label, Usage
from otel_rt4chart.verify.stages.options import PipelineStep

BUNDLED = Path(__file__).parents[2] / "data/bench"
BASE = (25, 10)


def names(
    *ablations: str, windows: tuple[int, ...] = (), overlaps: tuple[int, ...] = ()
) -> list[str]:
    """The variants' names."""
    return [one.name for one in plan_variants(BASE, ablations, windows, overlaps)]


def test_the_full_pipeline_comes_first_then_what_is_left_out() -> None:
    """`all` is each step once, a plus leaves out several at once."""
    assert names("all", "local", "local+decomposition") == [
        FULL,
        *(f"without {step}" for step in PipelineStep),
        "without local and decomposition",
    ]


def test_a_single_window_is_that_of_every_run() -> None:
    """Nothing is compared with it."""
    (full, ablated) = plan_variants(BASE, ["hints"], [15], [5])

    assert (full.window, full.overlap) == (ablated.window, ablated.overlap) == (15, 5)
    assert ablated.left_out == {PipelineStep.HINTS}


def test_several_windows_are_a_grid_of_the_pairs_that_fit() -> None:
    """The settings' own pair is the full pipeline and is run once."""
    assert names(windows=(10, 25), overlaps=(5, 10)) == [
        FULL,
        "window 10, overlap 5",
        "window 25, overlap 5",
    ]


def test_a_grid_without_the_settings_own_pair_is_compared_with_it() -> None:
    """The full pipeline is always the one that the settings name."""
    full, *grid = plan_variants(BASE, [], (10, 25), (5,))

    assert (full.window, full.overlap) == BASE
    assert [(one.window, one.overlap) for one in grid] == [(10, 5), (25, 5)]


@pytest.mark.parametrize(
    ("ablations", "windows", "message"),
    [
        (("linking",), (), "--ablate: expected some of local, global, hints"),
        (("local+global",), (), "--ablate: expected the local or the global step to stay"),
        ((), (5,), "expected an overlap that is less than its window"),
    ],
)
def test_what_cannot_be_run_is_refused(
    ablations: tuple[str, ...], windows: tuple[int, ...], message: str
) -> None:
    """With what was expected."""
    with pytest.raises(InputError, match=message):
        plan_variants(BASE, ablations, windows, ())


def flagged(label: Label, confidence: float | None = 0.5) -> AnswerRecord:
    """The verdict of one claim."""
    claim = RecordedClaim(label, confidence, AnswerRange(0, 3))
    return AnswerRecord(AnswerLabel(label.value), (claim,), (), Usage(calls=2), 1.5)


def test_repeats_have_their_mean_and_the_deviation_of_a_run() -> None:
    """One run flags all of eight answers, of which four are wrong, one flags none."""
    rows = read_rows(BUNDLED)
    variant = PipelineVariant(FULL, "full", *BASE)
    runs = [
        ProtocolRun(
            variant, n, bench_result(rows, [flagged(label)] * len(rows), judge="j", split="all")
        )
        for n, label in enumerate((Label.BASELESS, Label.ENTAILED), start=1)
    ]

    recall = next(one for one in spreads(runs) if one.metric == "recall")

    assert (recall.mean, recall.values) == (0.5, (1.0, 0.0))
    assert recall.deviation == pytest.approx(0.5**0.5)


@pytest.mark.parametrize("confidence", [0.5, None])
def test_a_record_survives_its_file(tmp_path: Path, confidence: float | None) -> None:
    """And is found by its run and its row alone."""
    row, other = read_rows(BUNDLED)[:2]
    record = flagged(Label.CONTRADICTED, confidence)
    path = tmp_path / "run.jsonl"
    with ResultsFile(path) as file:
        file.keep("a", row, record)

    with ResultsFile(path) as again:
        assert again.known("a") == {row_key(row): record}
        assert row_key(other) not in again.known("a")
        assert again.known("b") == {}
    assert parse_record(record_values(record)) == record


def test_a_line_that_broke_off_is_verified_again(tmp_path: Path) -> None:
    """Also once more lines stand behind it."""
    first, second, third = read_rows(BUNDLED)[:3]
    path = tmp_path / "run.jsonl"
    with ResultsFile(path) as file:
        file.keep("a", first, flagged(Label.ENTAILED))
        file.keep("a", second, flagged(Label.ENTAILED))
    path.write_text(path.read_text()[:-40])
    with ResultsFile(path) as file:
        assert set(file.known("a")) == {row_key(first)}
        file.keep("a", third, flagged(Label.ENTAILED))

    with ResultsFile(path) as file:
        assert set(file.known("a")) == {row_key(first), row_key(third)}


@pytest.mark.parametrize("content", ["# notes\n", '{"id": 1}\n', '{"run": "a", "id": 1, "row": 2}'])
def test_a_file_of_another_kind_is_refused_and_not_written(tmp_path: Path, content: str) -> None:
    """It may be anything."""
    path = tmp_path / "notes.md"
    path.write_text(content)

    with pytest.raises(InputError, match="line 1: expected"):
        ResultsFile(path)

    assert path.read_text() == content


@pytest.mark.parametrize("written", ["[" * 100_000, '{"run": ' * 50_000])
def test_deep_nesting_in_a_file_of_results_is_refused(tmp_path: Path, written: str) -> None:
    """In one line that says which file, and without reading what is no file."""
    path = tmp_path / "deep.json"
    path.write_text(written, "utf-8")

    with pytest.raises(InputError, match=r"deep\.json"):
        ResultsFile(path)
    with pytest.raises(InputError, match=r"deep\.json"):
        read_saved_run(path)


def test_what_is_no_regular_file_is_not_read() -> None:
    """A device may have no end."""
    with pytest.raises(InputError, match="expected a file"):
        ResultsFile(Path("/dev/zero"))
    with pytest.raises(InputError, match="in a file"):
        read_saved_run(Path("/dev/zero"))
