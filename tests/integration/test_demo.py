"""`rt4chart demo` as a person runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rt4chart_collector.demo.helpdesk import read_helpdesk
from tests.integration.needs import MINUTES

READ_RESULT = """
import sys
from rt4chart_collector.demo.run import LIVE, read_result
print(read_result(sys.argv[1], LIVE).as_json())
"""


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """A Python process, which has to succeed."""
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done


def demo(folder: Path, *options: str) -> str:
    """What `rt4chart demo --live` prints for 45 answers."""
    return run(
        "-m", "otel_rt4chart", "demo", "--folder", str(folder), "--live", "--limit", "45", *options
    ).stdout


@pytest.mark.e2e
@MINUTES
def test_the_live_demo_gives_the_same_figures_twice_and_prints_a_query_that_works(
    tmp_path: Path,
) -> None:
    """Service, application, store and grouping, all real, leave the same result in both runs.

    The second run prints its report; the line under "query" works as it is printed.
    """
    first = demo(tmp_path, "--json")
    printed = demo(tmp_path)
    (line,) = [line for line in printed.splitlines() if line.startswith("query: ")]
    queried = subprocess.run(  # noqa: S602 - it is printed for a shell
        line.removeprefix("query: "), shell=True, capture_output=True, text=True, check=True
    )
    second = run("-c", READ_RESULT, f"chdb://{tmp_path / 'db'}").stdout

    same = json.loads(second) | {"issues": json.loads(first)["issues"]}
    assert json.loads(first) == same
    assert "entailed" in queried.stdout
    found: dict[str, Any] = json.loads(first)
    assert sum(route["answers"] for route in found["routes"]) == 45
    assert all(route["route"] in printed for route in found["routes"])
    assert found["total"]["claims"] / (1 - found["total"]["undecided"]) > 45
    assert 0 < found["total"]["low"] < found["total"]["rate"] < found["total"]["high"] < 1
    assert {line["route"] for line in found["corrected"]} == {
        route["route"] for route in found["routes"]
    }
    assert all(0 < line["labels"] <= 25 for line in found["corrected"])
    assert "The same rates, corrected by" in printed
    assert found["issues"][0]["claims"] >= 5
    assert found["issues"][0]["title"] in printed
    assert len(found["example"]["claims"]) > 0


@pytest.mark.e2e
def _is_part(shown: str, written: str) -> bool:
    """True where one of them has the other: "by the reseller" for "the reseller"."""
    return bool(written) and (shown in written or written in shown)


def test_the_demo_tells_the_incident_with_the_words_of_the_written_truth(tmp_path: Path) -> None:
    """The rise, its release and the wrong words, and issues whose examples agree with the truth."""
    done = run("-m", "otel_rt4chart", "demo", "--folder", str(tmp_path), "--json")
    found: dict[str, Any] = json.loads(done.stdout)

    incident = found["application"]["incident"]
    sentences = [one for answer in read_helpdesk().values() for one in answer.sentences]
    shown = [(incident["claim"], incident["claimed"], incident["found"])]
    shown += [(one["claim"], one["claimed"][0], one["found"][0]) for one in found["issues"]]
    assert (incident["route"], incident["release"]) == ("support/refunds", "2.4.0")
    assert incident["before"] < 0.02
    assert incident["after"] > 0.25
    assert found["issues"]
    assert shown == [
        (claim, claimed, found)
        for claim, claimed, found in shown
        if any(
            one.text == claim and _is_part(claimed, one.words) and _is_part(found, one.found)
            for one in sentences
        )
    ]
    assert len(found["application"]["routes"]) == 4
    assert len(found["corrected"]) == 8
    assert done.stderr.startswith("verdicts …\n")
