"""What a run of the demo found, as values."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from otel_rt4chart.verify import Label
from otel_rt4chart.verify.core.rates import AnswerSums, claim_rate, rank_correlation
from rt4chart_collector.demo.labels import HumanLabel, LabelAgreement, agreement
from rt4chart_collector.store.answers.answers import StoredAnswer
from rt4chart_collector.store.rates.claim_rates import RouteSums

# An example is shown to people: a verdict near the threshold would not make a good one.
CONFIDENT = 0.6


@dataclass(frozen=True, slots=True)
class RouteLine:
    """One row of the table; shares are of decided claims, `people` of the claims they marked."""

    route: str
    answers: int
    claims: int
    contradicted: float | None
    baseless: float | None
    rate: float | None
    low: float | None
    high: float | None
    people: float | None


@dataclass(frozen=True, slots=True)
class IssueLine:
    """One issue with its first example: a claim, and a sentence of the passages.

    `is_evidence` is False where no sentence stands against the claim and the nearest is shown.
    """

    id: str
    title: str
    claims: int
    claim: str
    sentence: str
    is_evidence: bool


@dataclass(frozen=True, slots=True)
class DemoResult:
    """Everything that the report shows.

    `rank_correlation` is Spearman's, of the routes' rates with people's.
    """

    routes: tuple[RouteLine, ...]
    total: RouteLine
    agreement: LabelAgreement
    issues: tuple[IssueLine, ...]
    example: StoredAnswer | None
    dsn: str
    rank_correlation: float | None

    def as_json(self) -> str:
        """The result for machines: the same run gives the same text."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=2)


def total_of(lines: Sequence[RouteSums]) -> RouteSums:
    """All routes as one: counts and moments add up, the answers stay the clusters."""
    counts = ("answers", "unverified", "unfaithful_answers", "entailed", "contradicted",
              "baseless", "undecided")  # fmt: skip
    moments = ("answers", "claims", "wm", "wx", "wwm", "wwxx", "wwxm", "wwmm")
    return RouteSums(
        service="",
        route="all routes",
        sums=AnswerSums(**{m: sum(getattr(line.sums, m) for line in lines) for m in moments}),
        **{count: sum(getattr(line, count) for line in lines) for count in counts},
    )


def route_line(line: RouteSums, people: LabelAgreement) -> RouteLine:
    """One row: counts, shares, the rate with its interval, and people's rate."""
    rate = claim_rate(line.sums)
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
    )


def people_by_route(
    stored: Sequence[StoredAnswer], labels: Mapping[str, HumanLabel]
) -> dict[str, LabelAgreement]:
    """People's labels against ours, per route; the empty route holds all of them."""
    judged: defaultdict[str, list[tuple[HumanLabel, str, bool]]] = defaultdict(list)
    for answer in stored:
        label = labels[json.loads(answer.metadata)["answer_id"]]
        for claim in answer.claims:
            if claim.label.is_decided:
                triple = (label, claim.text, claim.label.is_unfaithful)
                judged[answer.route].append(triple)
                judged[""].append(triple)
    return {route: agreement(triples) for route, triples in judged.items()}


def pick_example(stored: Sequence[StoredAnswer]) -> StoredAnswer | None:
    """The answer to print: a contradicted claim with evidence beside an entailed one, briefest."""
    good = [
        answer
        for answer in stored
        if {Label.ENTAILED, Label.CONTRADICTED} <= {claim.label for claim in answer.claims}
        and any(
            c.evidence and c.confidence >= CONFIDENT
            for c in answer.claims
            if c.label is Label.CONTRADICTED
        )
    ]
    return min(good or stored, key=lambda a: (len(a.answer), a.trace_id), default=None)


def rank_agreement(lines: Sequence[RouteLine]) -> float | None:
    """How well our rates order the routes as people's do."""
    return rank_correlation(
        [(one.rate, one.people) for one in lines if one.rate is not None and one.people is not None]
    )
