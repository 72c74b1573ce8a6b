"""What a system's confidence is worth: calibration, risk against coverage, and escalation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from benchmarks.judge.figures import (
    Bin,
    balancing,
    calibration_error,
    cut,
    kept_error,
    reliability,
    risks,
)
from benchmarks.judge.gold import KnownClaim, known_claims, telling
from benchmarks.judge.sections import Runs
from benchmarks.judge.tables import Cell, Table
from otel_rt4chart.bench.tables import THRESHOLDS
from otel_rt4chart.verify.core.cascade import threshold_for_error
from otel_rt4chart.verify.core.model import Label

KEPT = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3)
TARGETS = (0.10, 0.15, 0.20, 0.25)
OWN, BALANCED = "own", "balanced"


def calibration(runs: Runs) -> Table:
    """How far the probabilities are from what came true."""
    head = ("rates", "system", "claims", "wrong", "ECE P(unfaithful)", "ECE confidence", "right",
            "told claims", "ECE confidence, three labels")  # fmt: skip
    note = (
        "Expected calibration error in ten bins of equal mass. Rates: the data's own, or both"
        " classes alike in every data set and every data set alike. Right: share of the decided"
        " claims' labels, told as unfaithful or not; three labels: where people told them."
    )
    known = {name: known_claims(judged) for name, judged in runs.items()}
    told = {name: telling(one.row for one in judged) for name, judged in runs.items()}
    rows = [
        (rates, name, *_calibration_row(claims, told[name], is_balanced=rates == BALANCED))
        for rates in (OWN, BALANCED)
        for name, claims in known.items()
    ]
    return Table("4. Calibration of claims", note, head, rows)


def _calibration_row(
    known: Sequence[KnownClaim], told_sets: frozenset[str], *, is_balanced: bool
) -> Sequence[Cell]:
    decided = [one for one in known if one.said.label.is_decided]
    told = [one for one in decided if one.dataset in told_sets and one.kind is not None]
    weights = _weights(decided, is_balanced=is_balanced)
    right = [not one.is_error for one in decided]
    share = sum(w for w, one in zip(weights, right, strict=True) if one) / (sum(weights) or 1)
    sure = [one.confidence for one in decided]
    named = reliability(
        [one.confidence for one in told],
        [one.said.label is one.kind for one in told],
        _weights(told, is_balanced=is_balanced),
    )
    return (
        len(known), sum(one.is_wrong for one in known),
        calibration_error(_doubts(known, is_balanced=is_balanced)),
        calibration_error(reliability(sure, right, weights)), share,
        len(told), calibration_error(named),
    )  # fmt: skip


def _doubts(known: Sequence[KnownClaim], *, is_balanced: bool) -> list[Bin]:
    return reliability(
        [one.said.unfaithful for one in known],
        [one.is_wrong for one in known],
        _weights(known, is_balanced=is_balanced),
    )


def _weights(known: Sequence[KnownClaim], *, is_balanced: bool) -> list[float]:
    if not is_balanced:
        return [1.0] * len(known)
    return balancing([(one.dataset, one.is_wrong) for one in known])


def bins(runs: Runs) -> Table:
    """The reliability behind the calibration errors."""
    head = ("rates", "system", "bin", "claims", "P(unfaithful)", "are unfaithful")
    note = "From the claims least thought to be unfaithful to the most; equal ones in one bin."
    known = {name: known_claims(judged) for name, judged in runs.items()}
    rows = [
        (rates, name, number, one.n, one.said, one.true)
        for rates in (OWN, BALANCED)
        for name, claims in known.items()
        for number, one in enumerate(_doubts(claims, is_balanced=rates == BALANCED), start=1)
    ]
    return Table("4b. Reliability of claims", note, head, rows)


def decisions(runs: Runs) -> Table:
    """How much each system leaves undecided, and how often each of its labels is right."""
    head = ("rates", "system", "claims", "undecided", "entailed", "right", "flagged", "right",
            "contradicted", "unfaithful", "contradicted, as told")  # fmt: skip
    note = (
        "Shares of claims; rates as in 4. Right: of the claims called entailed those that are, of"
        " the flagged ones those that are unfaithful. Of those called contradicted: how many are"
        " unfaithful, and, where people told both labels, how many they call contradicted."
    )
    rows: list[Sequence[Cell]] = []
    for rates in (OWN, BALANCED):
        for name, judged in runs.items():
            known = known_claims(judged)
            weights = _weights(known, is_balanced=rates == BALANCED)
            rows.append((rates, name, len(known), *_decisions(known, weights)))
    return Table("4c. Decisions on claims", note, head, rows)


def _decisions(known: Sequence[KnownClaim], weights: Sequence[float]) -> Iterator[Cell]:
    weighted = list(zip(known, weights, strict=True))
    total = sum(weights) or 1.0

    def share(of: Sequence[tuple[KnownClaim, float]], right: Callable[[KnownClaim], bool]) -> Cell:
        mass = sum(weight for _, weight in of)
        return sum(weight for one, weight in of if right(one)) / mass if mass else None

    groups = {
        "undecided": [one for one in weighted if not one[0].said.label.is_decided],
        "entailed": [one for one in weighted if one[0].said.label is Label.ENTAILED],
        "flagged": [one for one in weighted if one[0].said.label.is_unfaithful],
        "contradicted": [one for one in weighted if one[0].said.label is Label.CONTRADICTED],
    }
    for name, group in groups.items():
        yield sum(weight for _, weight in group) / total
        if name != "undecided":
            yield share(group, lambda one: one.is_wrong == one.said.label.is_unfaithful)
    told = [one for one in groups["contradicted"] if one[0].kind is not None]
    yield share(told, lambda one: one.kind is Label.CONTRADICTED)


def coverage_risk(runs: Runs) -> Table:
    """The error of the surest claims."""
    head = ("system", "claims", *(f"keep {share:.0%}" for share in KEPT), "AURC")
    note = (
        "Share of wrong labels (unfaithful or not) among the claims kept, the surest first; what"
        " is undecided comes last. AURC: the mean over all shares."
    )
    rows: list[Sequence[Cell]] = []
    for name, judged in runs.items():
        known = known_claims(judged)
        risk = risks([one.confidence for one in known], [one.is_error for one in known])
        area = float(risk.mean()) if len(risk) else None
        rows.append((name, len(known), *(kept_error(risk, share) for share in KEPT), area))
    return Table("5. Risk against coverage of claims", note, head, rows)


def escalation(runs: Runs) -> Table:
    """What a cascade before a second judge that is always right would leave."""
    head = ("system", "target", "threshold", "claims", "escalated", "error of the kept",
            "error left")  # fmt: skip
    note = (
        "Claims under the threshold go on to a second judge that is always right; error left is"
        " over all claims. A target is the error of the kept, and its threshold the lowest that"
        " meets it on these very claims; without one none does, and all go on."
    )
    rows = [row for name, judged in runs.items() for row in _levels(name, known_claims(judged))]
    return Table("5b. A cascade before an oracle", note, head, rows)


def _levels(name: str, known: Sequence[KnownClaim]) -> Iterator[Sequence[Cell]]:
    sure = [one.confidence for one in known]
    wrong = [one.is_error for one in known]
    judged = [(one.confidence, not one.is_error) for one in known if one.said.label.is_decided]
    for threshold in THRESHOLDS:
        found = cut(sure, wrong, threshold)
        yield name, None, threshold, len(known), *found[1:]
    for target in TARGETS:
        found = cut(sure, wrong, threshold_for_error(judged, target))
        is_met = found.kept_error is not None and found.kept_error <= target
        yield name, target, *((found[0], len(known), *found[1:]) if is_met else _none_met(known))


def _none_met(known: Sequence[KnownClaim]) -> Sequence[Cell]:
    return None, len(known), 1.0, None, 0.0
