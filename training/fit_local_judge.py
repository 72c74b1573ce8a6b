"""Fit the local judge's heads: `python training/fit_local_judge.py DIR` writes weights.json.

DIR has RAGTruth's two-file layout. Only its `train` split is fitted on, out of fold by group;
its `dev` split is reported. Needs numpy, scipy and scikit-learn; the judge itself does not.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from edits import Source, edits
from heads import Example, answer_table, as_json, best_threshold, fit, fit_kinds, report
from pairs import MADE

from otel_rt4chart.bench.dataset import LabelledAnswer, read_rows
from otel_rt4chart.verify.decompose.rules import decompose
from otel_rt4chart.verify.language.slots import read_context, read_slots
from otel_rt4chart.verify.local.features import FEATURES, read_claim
from otel_rt4chart.verify.text.segment import segment, segment_passages

TARGET = Path(__file__).parents[1] / "otel_rt4chart/verify/local/weights.json"
# What speaks for contradicted (+1) or for baseless (-1) once a claim is unfaithful; 0: unused.
CLASHES = {
    "number_clash", "date_clash", "name_clash", "negation_clash", "opposite", "term_clash",
    "sibling_clash", "quantifier_clash", "clash",
}  # fmt: skip
NOVELTIES = {
    "missing", "missing_count", "rarest_missing", "uncovered_best", "uncovered", "disorder",
    "uncopied", "unheard_of", "thin", "number_missing", "date_missing", "name_missing",
    "superlative_new", "cause_new", "pair_novelty",
}  # fmt: skip
SEED = 42


def examples(row: LabelledAnswer) -> list[Example]:
    """A row's claims with their features; a claim that matches a span is unfaithful."""
    context = read_context([one.text for one in segment_passages(row.exchange.passages)])
    drafts = [one for one in decompose(segment(row.exchange.answer)) if one.is_claim]
    found = []
    for draft in drafts:
        kinds = {
            span.kind
            for span in row.spans
            if span.range.start < draft.range.end and draft.range.start < span.range.end
        }
        unfaithful: bool | None = bool(kinds)
        kind: str | None = next((one for one in ("contradicted", "baseless") if one in kinds), None)
        if row.is_hallucinated and not row.spans:
            unfaithful = True if len(drafts) == 1 else None
            kind = row.label.value if row.label and len(drafts) == 1 else None
        values = read_claim(read_slots(draft.text), context).values
        about = (row.dataset, row.split, row.group, row.id, row.is_hallucinated)
        found.append(Example(*about, unfaithful, kind, values))
    return found


def made_examples(rows: Sequence[LabelledAnswer]) -> list[Example]:
    """Claims made from the training contexts, one set of edits a source, under its group."""
    sources = {row.source_id: row for row in rows if row.split == "train"}
    chance = random.Random(SEED)
    texts = {
        source_id: [one.text for one in segment_passages(row.exchange.passages)]
        for source_id, row in sources.items()
    }
    found = []
    for source_id, row in sources.items():
        other = chance.choice([one for one in sources if sources[one].group != row.group])
        context = read_context(texts[source_id])
        for edit in edits(Source(texts[source_id], texts[other]), chance):
            about = (MADE, "train", row.group, source_id, edit.label != "entailed")
            kind = edit.label if edit.label != "entailed" else None
            values = read_claim(read_slots(edit.text), context).values
            found.append(Example(*about, edit.label != "entailed", kind, values))
    return found


def main(folder: Path) -> None:
    """Fit both heads on `train`, report `dev`, write the weights."""
    labelled = read_rows(folder)
    everything = [example for row in labelled for example in examples(row)]
    everything += made_examples(labelled)
    rows = [one for one in everything if one.split == "train"]
    dev = [one for one in everything if one.split == "dev"]
    known = [one for one in rows if one.unfaithful is not None]
    x = np.array([one.values for one in known])
    y = np.array([bool(one.unfaithful) for one in known])
    datasets, groups = [one.dataset for one in known], [one.group for one in known]
    head = fit(x, y, datasets, groups, np.ones(len(FEATURES)))
    table = answer_table(known, head.probability(head.oof))
    made = table.pop(MADE)
    report("made claims by source, out of fold", {MADE: made}, 0.5)
    threshold = best_threshold(table)
    figures = {"train_out_of_fold": report("train, out of fold", table, threshold)}
    seen = head.probability(head.score(np.array([one.values for one in dev])))
    figures["dev"] = report("dev", answer_table(dev, seen), threshold)
    signs = np.array([(name in CLASHES) * 1.0 - (name in NOVELTIES) * 1.0 for name in FEATURES])
    kinds, kind_threshold = fit_kinds(known, x, signs)
    fitted = {
        "about": "logistic heads on the features of the local judge; weights keep their signs",
        "fitted_on": {
            "split": "train",
            "claims": {name: datasets.count(name) for name in sorted(set(datasets))},
        },
        "unfaithful": as_json(head, FEATURES, threshold),
        "contradicted": as_json(kinds, FEATURES, kind_threshold),
        "answer_figures": figures,
    }
    TARGET.write_text(json.dumps(fitted, indent=1) + "\n", "utf-8")
    print(json.dumps({key: fitted[key] for key in ("unfaithful", "contradicted")}, indent=1))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
