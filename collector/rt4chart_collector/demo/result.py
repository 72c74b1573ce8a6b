"""The result of a demo run as values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple, dataclass

from otel_rt4chart.verify import Label
from otel_rt4chart.verify.core.model import reaches
from otel_rt4chart.verify.core.rates import AnswerSums, claim_rate, rank_correlation
from rt4chart_collector.demo.incident import Incident
from rt4chart_collector.demo.labels import LabelAgreement
from rt4chart_collector.demo.people import CorrectedLine
from rt4chart_collector.store.answers.answers import StoredAnswer
from rt4chart_collector.store.rates.claim_rates import RouteSums

# A verdict near the threshold would not make a good example.
CONFIDENT = 0.6


@dataclass(frozen=True, slots=True)
class RouteLine:
    """One row of the table; shares are of decided claims; `people` is the share labelled wrong.

    `undecided` is the share of all claims, decided or not.
    """

    route: str
    answers: int
    claims: int
    contradicted: float | None
    baseless: float | None
    rate: float | None
    low: float | None
    high: float | None
    people: float | None
    misleading: float | None = None
    undecided: float | None = None


@dataclass(frozen=True, slots=True)
class IssueLine:
    """One issue with its first example: a claim and a sentence of the passages.

    `is_evidence` is False if no sentence contradicts the claim; `sentence` is then the nearest.
    `claimed` and `found` are the words of the two in which they differ.
    """

    id: str
    title: str
    claims: int
    claim: str
    sentence: str
    is_evidence: bool
    claimed: tuple[str, ...] = ()
    found: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KindLine:
    """Written sentences of one kind of error, or faithful ones, by what the judge says of them.

    `otherwise` were flagged, and for another reason or with other words than the truth.
    """

    family: str
    kind: str
    sentences: int
    right: int
    undecided: int
    missed: int
    otherwise: int
    false_alarms: int


@dataclass(frozen=True, slots=True)
class ApplicationResult:
    """What the help desk's service shows; `kinds` are of its written answers, each once."""

    incident: Incident
    routes: tuple[RouteLine, ...]
    kinds: tuple[KindLine, ...]


@dataclass(frozen=True, slots=True)
class DemoResult:
    """Everything that the report shows; routes and labels are those of the public rows.

    `rank_correlation` is Spearman's, between our rates and those of the human labels, and
    `corrected_rank_correlation` the same of the rates that a few of these labels correct.
    """

    routes: tuple[RouteLine, ...]
    total: RouteLine
    agreement: LabelAgreement
    issues: tuple[IssueLine, ...]
    example: StoredAnswer | None
    dsn: str
    rank_correlation: float | None
    corrected: tuple[CorrectedLine, ...] = ()
    corrected_rank_correlation: float | None = None
    application: ApplicationResult | None = None

    def as_json(self) -> str:
        """The result as JSON; the same run gives the same text."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=2)


def total_of(lines: Sequence[RouteSums]) -> RouteSums:
    """All routes as one: counts and moments add up, the answers stay the clusters."""
    counts = ("answers", "unverified", "unfaithful_answers", "entailed", "contradicted",
              "baseless", "undecided", "misleading")  # fmt: skip
    return RouteSums(
        service="",
        route="all routes",
        sums=_added(line.sums for line in lines),
        misleading_sums=_added(line.misleading_sums for line in lines),
        **{count: sum(getattr(line, count) for line in lines) for count in counts},
    )


def _added(parts: Iterable[AnswerSums]) -> AnswerSums:
    return AnswerSums(*map(sum, zip(*map(astuple, parts), strict=True)))


def route_line(line: RouteSums, people: LabelAgreement) -> RouteLine:
    """One row: counts, shares, the rate with its interval, and the human rate."""
    rate = claim_rate(line.sums)
    claims = line.claims + line.undecided
    return RouteLine(
        route=line.route,
        answers=line.answers,
        claims=line.claims,
        contradicted=line.contradicted / line.claims if line.claims else None,
        baseless=line.baseless / line.claims if line.claims else None,
        rate=rate.value,
        low=rate.low,
        high=rate.high,
        people=people.rate,
        misleading=claim_rate(line.misleading_sums).value,
        undecided=line.undecided / claims if claims else None,
    )


def pick_example(stored: Sequence[StoredAnswer]) -> StoredAnswer | None:
    """The shortest answer with an entailed claim and a contradicted claim with evidence."""
    good = [
        answer
        for answer in stored
        if {Label.ENTAILED, Label.CONTRADICTED} <= {claim.label for claim in answer.claims}
        and any(
            c.evidence and reaches(c.confidence, CONFIDENT, unknown=False)
            for c in answer.claims
            if c.label is Label.CONTRADICTED
        )
    ]
    return min(good or stored, key=lambda a: (len(a.answer), a.trace_id), default=None)


def rank_agreement(rates: Iterable[tuple[float | None, float | None]]) -> float | None:
    """The rank correlation of the routes' rates with the human rates, where both are known."""
    return rank_correlation(
        [(ours, people) for ours, people in rates if ours is not None and people is not None]
    )
