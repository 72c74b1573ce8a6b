"""Compares the lock files with known advisories; needs no network and no package.

`.ci/advisories.json` has the advisories that were known on a date, and the versions that were
checked on it. `python .ci/audit.py --write REPORT...` makes it anew from reports of pip-audit.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from datetime import UTC, date, datetime
from pathlib import Path

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
    known: dict[str, object], pins: dict[str, set[str]], today: date
) -> tuple[list[str], list[str]]:
    """The errors, which are vulnerable versions, and the warnings."""
    advisories, ignored = known["advisories"], known["ignored"]
    assert isinstance(advisories, dict)
    assert isinstance(ignored, dict)
    errors = [
        f"{pin} ({', '.join(sorted(pins[pin]))}): {one}; update it, or add the id to `ignored` of "
        f"{FILE.name} with the reason"
        for pin in sorted(pins.keys() & advisories.keys())
        for one in advisories[pin]
        if one not in ignored
    ]
    age = (today - date.fromisoformat(str(known["date"]))).days
    warnings = (
        [f"{FILE.name} is {age} days old: run make audit with a network"] if age > OLD_DAYS else []
    )
    checked = known["checked"]
    assert isinstance(checked, list)
    unknown = sorted(pins.keys() - set(checked))
    if unknown:
        shown = ", ".join(unknown[:5]) + (" …" if len(unknown) > 5 else "")
        warnings.append(f"{len(unknown)} locked versions were not checked yet: {shown}")
    return errors, warnings


def write(reports: list[Path], today: date) -> None:
    """Make the file anew from reports of pip-audit as JSON."""
    ignored = json.loads(FILE.read_text())["ignored"] if FILE.exists() else {}
    checked, advisories = set(), {}
    for report in reports:
        for one in json.loads(report.read_text())["dependencies"]:
            if "version" not in one:
                continue
            pin = f"{re.sub(r'[-_.]+', '-', one['name']).lower()}=={one['version']}"
            checked.add(pin)
            if one["vulns"]:
                advisories[pin] = sorted(vuln["id"] for vuln in one["vulns"])
    made = {
        "source": "PyPI's vulnerability data (OSV), read by pip-audit",
        "date": today.isoformat(),
        "ignored": ignored,
        "advisories": advisories,
        "checked": sorted(checked),
    }
    FILE.write_text(json.dumps(made, indent=1) + "\n")


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
