"""Eval sets in other tools' layouts, read back by the tools where they are here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from otel_rt4chart.bench.dataset import read_rows
from otel_rt4chart.verify.core.model import Exchange, Label, Passage
from rt4chart_clustering.evalset.case import CaseSource, EvalCase, LabelledClaim
from rt4chart_clustering.evalset.formats import FORMATS
from rt4chart_clustering.evalset.load import parse_cases

ANSWER = "The trial lasts 30 days. Dogs are welcome."
PASSAGES = (Passage("kb-1", "The trial lasts 14 days."), Passage("kb-2", "Dogs…"))
CASES = [
    EvalCase(
        "c1",
        Exchange("How long?", PASSAGES, ANSWER),
        (
            LabelledClaim("The trial lasts 30 days.", Label.CONTRADICTED, 0, 24),
            LabelledClaim("Dogs are welcome.", Label.ENTAILED, 25, 42),
        ),
        "00ab",
        CaseSource("a" * 32, "b" * 16, "shop", "support"),
        "The trial lasts 14 days.",
    ),
    EvalCase("c2", Exchange("Und Hunde? 🐕", (Passage("p1", "«Ja»\u2028"),), "Nein.")),
]


def test_our_own_rows_come_back() -> None:
    """Whatever separators of lines the texts hold."""
    (text,) = FORMATS["jsonl"](CASES, "set").values()

    assert parse_cases(text.encode().split(b"\n"), "set") == CASES


def test_ragtruth_s_layout_is_what_bench_reads(tmp_path: Path) -> None:
    """Questions, passages, answers and ranges are the same."""
    for name, text in FORMATS["ragtruth"](CASES, "set").items():
        (tmp_path / name).write_text(text)

    found = read_rows(tmp_path)

    assert [one.exchange.answer for one in found] == [ANSWER, "Nein."]
    assert [one.exchange.question for one in found] == ["How long?", "Und Hunde? 🐕"]
    assert [[tuple(span.range) for span in one.spans] for one in found] == [[(0, 24)], []]


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_every_layout_has_every_case_and_is_json(name: str) -> None:
    """A good answer stands where a person wrote one, and the wrong one never stands for it."""
    files = FORMATS[name](CASES, "set")

    whole = "\n".join(files.values())
    assert "How long?" in whole
    assert "Und Hunde? 🐕" in whole
    for file, text in files.items():
        rows = [text] if file.endswith(".json") else text.rstrip("\n").split("\n")
        assert {type(json.loads(row)) for row in rows} <= {dict, list}
    expected = [
        value
        for text in files.values()
        for key, value in _pairs(text)
        if key in ("expected_output", "expectedOutput", "reference")
    ]
    assert set(expected) <= {"The trial lasts 14 days.", None, ""}


def _pairs(text: str) -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []

    def keep(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found.extend(pairs)
        return dict(pairs)

    decoder = json.JSONDecoder(object_pairs_hook=keep)
    for row in [text] if text.startswith(("[", "{\n")) else text.rstrip("\n").split("\n"):
        decoder.decode(row)
    return found
