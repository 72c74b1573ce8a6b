"""Rows in RAGTruth's own form: label types, and the annotators' notes that quote the source."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

SOURCE = "The free trial lasts 14 days.\nRefunds are paid within a week. Dogs are welcome."


def conflict(start: int, end: int, quote: str, kind: str = "Evident Conflict") -> dict[str, object]:
    """A marked conflict with the note that RAGTruth's annotators write."""
    note = f"EVIDENT CONFLICT\nOriginal: {quote}\nGenerative: whatever it says"
    return {"start": start, "end": end, "label_type": kind, "meta": note}


ROWS: tuple[Mapping[str, object], ...] = (
    {"id": "1", "response": "The free trial lasts 30 days.",
     "labels": [conflict(21, 28, '"the free trial   lasts 14 days"')]},
    {"id": "2", "response": "Refunds are paid within a month.",
     "labels": [conflict(24, 31, "paid within ... a week", "Subtle Conflict")]},
    {"id": "3", "response": "The pool is heated.",
     "labels": [{"start": 4, "end": 18, "label_type": "Evident Baseless Info",
                 "meta": "HIGH INTRO\nOriginal: This is not mentioned in the source content."}]},
    {"id": "4", "response": "Dogs are welcome.", "labels": []},
)  # fmt: skip


def write_rows(folder: Path) -> Path:
    """The rows as files of that layout."""
    source = {"source_id": "s", "task_type": "Summary", "source_info": SOURCE}
    (folder / "source_info.jsonl").write_text(json.dumps(source) + "\n")
    rows = [json.dumps({"source_id": "s", "split": "test", **row}) for row in ROWS]
    (folder / "response.jsonl").write_text("\n".join(rows) + "\n")
    return folder
