"""Exports labels as JSONL or CSV, in the fields that an import reads back."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.text import formula_escaped
from rt4chart_collector.core.times import iso
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.trusted_labels import LabelRow, labels_in


def export_labels(client: Client, scope: QueryScope, path: Path) -> int:
    """Write the current labels on claims of the scope, and return their number.

    InputError for a file that cannot be written, and for a suffix other than .jsonl and .csv.
    """
    if path.suffix not in (".jsonl", ".csv"):
        raise InputError(f"--export: expected a file .jsonl or .csv, got {path.name}")
    rows = [label_fields(label) for label in labels_in(client, scope)]
    try:
        with path.open("w", encoding="utf-8", newline="") as out:
            if path.suffix == ".csv":
                writer = csv.DictWriter(out, list(FIELDS))
                writer.writeheader()
                writer.writerows({name: _cell(row[name]) for name in FIELDS} for row in rows)
            else:
                out.writelines(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    except OSError as error:
        raise InputError(f"--export: cannot write {path}: {error.strerror}") from error
    return len(rows)


FIELDS = (
    *("id", "service", "route", "verifier", "claim_hash", "label", "status", "rater", "kind"),
    *("source", "blind", "note", "at", "judge_label", "confidence", "weight", "draw", "stratum"),
    *("probability", "rank", "rate"),
)


def label_fields(label: LabelRow) -> Mapping[str, object]:
    """A label as the values of a JSON object; the probability is that of the draw."""
    return {
        "id": label.id,
        "service": label.service,
        "route": label.route,
        "verifier": label.verifier,
        "claim_hash": label.text_hash,
        "label": label.label.value,
        "status": label.status,
        "rater": label.rater,
        "kind": label.kind.value,
        "source": label.source,
        "blind": label.is_blind,
        "note": label.note,
        "at": iso(label.at_ns),
        "judge_label": label.judge_label.value,
        "confidence": label.confidence,
        "weight": label.weight,
        "draw": label.draw,
        "stratum": label.stratum,
        "probability": label.probability,
        "rank": label.rank,
        "rate": label.rate,
    }


def _cell(value: object) -> object:
    return formula_escaped(value) if isinstance(value, str) else value
