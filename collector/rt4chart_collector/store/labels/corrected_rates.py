"""Rates corrected for the judge's errors: of a draw, and of any period with drawn claims."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from otel_rt4chart.verify.rates.corrected import (
    CorrectedRate,
    LimitDecision,
    LimitVerdict,
    corrected_rate,
    decide_limit,
)
from otel_rt4chart.verify.rates.judge_quality import JudgeQuality, judge_quality
from otel_rt4chart.verify.rates.label_queue import answered_part
from otel_rt4chart.verify.rates.labels import TrustedLabel, weighted_share
from otel_rt4chart.verify.rates.population import FLAGGED, Population
from rt4chart_collector.store.engine.columns import ClaimKey
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.draw_rows import DrawRow, QueueRow
from rt4chart_collector.store.labels.draws import LabelDraw, draws_in, queues
from rt4chart_collector.store.labels.populations import RouteKey, RoutePeriod, populations
from rt4chart_collector.store.labels.trusted_labels import (
    GivenLabel,
    LabelRow,
    RaterKind,
    labels_in,
    labels_of_draw,
)

# The width that the progress of labelling is measured by: ± 5 points.
GOAL = 0.05
# A rate of fewer of a period's claims says too little of the period to decide anything.
LEAST_COVERED = 0.5


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """The current labels of a route by what they are good for.

    `sample` are the labelled claims that the rate counts. `waiting` have labels, but a claim before
    them in the queue has none yet. `not_drawn` have labels and no known probability. `cannot_tell`
    and `skipped` are claims that no trusted label decides.
    """

    sample: int = 0
    waiting: int = 0
    not_drawn: int = 0
    cannot_tell: int = 0
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class RouteRate:
    """A route's rate as the judge counts it (`raw`) and corrected by labels.

    `raw` is the flagged share of the decided claims. `covered` is the share of the period's claims
    from which labels were drawn; the corrected rate and the `quality` of the judge are of these.
    `quality_on_labels` is of the labelled claims alone, drawn or not, and says nothing of the
    traffic. `pending` is how many drawn claims have no label yet.
    """

    service: str
    route: str
    verifier: str
    raw: float | None
    corrected: CorrectedRate
    quality: JudgeQuality | None
    quality_on_labels: JudgeQuality | None
    counts: LabelCounts
    covered: float
    pending: int = 0

    @property
    def labels_to_goal(self) -> int | None:
        """How many more labels give ± 5 points; 0 where they do already, None where none can."""
        if self.corrected.more_labels:
            return self.corrected.more_labels
        wanted = self.corrected.labels_for(GOAL)
        return None if wanted is None else max(wanted - self.corrected.labels, 0)

    @property
    def is_covered(self) -> bool:
        """True where labels were drawn from enough of the period's claims."""
        return self.covered >= LEAST_COVERED

    def decide(self, limit: float) -> LimitDecision:
        """Whether the rate of the period is above the limit; not known where few were covered."""
        if not self.is_covered:
            return LimitDecision(LimitVerdict.CANNOT_TELL)
        return decide_limit(self.corrected, limit)


def draw_rates(client: Client, draw: LabelDraw, *, without: Sequence[str] = ()) -> list[RouteRate]:
    """The rates of the routes of a draw, by its labels and by nothing else that may expire.

    `without` are raters whose labels do not count.
    """
    labels = labels_of_draw(client, draw.verifier, draw.id)
    return rates_by_labels(draw, [label for label in labels if label.rater not in without])


def rates_by_labels(draw: LabelDraw, given: Sequence[LabelRow]) -> list[RouteRate]:
    """The rates of the routes of a draw by these labels."""
    labels = _by_claim(given, ())
    by_route = _by_route(draw.queue)
    return [
        _route_rate(
            (row.service, row.route, row.verifier),
            row.population,
            [by_route.get(row.key, ())],
            {key: labels[key] for key in _keys(by_route.get(row.key, ())) if key in labels},
            covered=1.0,
        )
        for row in draw.routes
    ]


def corrected_rates(
    client: Client, scope: QueryScope, *, without: Sequence[str] = ()
) -> list[RouteRate]:
    """The rates of every route of the scope, which names a verifier.

    Only claims of answers in a period from which was drawn count: `covered` is their share. Where a
    route has draws with different seeds, those with the seed of the last one count.
    """
    draws = _of_last_seed(draws_in(client, scope))
    kept = {(draw.id, *draw.key) for own in draws.values() for draw in own}
    drawn = _by_route(
        row
        for row in queues(client, [draw for draw, *_ in kept])
        if (row.draw, row.service, row.route) in kept
    )
    labels: defaultdict[RouteKey, list[LabelRow]] = defaultdict(list)
    for label in labels_in(client, scope):
        labels[label.service, label.route].append(label)
    found = []
    for one in populations(client, scope, list(_periods(draws.values()))):
        # Claims expire by day: labels on older answers are of claims that are not counted any more.
        since_ns = max(scope.since_ns, one.first_ns)
        queue = [row for row in drawn.get(one.key, ()) if since_ns <= row.start_ns < scope.until_ns]
        found.append(
            _route_rate(
                (one.service, one.route, scope.verifier or ""),
                one.population,
                _by_draw(queue),
                _by_claim(labels[one.key], without),
                covered=one.population.claims / one.all_claims if one.all_claims else 0.0,
            )
        )
    return found


def _of_last_seed(draws: Sequence[DrawRow]) -> dict[RouteKey, list[DrawRow]]:
    found: defaultdict[RouteKey, list[DrawRow]] = defaultdict(list)
    for draw in draws:
        found[draw.key].append(draw)
    return {key: [draw for draw in own if draw.seed == own[-1].seed] for key, own in found.items()}


def _periods(draws: Iterable[Sequence[DrawRow]]) -> Iterable[RoutePeriod]:
    for own in draws:
        for draw in own:
            yield draw.service, draw.route, draw.since_ns, draw.until_ns


def _by_draw(queue: Iterable[QueueRow]) -> list[list[QueueRow]]:
    found: defaultdict[str, list[QueueRow]] = defaultdict(list)
    for row in queue:
        found[row.draw].append(row)
    return list(found.values())


def _by_route(queue: Iterable[QueueRow]) -> dict[RouteKey, list[QueueRow]]:
    found: defaultdict[RouteKey, list[QueueRow]] = defaultdict(list)
    for row in queue:
        found[row.service, row.route].append(row)
    return found


def _keys(queue: Iterable[QueueRow]) -> list[ClaimKey]:
    return [row.claim_key for row in queue]


def _by_claim(labels: Iterable[LabelRow], without: Sequence[str]) -> dict[ClaimKey, list[LabelRow]]:
    """The labels that count, by claim: where a person decided it, no judge counts."""
    found: defaultdict[ClaimKey, list[LabelRow]] = defaultdict(list)
    for label in labels:
        if label.rater not in without:
            found[label.claim_key].append(label)
    return {
        key: [label for label in own if label.kind is RaterKind.PERSON and label.label.is_decided]
        or own
        for key, own in found.items()
    }


def _route_rate(
    names: tuple[str, str, str],
    population: Population,
    drawn: Sequence[Sequence[QueueRow]],
    labels: Mapping[ClaimKey, Sequence[LabelRow]],
    *,
    covered: float,
) -> RouteRate:
    service, route, verifier = names
    sampled = {
        key: own
        for key, labelled in labels.items()
        if (own := [label for label in labelled if label.draw])
    }
    rows = _answered(drawn, {row.id for rows in drawn for row in rows if row.claim_key in sampled})
    sample = [one for row in rows if (one := _labelled(row, sampled[row.claim_key])) is not None]
    drawn_keys = {row.claim_key for own in drawn for row in own}
    decided = {key for key, own in labels.items() if any(one.label.is_decided for one in own)}
    counts = LabelCounts(
        sample=len(sample),
        waiting=len(decided & drawn_keys & sampled.keys()) - len(sample),
        not_drawn=len(decided - (drawn_keys & sampled.keys())),
        cannot_tell=_undecided(labels, GivenLabel.CANNOT_TELL),
        skipped=_undecided(labels, GivenLabel.SKIPPED),
    )
    return RouteRate(
        service=service,
        route=route,
        verifier=verifier,
        raw=_raw(population),
        corrected=corrected_rate(population, sample),
        quality=judge_quality(population, sample) if sample else None,
        quality_on_labels=_quality_on_labels(labels),
        counts=counts,
        covered=covered,
        pending=len(drawn_keys - sampled.keys()),
    )


def _answered(drawn: Sequence[Sequence[QueueRow]], done: set[str]) -> list[QueueRow]:
    """The claims that count, each with the highest of its probabilities in the draws."""
    found: dict[str, QueueRow] = {}
    for queue in drawn:
        by_id = {row.id: row for row in queue}
        for one in answered_part([row.queued for row in queue], done):
            row = replace(by_id[one.claim], probability=one.probability)
            if one.claim not in found or found[one.claim].probability < row.probability:
                found[one.claim] = row
    return list(found.values())


def _labelled(row: QueueRow, labels: Sequence[LabelRow]) -> TrustedLabel | None:
    """The claim with the mean of its labels; None where no label decides it."""
    decided = [label for label in labels if label.label.is_decided]
    if not decided:
        return None
    return TrustedLabel(
        answer=f"{row.trace_id}/{row.span_id}",
        stratum=row.stratum,
        score=row.score,
        is_flagged=row.is_flagged,
        wrong=sum(label.label.is_wrong for label in decided) / len(decided),
        probability=row.probability,
        weight=row.weight,
    )


def _quality_on_labels(labels: Mapping[ClaimKey, Sequence[LabelRow]]) -> JudgeQuality | None:
    rows = []
    for own in labels.values():
        if decided := [label for label in own if label.label.is_decided]:
            one = decided[0]
            wrong = sum(label.label.is_wrong for label in decided) / len(decided)
            rows.append((f"{one.trace_id}/{one.span_id}", one.is_flagged, wrong))
    if not rows:
        return None
    return JudgeQuality(
        weighted_share((answer, 1.0, wrong) for answer, is_flagged, wrong in rows if is_flagged),
        weighted_share((answer, wrong, float(is_flagged)) for answer, is_flagged, wrong in rows),
        len(rows),
    )


def _undecided(labels: Mapping[ClaimKey, Sequence[LabelRow]], label: GivenLabel) -> int:
    return sum(
        1
        for own in labels.values()
        if not any(one.label.is_decided for one in own) and own[-1].label is label
    )


def _raw(population: Population) -> float | None:
    counts = dict(zip(population.strata, population.totals, strict=False))
    decided = counts.get(FLAGGED, 0.0) + counts.get("entailed", 0.0)
    return counts.get(FLAGGED, 0.0) / decided if decided else None
