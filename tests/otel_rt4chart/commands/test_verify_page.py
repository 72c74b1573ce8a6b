"""docs/start/verify-a-file.md says what `rt4chart verify` does."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from otel_rt4chart.cli import main
from otel_rt4chart.verify.core.json_rows import NAMES
from otel_rt4chart.verify.findings import stale

PAGE = (Path(__file__).parents[3] / "docs/start/verify-a-file.md").read_text()


def lasting(row: dict[str, Any]) -> dict[str, Any]:
    """A row without what another machine, or the next version of the judge, tells otherwise."""
    row["usage"].pop("milliseconds")
    row["claims"][0].pop("confidence")
    return row | {"judge": row["judge"].partition("-")[0]}


def test_the_row_that_the_page_shows_comes_out_as_it_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Row, verdict and summary."""
    given, shown = re.findall(r"```json\n(.*?)\n```", PAGE, flags=re.DOTALL)
    (summary,) = re.findall(r"```text\n(.*?)```", PAGE, flags=re.DOTALL)
    (tmp_path / "in.jsonl").write_text(given)

    assert main(["verify", str(tmp_path / "in.jsonl")]) == 0

    printed = capsys.readouterr()
    assert lasting(json.loads(printed.out)) == lasting(json.loads(shown))
    assert printed.err == summary


def test_every_name_of_a_field_and_every_key_is_on_the_page() -> None:
    """Also the metadata that tell stale sources."""
    keys = (*stale._DOCUMENT, *stale._ENDS, *stale._UPDATED, *stale._NOT_IN_FORCE)
    names = [name for names in NAMES.values() for name in names]

    assert [name for name in (*names, *keys) if f"`{name}`" not in PAGE] == []


def test_every_option_is_on_the_page_and_the_help_names_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Somebody who asks for help finds the format."""
    with pytest.raises(SystemExit):
        main(["verify", "--help"])
    shown = capsys.readouterr().out

    options = set(re.findall(r"--[a-z-]+", shown)) - {"--help"}
    assert [option for option in options if not re.search(f"`{option}[ `]", PAGE)] == []
    assert "docs/start/verify-a-file.md" in shown
    assert '"contexts"' in shown
