"""New answers to the cases."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.model import Exchange, Passage
from rt4chart_clustering.evalset.case import EvalCase
from rt4chart_clustering.gate.answers import NewAnswer, parse_answers, read_answers, run_command

CASES = [
    EvalCase(name, Exchange("How long?", (Passage("p", "14 days."),), "30 days."))
    for name in ("a", "b")
]
APP = """
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    print(json.dumps({"id": row["id"], "answer": row["question"] + row["contexts"][0]["text"]}))
"""


def test_the_command_is_asked_every_case(tmp_path: Path) -> None:
    """With its question and its passages."""
    (tmp_path / "app.py").write_text(APP)

    found = run_command(f"{sys.executable} {tmp_path}/app.py", CASES, timeout_s=30)

    assert found == {"a": NewAnswer("How long?14 days."), "b": NewAnswer("How long?14 days.")}


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("no-such-program-of-ours", "expected a program that starts"),
        ("", "expected a program that starts"),
        ("'unclosed", "expected a program that starts"),
        (f"{sys.executable} -c 'print(\"why\"); exit(3)'", "expected exit status 0, got 3.*why"),
        (f"{sys.executable} -c 'import time; time.sleep(9)'", "expected its answers within 0.5 s"),
        (f"{sys.executable} -c 'print(1)'", "--command, line 1: expected a JSON object"),
    ],
)
def test_a_command_that_fails_is_told(command: str, message: str) -> None:
    """What was expected, and what came."""
    with pytest.raises(InputError, match=message):
        run_command(command, CASES, timeout_s=0.5 if "sleep" in command else 30)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "c", "answer": "x"}', "expected \"id\" to be that of a case, got 'c'"),
        ('{"id": "a", "answer": "x"}\n{"id": "a", "answer": "y"}', "line 2: .*a second one to 'a'"),
        ('{"id": "a", "answer": " "}', 'expected "answer" to hold text'),
        ('{"id": "a", "answer": "x", "contexts": []}', 'expected "contexts" to be a list'),
    ],
)
def test_an_answer_that_is_none_is_told(line: str, message: str) -> None:
    """With the line it stands on."""
    with pytest.raises(InputError, match=message):
        parse_answers(line.encode().splitlines(), CASES, "answers")


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    """By the name of what was expected there."""
    with pytest.raises(InputError, match="expected a file of JSON lines with answers"):
        read_answers(tmp_path / "none", CASES)
