"""A run from rows to a table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from otel_rt4chart.bench.dataset import read_rows
from otel_rt4chart.bench.runner import BenchResult, run_bench
from otel_rt4chart.bench.tables import as_values, render
from otel_rt4chart.verify.core.model import AnswerLabel, AnswerRange, Claim, Exchange, Label, Report

BUNDLED = Path(__file__).parents[2] / "data/bench"


def flag_digits(exchange: Exchange) -> Report:
    """A report that calls an answer baseless where it holds a digit, and marks its first word."""
    label = Label.BASELESS if any(map(str.isdigit, exchange.answer)) else Label.ENTAILED
    claim = Claim(
        exchange.answer, label, label, 0.5, "digits", "attribute", AnswerRange(0, 3), sentence=0
    )
    return Report(AnswerLabel(label.value), (claim,), "digits")


def ticking() -> Iterator[int]:
    """A clock that advances two seconds between looks."""
    now = 0
    while True:
        yield now
        now += 2_000_000_000


def bundled_run(seen: list[tuple[int, int]] | None = None) -> BenchResult:
    """The bundled rows under that judge."""
    clock = ticking()
    progress = seen.append if seen is not None else lambda pair: None
    return run_bench(
        read_rows(BUNDLED),
        flag_digits,
        judge="digits",
        split="all",
        clock=lambda: next(clock),
        progress=lambda done, total: progress((done, total)),
    )


def test_a_run_scores_each_task_and_the_whole() -> None:
    """Figures by hand: of five answers with a digit two are unfaithful, of three without, two."""
    result = bundled_run()

    assert result.overall.answer.precision == 2 / 5
    assert result.overall.answer.recall == 2 / 4
    assert [scores.name for scores in result.tasks] == [
        "QA/shop",
        "QA/trial",
        "Summary/shop",
        "Summary/tower",
    ]
    assert (result.seconds, result.claims_per_second) == (16.0, 0.5)


def test_progress_is_told_after_every_answer() -> None:
    """Done and total."""
    seen: list[tuple[int, int]] = []
    bundled_run(seen)

    assert seen == [(done, 8) for done in range(1, 9)]


def test_the_table_shows_every_task_and_the_flag_all_line() -> None:
    """Aligned columns, a dash where a figure is not defined."""
    lines = render(bundled_run()).splitlines()
    flag_all = next(line for line in lines if line.startswith("flag all"))
    shop = next(line for line in lines if line.startswith("Summary/shop"))

    assert lines[0] == "judge digits · split all · 8 answers · 8 claims · 0 claims/s"
    assert flag_all.split() == ["flag", "all", "8", "4", "0.500", "1.000", "0.667", "0.500"]
    assert shop.split()[3:7] == ["–", "0.000", "0.000", "0.500"]
    assert len({line.index("F1") for line in lines if "F1" in line}) == 1


def test_the_machine_form_is_json_with_null_where_undefined() -> None:
    """The same figures."""
    values = json.loads(json.dumps(as_values(bundled_run())))

    assert values["overall"]["flag_all"] == {
        "precision": 0.5,
        "recall": 1.0,
        "f1": 2 / 3,
        "balanced_accuracy": 0.5,
    }
    assert values["tasks"]["Summary/shop"]["answer"]["precision"] is None
    assert values["overall"]["three_way"]["contradicted->baseless"] == 2
