"""`rt4chart bench` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from otel_rt4chart.cli import main

BUNDLED = str(Path(__file__).parents[2] / "data/bench")


def test_bench_prints_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    """The split is named; without a terminal there is no progress."""
    status = main(["bench", BUNDLED, "--judge", "local"])
    printed = capsys.readouterr()

    assert status == 0
    assert "split dev · 6 answers" in printed.out
    assert "flag all" in printed.out
    assert printed.err == ""


def test_bench_prints_json_with_the_flag_all_line(capsys: pytest.CaptureFixture[str]) -> None:
    """One object, and the plain contradictions among the bundled rows are found."""
    status = main(["bench", BUNDLED, "--split", "all", "--json"])
    values = json.loads(capsys.readouterr().out)

    assert status == 0
    assert values["judge"].startswith("local/")
    assert values["overall"]["answers"] == 8
    assert values["overall"]["flag_all"]["balanced_accuracy"] == 0.5
    assert values["overall"]["three_way"]["contradicted->contradicted"] == 3


def test_bench_takes_the_first_rows_only(capsys: pytest.CaptureFixture[str]) -> None:
    """`--limit` counts rows of the split."""
    main(["bench", BUNDLED, "--split", "train", "--limit", "1", "--json"])

    assert json.loads(capsys.readouterr().out)["overall"]["answers"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["/nowhere"], "rt4chart bench: a folder with source_info.jsonl"),
        ([BUNDLED, "--judge", "oracle"], "unknown judge 'oracle'"),
        ([BUNDLED, "--split", "test"], "no row is of the split 'test'"),
    ],
)
def test_wrong_use_is_one_line_and_status_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was expected, and what came."""
    status = main(["bench", *arguments])
    printed = capsys.readouterr()

    assert status == 2
    assert message in printed.err
    assert printed.out == ""


def test_a_limit_that_is_no_number_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """By the parser."""
    with pytest.raises(SystemExit) as stopped:
        main(["bench", BUNDLED, "--limit", "0"])

    assert stopped.value.code == 2
    assert "a whole number from 1 was expected" in capsys.readouterr().err
