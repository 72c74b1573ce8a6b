"""New answers to the cases."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.model import Exchange, Passage
from rt4chart_clustering.evalset.case import EvalCase
from rt4chart_clustering.gate import answers
from rt4chart_clustering.gate.answers import NewAnswer, parse_answers, read_answers, run_command
from tests.polling import wait_until

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


def test_a_child_of_the_command_neither_delays_nor_survives_it(tmp_path: Path) -> None:
    """It inherits the pipe, which then stays open after the command's end."""
    child = "import time; time.sleep(60)"
    (tmp_path / "app.py").write_text(
        "import subprocess, sys\n"
        f"child = subprocess.Popen([sys.executable, '-c', {child!r}])\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\n"
        """print('{"id": "a", "answer": "x"}')\n"""
    )

    found = run_command(f"{sys.executable} {tmp_path}/app.py", CASES, timeout_s=50)

    assert found == {"a": NewAnswer("x")}
    status = Path(f"/proc/{(tmp_path / 'pid').read_text()}/status")
    wait_until(lambda: not status.exists() or "zombie" in status.read_text())


def test_the_output_of_the_command_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that writes without end must not fill the memory."""
    monkeypatch.setattr(answers, "MAX_OUTPUT_BYTES", 2**20)

    with pytest.raises(InputError, match="expected at most 1 MiB of answers, got more"):
        run_command("yes", CASES, timeout_s=50)


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
