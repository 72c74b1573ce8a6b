"""Logistic heads over named values: signs kept, penalties chosen out of fold, calibrated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import GroupKFold

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Table = Mapping[str, tuple[Bools, Floats]]  # by data set: each answer's label and score
FOLDS = 5
PENALTIES = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
# Thresholds this near the best are as good as it: their middle is taken.
NEAR_BEST = 0.01


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


def balance(datasets: Sequence[str], y: Bools) -> Floats:
    """Weights under which every class of every data set weighs the same."""
    names = np.array(datasets)
    weights = np.zeros(len(y))
    for name in set(datasets):
        for value in (False, True):
            chosen = (names == name) & (y == value)
            if chosen.any():
                weights[chosen] = 1.0 / chosen.sum()
    return np.asarray(weights / weights.sum())


def solve(x: Floats, y: Bools, w: Floats, l2: float, signs: Floats) -> Floats:
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


def fit(x: Floats, y: Bools, datasets: Sequence[str], groups: Sequence[str], signs: Floats) -> Fit:
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


def answer_table(rows: Sequence[Example], probabilities: Floats) -> dict[str, tuple[Bools, Floats]]:
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


def best_threshold(table: Table) -> float:
    """By the balanced accuracy of answers, averaged over the data sets and smoothed."""
    tried = np.round(np.arange(0.30, 0.75, 0.01), 2)
    means = [
        np.mean([balanced_accuracy_score(y, top >= at) for y, top in table.values()])
        for at in tried
    ]
    smooth = np.convolve(means, np.ones(3) / 3, mode="valid")
    return round(float(np.mean(tried[1:-1][smooth >= smooth.max() - NEAR_BEST])), 2)


def report(title: str, table: Table, threshold: float) -> dict[str, dict[str, float]]:
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


def fit_kinds(rows: Sequence[Example], x: Floats, signs: Floats) -> tuple[Fit, float]:
    """Contradicted against baseless, on the unfaithful claims that carry either label."""
    at = np.array([i for i, one in enumerate(rows) if one.unfaithful and one.kind is not None])
    chosen = [rows[i] for i in at]
    y = np.array([one.kind == "contradicted" for one in chosen])
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


def as_json(head: Fit, names: Sequence[str], threshold: float) -> dict[str, object]:
    """A head as it is shipped; a feature without weight is left out."""
    return {
        "weights": {
            name: round(float(weight), 4)
            for name, weight in zip(names, head.weights, strict=True)
            if weight
        },
        "intercept": round(head.intercept, 4),
        "slope": round(head.slope, 4),
        "offset": round(head.offset, 4),
        "threshold": threshold,
    }
