"""Which tests `make test` leaves to `make test-slow`: those that took more than two seconds.

The list was measured. To write it anew from a run of all tests:

    make test-slow test WORKERS=2  # each with PYTEST_ADDOPTS=--junitxml=FILE
    python -m tests.slow_tests FILE...
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

LIST = Path(__file__).with_suffix(".txt")
# Seconds on two busy processors, of all parameters together.
LIMIT_S = 2.0


def slow_tests() -> frozenset[str]:
    """The tests as `tests/folder/test_file.py::test_name`, without parameters."""
    return frozenset(LIST.read_text(encoding="utf-8").split())


def seconds_by_test(report: Path) -> Mapping[str, float]:
    """The seconds of each test in pytest's JUnit XML, of all its parameters together."""
    seconds: defaultdict[str, float] = defaultdict(float)
    for case in ET.parse(report).iter("testcase"):  # noqa: S314 - pytest wrote it
        file = case.attrib["classname"].replace(".", "/") + ".py"
        seconds[f"{file}::{case.attrib['name'].partition('[')[0]}"] += float(case.attrib["time"])
    return seconds


def write_list(reports: Iterable[Path]) -> int:
    """Write the list from these reports, and return its length."""
    seconds: defaultdict[str, float] = defaultdict(float)
    for report in reports:
        for name, spent in seconds_by_test(report).items():
            seconds[name] += spent
    names = sorted(name for name, spent in seconds.items() if spent > LIMIT_S)
    LIST.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    return len(names)


def main(paths: Sequence[str]) -> None:
    """Write the list from the reports of the command line."""
    if not paths:
        sys.exit("expected the files that pytest --junitxml=FILE wrote")
    sys.stdout.write(f"{write_list(map(Path, paths))} slow tests in {LIST}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
