"""How far the raters of stored labels agree."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from heapq import nsmallest

from otel_rt4chart.verify.rates.agreement import Agreement, agreement_by_rater, krippendorff_alpha
from rt4chart_collector.store.engine.columns import ClaimKey
from rt4chart_collector.store.labels.trusted_labels import GivenLabel, LabelRow

# Each rater of a claim is compared with each other one: of a claim with more, the first by name.
MAX_RATERS = 20


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """How far raters agree on the claims that two or more of them labelled.

    `by_rater` has Cohen's kappa of each with all others.
    """

    alpha: Agreement
    by_rater: Mapping[str, Agreement]
    labels: Mapping[str, int]

    @property
    def poor_raters(self) -> list[str]:
        """The raters whose agreement is no better than fair: they may label at random."""
        return [name for name, found in self.by_rater.items() if found.is_poor]


def rater_agreement(labels: Iterable[LabelRow]) -> RaterAgreement:
    """The agreement of the raters of these labels; claims that somebody skipped count without.

    Of a claim, at most `MAX_RATERS` are compared.
    """
    given: defaultdict[tuple[str, ClaimKey], dict[str, str]] = defaultdict(dict)
    counts: Counter[str] = Counter()
    for label in labels:
        if label.label is not GivenLabel.SKIPPED:
            given[label.verifier, label.claim_key][label.rater] = label.label
            counts[label.rater] += 1
    names = {
        f"{verifier}\0{key}": {name: by[name] for name in nsmallest(MAX_RATERS, by)}
        for (verifier, key), by in given.items()
    }
    alpha = krippendorff_alpha([tuple(by.values()) for by in names.values()])
    return RaterAgreement(alpha, agreement_by_rater(names), dict(sorted(counts.items())))
