from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def demo(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """`rt4chart demo` as a person runs it."""
    command = [sys.executable, "-m", "otel_rt4chart", "demo", "--folder", str(folder), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.mark.e2e
def test_the_demo_gives_the_same_figures_twice(tmp_path: Path) -> None:
    """Service, application, store and grouping, all real, end with the same report."""
    first, second = (demo(tmp_path, "--json", "--limit", "45") for _ in range(2))

    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout
    found: dict[str, Any] = json.loads(first.stdout)
    assert sum(line["answers"] for line in found["routes"]) == 45
    assert found["total"]["claims"] > 45
    assert 0 < found["total"]["low"] < found["total"]["rate"] < found["total"]["high"] < 1
    assert found["issues"][0]["claims"] >= 5
    assert len(found["example"]["claims"]) > 0


@pytest.mark.e2e
def test_the_printed_command_asks_the_database(tmp_path: Path) -> None:
    """The line under "query" works as it is printed."""
    printed = demo(tmp_path, "--limit", "20").stdout

    (line,) = [line for line in printed.splitlines() if line.startswith("query: ")]
    done = subprocess.run(  # noqa: S602 - it is printed for a shell
        line.removeprefix("query: "), shell=True, capture_output=True, text=True, check=True
    )

    assert "entailed" in done.stdout
