"""Fit the local judge's heads: `python training/fit_local_judge.py DIR` writes weights.json.

DIR has RAGTruth's two-file layout. Only its `train` split is fitted on, out of fold by group;
its `dev` split is reported. Needs numpy, scipy and scikit-learn; the judge itself does not.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from edits import Source, edits
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import GroupKFold

from otel_rt4chart.bench.dataset import Row, read_rows
from otel_rt4chart.verify.decompose import decompose
from otel_rt4chart.verify.local.context import read_context
from otel_rt4chart.verify.local.features import FEATURES, read_claim
from otel_rt4chart.verify.local.slots import read_slots
from otel_rt4chart.verify.segment import segment, segment_passages

Floats = NDArray[np.float64]
TARGET = Path(__file__).parents[1] / "otel_rt4chart/verify/local/weights.json"
FOLDS = 5
PENALTIES = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
# What speaks for contradicted (+1) or for baseless (-1) once a claim is unfaithful; 0: unused.
CLASHES = {
    "number_clash", "date_clash", "name_clash", "negation_clash", "opposite", "term_clash",
    "quantifier_clash", "clash",
}  # fmt: skip
NOVELTIES = {
    "missing", "missing_count", "rarest_missing", "uncovered_best", "uncovered", "disorder",
    "uncopied", "unheard_of", "thin", "number_missing", "date_missing", "name_missing",
    "superlative_new", "cause_new", "pair_novelty",
}  # fmt: skip
# Thresholds this near the best are as good as it: their middle is taken.
NEAR_BEST = 0.01
MADE = "made"
SEED = 42


@dataclass(frozen=True, slots=True)
class Example:
    """One claim: `unfaithful` is None where the labels do not say which claim is meant."""

    dataset: str
    split: str
    group: str
    answer: str
    is_hallucinated: bool
    unfaithful: bool | None
    kind: str | None
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Fit:
    """A head: `oof` are the out-of-fold scores of the rows it was fitted on."""

    weights: Floats
    intercept: float
    slope: float
    offset: float
    oof: Floats

    def score(self, x: Floats) -> Floats:
        """The raw score of each row."""
        return np.asarray(x @ self.weights + self.intercept)

    def probability(self, score: Floats) -> Floats:
        """Calibrated."""
        return np.asarray(1.0 / (1.0 + np.exp(-(self.slope * score + self.offset))))


def examples(row: Row) -> list[Example]:
    """A row's claims with their features; a claim that meets a span is unfaithful."""
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


def made_examples(rows: Sequence[Row]) -> list[Example]:
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


def balance(datasets: Sequence[str], y: NDArray[np.bool_]) -> Floats:
    """Weights under which every class of every data set weighs the same."""
    names = np.array(datasets)
    weights = np.zeros(len(y))
    for name in set(datasets):
        for value in (False, True):
            chosen = (names == name) & (y == value)
            if chosen.any():
                weights[chosen] = 1.0 / chosen.sum()
    return np.asarray(weights / weights.sum())


def solve(x: Floats, y: NDArray[np.bool_], w: Floats, l2: float, signs: Floats) -> Floats:
    """Logistic regression whose weights keep their signs; the last value is the intercept."""

    def loss(p: Floats) -> tuple[float, Floats]:
        z = x @ p[:-1] + p[-1]
        error = w * (1.0 / (1.0 + np.exp(-z)) - y)
        value = float((w * (np.logaddexp(0.0, z) - y * z)).sum() + l2 * (p[:-1] ** 2).sum())
        return value, np.append(x.T @ error + 2 * l2 * p[:-1], error.sum())

    bounds = [
        (0.0 if sign >= 0 else None, 0.0 if sign <= 0 else None) if sign == 0
        else ((0.0, None) if sign > 0 else (None, 0.0))
        for sign in signs
    ]  # fmt: skip
    start = np.zeros(x.shape[1] + 1)
    solved = minimize(loss, start, jac=True, bounds=[*bounds, (None, None)], method="L-BFGS-B")
    return np.asarray(solved.x)


def fit(
    x: Floats, y: NDArray[np.bool_], datasets: Sequence[str], groups: Sequence[str], signs: Floats
) -> Fit:
    """The penalty with the best out-of-fold loss, the fit on all rows, and its calibration."""
    w = balance(datasets, y)
    best_loss, best_l2, oof = np.inf, PENALTIES[0], np.zeros(len(y))
    for l2 in PENALTIES:
        z = np.zeros(len(y))
        for inside, outside in GroupKFold(FOLDS).split(x, groups=groups):
            p = solve(x[inside], y[inside], w[inside] / w[inside].sum(), l2, signs)
            z[outside] = x[outside] @ p[:-1] + p[-1]
        loss = float((w * (np.logaddexp(0.0, z) - y * z)).sum())
        if loss < best_loss:
            best_loss, best_l2, oof = loss, l2, z
    p = solve(x, y, w, best_l2, signs)
    weights = np.where(np.abs(p[:-1]) < 0.005, 0.0, p[:-1])
    platt = solve(oof[:, None], y, w, 0.0, np.ones(1))
    return Fit(weights, float(p[-1]), float(platt[0]), float(platt[1]), oof)


def answer_table(
    rows: Sequence[Example], probabilities: Floats
) -> dict[str, tuple[NDArray[np.bool_], Floats]]:
    """By data set: each answer's label and the highest probability of its claims."""
    highest: dict[tuple[str, str], tuple[bool, float]] = {}
    for example, probability in zip(rows, probabilities, strict=True):
        key = (example.dataset, example.answer)
        highest[key] = (
            example.is_hallucinated,
            max(float(probability), highest.get(key, (False, 0.0))[1]),
        )
    return {
        name: (
            np.array([label for (dataset, _), (label, _) in highest.items() if dataset == name]),
            np.array([top for (dataset, _), (_, top) in highest.items() if dataset == name]),
        )
        for name in sorted({dataset for dataset, _ in highest})
    }


def best_threshold(table: dict[str, tuple[NDArray[np.bool_], Floats]]) -> float:
    """By the balanced accuracy of answers, averaged over the data sets and smoothed."""
    tried = np.round(np.arange(0.30, 0.75, 0.01), 2)
    means = [
        np.mean([balanced_accuracy_score(y, top >= at) for y, top in table.values()])
        for at in tried
    ]
    smooth = np.convolve(means, np.ones(3) / 3, mode="valid")
    return round(float(np.mean(tried[1:-1][smooth >= smooth.max() - NEAR_BEST])), 2)


def report(
    title: str, table: dict[str, tuple[NDArray[np.bool_], Floats]], threshold: float
) -> dict[str, dict[str, float]]:
    """Print and return the figures by data set."""
    figures = {}
    for name, (y, top) in table.items():
        figures[name] = {
            "answers": len(y),
            "balanced_accuracy": round(float(balanced_accuracy_score(y, top >= threshold)), 3),
            "auroc": round(float(roc_auc_score(y, top)), 3),
        }
        print(title, name, figures[name])
    return figures


def fit_kinds(rows: Sequence[Example], x: Floats) -> tuple[Fit, float]:
    """Contradicted against baseless, on the unfaithful claims that carry either label."""
    at = np.array([i for i, one in enumerate(rows) if one.unfaithful and one.kind is not None])
    chosen = [rows[i] for i in at]
    y = np.array([one.kind == "contradicted" for one in chosen])
    signs = np.array([(name in CLASHES) * 1.0 - (name in NOVELTIES) * 1.0 for name in FEATURES])
    datasets = [one.dataset for one in chosen]
    head = fit(x[at], y, datasets, [one.group for one in chosen], signs)
    p, w = head.probability(head.oof), balance(datasets, y)
    tried = np.round(np.arange(0.3, 0.71, 0.01), 2)
    scores = [balanced_accuracy_score(y, p >= one, sample_weight=w) for one in tried]
    threshold = float(tried[int(np.argmax(scores))])
    for name in sorted(set(datasets)):
        of = np.array([one == name for one in datasets])
        print("kind, out of fold", name, int(of.sum()), "claims: balanced accuracy",
              round(float(balanced_accuracy_score(y[of], p[of] >= threshold)), 3),
              "auroc", round(float(roc_auc_score(y[of], p[of])), 3))  # fmt: skip
    return head, threshold


def as_json(head: Fit, threshold: float) -> dict[str, object]:
    """A head as it is shipped; a feature without weight is left out."""
    return {
        "weights": {
            name: round(float(weight), 4)
            for name, weight in zip(FEATURES, head.weights, strict=True)
            if weight
        },
        "intercept": round(head.intercept, 4),
        "slope": round(head.slope, 4),
        "offset": round(head.offset, 4),
        "threshold": threshold,
    }


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
    kinds, kind_threshold = fit_kinds(known, x)
    fitted = {
        "about": "logistic heads on the features of the local judge; weights keep their signs",
        "fitted_on": {
            "split": "train",
            "claims": {name: datasets.count(name) for name in sorted(set(datasets))},
        },
        "unfaithful": as_json(head, threshold),
        "contradicted": as_json(kinds, kind_threshold),
        "answer_figures": figures,
    }
    TARGET.write_text(json.dumps(fitted, indent=1) + "\n", "utf-8")
    print(json.dumps({key: fitted[key] for key in ("unfaithful", "contradicted")}, indent=1))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
