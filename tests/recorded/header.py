"""The header of an application: its pinned packages and its environment (PEP 723)."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

APPS = Path(__file__).parent / "apps"
NAMES = tuple(sorted(path.stem for path in APPS.glob("*.py")))
BLOCK = re.compile(r"^# /// script\n((?:#.*\n)+?)# ///$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Header:
    """`pins` are requirements with exact versions, `environment` variables that must be set."""

    pins: tuple[str, ...]
    environment: dict[str, str]


def header(name: str) -> Header:
    """The header of the application of this name."""
    found = BLOCK.search((APPS / f"{name}.py").read_text())
    if found is None:
        raise ValueError(f"{name}.py: expected a '# /// script' block at the top")
    told = tomllib.loads(re.sub(r"^# ?", "", found[1], flags=re.MULTILINE))
    recorded = told.get("tool", {}).get("recorded", {})
    return Header(tuple(told["dependencies"]), dict(recorded.get("environment", {})))
