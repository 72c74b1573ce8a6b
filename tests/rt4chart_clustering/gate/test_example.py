"""The example of the gate does what its pages say."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from otel_rt4chart.cli import main
from rt4chart_clustering.evalset.load import read_cases

EXAMPLE = Path(__file__).parents[3] / "examples" / "gate"


def test_the_example_application_passes_its_gate(capsys: pytest.CaptureFixture[str]) -> None:
    """What is copied from the passages is supported by them."""
    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(EXAMPLE / 'answer.py'))}"
    given = ("--evalset", str(EXAMPLE / "summaries.jsonl"), "--command", command)

    assert main(["gate", *given, "--judge", "rules", "--max-rate", "0.15"]) == 0
    assert capsys.readouterr().out.startswith("passed: summaries")


def test_the_recorded_answers_do_not_pass_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are why the cases are there."""
    cases = read_cases(EXAMPLE / "summaries.jsonl")
    rows = (json.dumps({"id": one.id, "answer": one.exchange.answer}) for one in cases)
    (tmp_path / "old.jsonl").write_text("\n".join(rows))
    given = ("--evalset", str(EXAMPLE / "summaries.jsonl"), "--answers", f"{tmp_path}/old.jsonl")

    assert main(["gate", *given, "--judge", "rules", "--max-rate", "0.15"]) == 1
    assert capsys.readouterr().out.startswith("failed: summaries")


def test_the_action_names_options_that_are_there() -> None:
    """Each `--option` of its command is one of the gate's."""
    from argparse import ArgumentParser

    from rt4chart_clustering.cli.gate import configure

    parser = ArgumentParser()
    configure(parser)
    written = (EXAMPLE / "faithfulness.yml").read_text()
    used = {word.strip('"') for word in written.split() if word.strip('"').startswith("--")}

    known = {option for action in parser._actions for option in action.option_strings}
    assert (len(used), used - known) == (5, set())
