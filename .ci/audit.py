"""Compares the lock files with known advisories; needs no network and no package.

`.ci/advisories.json` has advisories with the version that fixes each, those that pip-audit found
for locked versions, the versions that it checked, and the date. `python .ci/audit.py --write
REPORT...` renews the last three from reports of pip-audit.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FILE = ROOT / ".ci/advisories.json"
OLD_DAYS = 30
PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)", re.MULTILINE)


def locked() -> dict[str, set[str]]:
    """Each `name==version` of the lock files, and the files that have it."""
    found: dict[str, set[str]] = {}
    for file in sorted(ROOT.glob("requirements*.lock")):
        for name, version in PIN.findall(file.read_text()):
            pin = f"{re.sub(r'[-_.]+', '-', name).lower()}=={version}"
            found.setdefault(pin, set()).add(file.name)
    return found


def problems(
    known: dict[str, Any], pins: dict[str, set[str]], today: date
) -> tuple[list[str], list[str]]:
    """The errors, which are vulnerable versions, and the warnings."""
    found = [(pin, one) for pin in sorted(pins) for one in known["advisories"].get(pin, ())]
    for pin in sorted(pins):
        name, version = pin.split("==")
        fixes = known["fixed_in"].get(name, {})
        found += [(pin, one) for one, fixed in fixes.items() if _numbers(version) < _numbers(fixed)]
    errors = [
        f"{pin} ({', '.join(sorted(pins[pin]))}): {one}; update it, or add the id to `ignored` of "
        f"{FILE.name} with the reason"
        for pin, one in found
        if one not in known["ignored"]
    ]
    warnings = []
    age = (today - date.fromisoformat(known["date"])).days
    if age > OLD_DAYS:
        warnings.append(f"{FILE.name} is {age} days old: run make audit with a network")
    if unknown := sorted(pins.keys() - set(known["checked"])):
        shown = ", ".join(unknown[:5]) + (" …" if len(unknown) > 5 else "")
        warnings.append(f"{len(unknown)} locked versions were not checked yet: {shown}")
    return errors, warnings


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


def write(reports: list[Path], today: date) -> None:
    """Add what pip-audit found to the file; reports that checked nothing leave it as it is."""
    known = json.loads(FILE.read_text())
    checked, advisories = set(), {}
    for report in reports:
        for one in json.loads(report.read_text())["dependencies"]:
            # A mirror of PyPI may not know of vulnerabilities: then every package is skipped.
            if "version" not in one:
                continue
            pin = f"{re.sub(r'[-_.]+', '-', one['name']).lower()}=={one['version']}"
            checked.add(pin)
            if one["vulns"]:
                advisories[pin] = sorted(vuln["id"] for vuln in one["vulns"])
    if not checked:
        sys.stderr.write("warning: pip-audit checked no package: its source has no advisories\n")
        return
    found = {"date": today.isoformat(), "advisories": advisories, "checked": sorted(checked)}
    FILE.write_text(json.dumps({**known, **found}, indent=1) + "\n")


def main() -> int:
    """The exit status: 1 for a vulnerable version, 0 with nothing but warnings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", nargs="+", type=Path, metavar="REPORT")
    given = parser.parse_args()
    today = datetime.now(UTC).date()
    if given.write:
        write(given.write, today)
    errors, warnings = problems(json.loads(FILE.read_text()), locked(), today)
    for text in (*(f"warning: {one}" for one in warnings), *(f"error: {one}" for one in errors)):
        sys.stderr.write(f"{text}\n")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
