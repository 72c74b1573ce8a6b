"""The page that compares judges: made from runs, and the published tables as they were printed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.judge.tables import as_markdown
from benchmarks.protocol.__main__ import PAPER, main
from benchmarks.protocol.paper import PUBLISHED

ROOT = Path(__file__).parents[3]
BUNDLED = ROOT / "tests/data/bench"


def test_the_page_has_the_judges_figures_beside_the_published_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Made twice, nothing is judged again and the figures are the same."""
    out = tmp_path / "page.md"
    called = ["-", f"own={BUNDLED}", "--judges", "rules", "--results", str(tmp_path / "r")]
    monkeypatch.setattr(sys, "argv", [*called, "--out", str(out)])

    assert main() == 0
    first = out.read_text("utf-8")
    verdicts = (tmp_path / "r/own-rules.jsonl").read_text()
    assert main() == 0

    assert "| own: rules | 6 | 1.000 | 1.000 | 1.000 | 1.000 |" in first
    assert "| own: flag all | 6 | 0.500 | 1.000 | 0.667 | 0.500 |" in first
    assert "without global" in first
    assert out.read_text("utf-8") == first
    assert (tmp_path / "r/own-rules.jsonl").read_text() == verdicts


def test_notes_are_true_of_the_judges_on_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What holds for the embedded judges is not said of another one."""
    out = tmp_path / "page.md"
    called = ["-", f"own={BUNDLED}", "--judges", "rules,heuristic", "--results", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", [*called, "--out", str(out)])

    assert main() == 0
    page = out.read_text("utf-8")

    assert "rules: read the whole context themselves" in page
    assert "These judges" not in page
    assert "Of the whole answer alone, without spans: heuristic." in page
    assert "| own: heuristic | 6 | 0.750 | 1.000 | 0.857 | 0.833 | – | – | – |" in page


def test_the_documentation_has_the_published_tables_as_they_are_here() -> None:
    """Under a heading that says that none is reproduced."""
    written = (ROOT / "docs/understand/judges-compared.md").read_text("utf-8")

    published = written.partition(PAPER.strip())[2]
    assert all(as_markdown(table).strip() in published for table in PUBLISHED)


def test_published_f1_is_that_of_its_precision_and_recall() -> None:
    """To the rounding of three decimals: a typing error would stand out."""
    off = []
    for table in PUBLISHED:
        for row in table.rows:
            precision, recall, f1 = (float(cell) for cell in row[-3:] if cell is not None)
            expected = 2 * precision * recall / (precision + recall)
            if abs(expected - f1) > 0.0021:
                off.append((table.title, row, round(expected, 4)))

    assert off == []
