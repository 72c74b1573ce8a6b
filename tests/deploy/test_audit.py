"""The vulnerability check that needs no network."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from datetime import date
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("audit", ROOT / ".ci/audit.py")
assert _spec is not None
assert _spec.loader is not None
audit = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(audit)

KNOWN = {
    "date": "2026-11-01",
    "ignored": {"GHSA-2": "not reached"},
    "fixed_in": {"a": {"GHSA-4": "1.10"}},
    "advisories": {"b==2": ["GHSA-1", "GHSA-2"], "gone==1": ["GHSA-3"]},
    "checked": ["a==1", "b==2", "gone==1"],
}
PINS = {"a==1": {"requirements.lock"}, "b==2": {"requirements.lock", "requirements-docs.lock"}}


def test_vulnerable_version_is_an_error() -> None:
    """With its locks and its advisory; one that is ignored, or not locked, is none."""
    errors, warnings = audit.problems(KNOWN, PINS, date(2026, 11, 30))

    error, too_old = errors
    assert too_old.startswith("a==1 (requirements.lock): GHSA-4; update it")
    assert error.startswith("b==2 (requirements-docs.lock, requirements.lock): GHSA-1; update it")
    assert warnings == []


def test_old_file_and_new_versions_are_warnings() -> None:
    """The check says what it does not know, and fails nothing for it."""
    pins = {"a==1.10": {"requirements.lock"}, "new==3": {"requirements.lock"}}
    known = {**KNOWN, "checked": ["a==1.10"]}

    errors, warnings = audit.problems(known, pins, date(2026, 12, 2))

    assert errors == []
    assert warnings == [
        "advisories.json is 31 days old: run make audit with a network",
        "1 locked versions were not checked yet: new==3",
    ]


def test_report_becomes_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was ignored stays so."""
    file, report = tmp_path / "advisories.json", tmp_path / "report.json"
    file.write_text(json.dumps(KNOWN))
    vulnerable = {"name": "B_x", "version": "2", "vulns": [{"id": "GHSA-9"}]}
    skipped = {"name": "local", "skip_reason": "not on PyPI"}
    report.write_text(json.dumps({"dependencies": [vulnerable, skipped]}))
    monkeypatch.setattr(audit, "FILE", file)
    monkeypatch.setattr(sys, "argv", ["audit.py", "--write", str(report)])

    status = audit.main()
    report.write_text(json.dumps({"dependencies": [skipped]}))
    audit.main()

    found = json.loads(file.read_text())
    assert status == 0
    assert (found["advisories"], found["checked"]) == ({"b-x==2": ["GHSA-9"]}, ["b-x==2"])
    assert found["ignored"] == KNOWN["ignored"]


def test_locks_have_a_hash_for_every_version() -> None:
    """Otherwise `--require-hashes` would fail, or somebody would leave it out."""
    for lock in ROOT.glob("requirements*.lock"):
        for pinned in re.split(r"\n(?=[A-Za-z0-9])", lock.read_text().strip()):
            assert "--hash=sha256:" in pinned, (lock.name, pinned[:60])
    assert "a==1" not in audit.locked()
    assert any(pin.startswith("starlette==") for pin in audit.locked())


def test_image_is_pinned_by_digest_and_installs_by_hash() -> None:
    """The base by its digest; every package that comes from outside with a hash."""
    text = (ROOT / "collector/deploy/Dockerfile").read_text().replace("\\\n", " ")

    assert re.search(r"^ARG PYTHON_IMAGE=python:3\.\d+-slim@sha256:[0-9a-f]{64}$", text, re.M)
    assert set(re.findall(r"^FROM (\S+)", text, re.M)) == {"${PYTHON_IMAGE}"}
    installs = re.findall(r"pip install ([^&\n]*)", text)
    assert len(installs) == 3
    assert all(re.search("--require-hashes|--no-index", one) for one in installs)
