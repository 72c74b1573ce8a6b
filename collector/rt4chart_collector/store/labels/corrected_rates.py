"""Rates corrected for the judge's errors: of a draw, and of any period with drawn claims."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

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
from rt4chart_collector.store.labels.carried_draws import (
    CarriedDraws,
    answered_draws,
    carry_draws,
    counted_draws,
)
from rt4chart_collector.store.labels.current_claims import AnyRow, read_current_claims
from rt4chart_collector.store.labels.draw_rows import QueueRow
from rt4chart_collector.store.labels.draws import LabelDraw, draws_in, queues
from rt4chart_collector.store.labels.populations import RouteKey, SharedPeriod, populations
from rt4chart_collector.store.labels.trusted_labels import (
    GivenLabel,
    LabelRow,
    RaterKind,
    carried_labels,
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
    them in the queue has none yet, or hardly any claim of their draw has. `not_drawn` have labels
    and no known probability. `cannot_tell` and `skipped` are claims that no trusted label decides.
    `carried` of the sample were drawn among the claims of another verifier. `gone` were too, and
    this verifier has no claim with that text. `not_judged` are labelled claims of answers that it
    has not judged.
    """

    sample: int = 0
    waiting: int = 0
    not_drawn: int = 0
    cannot_tell: int = 0
    skipped: int = 0
    carried: int = 0
    gone: int = 0
    not_judged: int = 0


@dataclass(frozen=True, slots=True)
class RouteRate:
    """A route's rate as the judge counts it (`raw`) and corrected by labels.

    `raw` is the flagged share of the decided claims. `covered` is the share of the period's claims
    from which labels were drawn; the corrected rate and the `quality` of the judge are of these. It
    is lowered by the share of the labelled claims that are `gone`: as many of the verifier's claims
    are new, and could not be drawn.
    `quality_on_labels` is of the labelled claims alone, drawn or not, and says nothing of the
    traffic. `pending` is how many drawn claims have no label yet, `sample` are those that count.
    `misleading` is the corrected share of all claims that are misleading, by labels that say so.
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
    sample: tuple[TrustedLabel, ...] = field(default=(), repr=False, compare=False)
    misleading: CorrectedRate | None = None

    @property
    def labels_to_goal(self) -> int | None:
        """How many more labels give ± 5 points; 0 where they do already, None where none can.

        It is never more than the route has claims without a label.
        """
        if self.corrected.more_labels:
            return None if self.corrected.is_too_small else self.corrected.more_labels
        wanted = self.corrected.labels_for(GOAL)
        return None if wanted is None else max(wanted - self.corrected.labels, 0)

    @property
    def of_misleading(self) -> RouteRate | None:
        """The same for misleading claims, without what is known of unfaithful ones."""
        if self.misleading is None:
            return None
        return replace(
            self, raw=None, corrected=self.misleading, quality=None, misleading=None, sample=()
        )

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
    labels = labels_of_draw(client, draw)
    return rates_by_labels(draw, [label for label in labels if label.rater not in without])


def draw_sample(client: Client, draw: LabelDraw) -> list[TrustedLabel]:
    """The labelled claims of all routes of a draw that count, with their probabilities."""
    labels = _by_claim(labels_of_draw(client, draw))
    return [_labelled(row, own) for row, own in _answered([draw.queue], labels)]


def rates_by_labels(draw: LabelDraw, given: Sequence[LabelRow]) -> list[RouteRate]:
    """The rates of the routes of a draw by these labels."""
    labels = _by_claim(given)
    by_route = _by_route(draw.queue)
    return [
        _route_rate(
            (row.service, row.route, row.verifier),
            row.population,
            CarriedDraws([by_route.get(row.key, ())]),
            {key: labels[key] for key in _keys(by_route.get(row.key, ())) if key in labels},
            covered=1.0,
        )
        for row in draw.routes
    ]


def corrected_rates(
    client: Client, scope: QueryScope, *, without: Sequence[str] = ()
) -> list[RouteRate]:
    """The rates of every route of the scope, which names a verifier.

    Only claims of answers that could be drawn count, in draws that are answered: `covered` is their
    share. Where a route has draws with different seeds, those with the seed of the last one count.
    Draws and labels of another verifier's claims count for the same claims of this one.
    """
    verifier = scope.verifier or ""
    draws = counted_draws(draws_in(client, scope), verifier)
    kept = {(draw.id, *draw.key) for route in draws.values() for draw in route}
    drawn = [
        row
        for row in queues(client, sorted({draw for draw, _, _ in kept}))
        if (row.draw, row.service, row.route) in kept and row.start_ns < scope.until_ns
    ]
    given = _given_labels(client, scope, without)
    claims = read_current_claims(client, scope, [*drawn, *given])
    by_route, labels = _by_route(drawn), _by_route(given)

    def carried(key: RouteKey, own_since_ns: int) -> CarriedDraws:
        since_ns = {verifier: own_since_ns}
        queue = [
            row
            for row in by_route.get(key, ())
            if row.start_ns >= since_ns.get(row.verifier, scope.since_ns)
        ]
        return carry_draws(_by_draw(queue), labels.get(key, ()), claims, draws.get(key, ()))

    by_claim = {key: _by_claim(carried_labels(own, claims)) for key, own in labels.items()}
    used = {
        key: answered_draws(
            own, carried(key, scope.since_ns).queues, _sampled(by_claim.get(key, {}))
        )
        for key, own in draws.items()
    }
    made = [draw for route in used.values() for draw in route]
    own_periods = [draw.period for draw in made if draw.verifier == verifier]
    shared = [SharedPeriod(one.period, one.verifier) for one in made if one.verifier != verifier]
    return [
        _route_rate(
            (one.service, one.route, verifier),
            one.population,
            # Claims expire by day: labels on older answers are of claims that count no more.
            carried(one.key, max(scope.since_ns, one.first_ns)),
            by_claim.get(one.key, {}),
            counted={draw.id for draw in used.get(one.key, ())},
            covered=one.population.claims / one.all_claims if one.all_claims else 0.0,
        )
        for one in populations(client, scope, own_periods, shared=shared)
    ]


def _given_labels(client: Client, scope: QueryScope, without: Sequence[str]) -> list[LabelRow]:
    """The labels on the claims of any verifier, but those of these raters."""
    found = labels_in(client, replace(scope, verifier=None))
    return [label for label in found if label.rater not in without]


def _by_draw(queue: Iterable[QueueRow]) -> list[list[QueueRow]]:
    found: defaultdict[str, list[QueueRow]] = defaultdict(list)
    for row in queue:
        found[row.draw].append(row)
    return list(found.values())


def _by_route(rows: Iterable[AnyRow]) -> dict[RouteKey, list[AnyRow]]:
    found: defaultdict[RouteKey, list[AnyRow]] = defaultdict(list)
    for row in rows:
        found[row.service, row.route].append(row)
    return found


def _keys(queue: Iterable[QueueRow]) -> list[ClaimKey]:
    return [row.claim_key for row in queue]


def _by_claim(labels: Iterable[LabelRow]) -> dict[ClaimKey, list[LabelRow]]:
    """The labels that count, by claim: where a person decided it, no judge counts."""
    found: defaultdict[ClaimKey, list[LabelRow]] = defaultdict(list)
    for label in labels:
        found[label.claim_key].append(label)
    return {
        key: [label for label in own if label.kind is RaterKind.PERSON and label.label.is_decided]
        or own
        for key, own in found.items()
    }


def _route_rate(
    names: tuple[str, str, str],
    population: Population,
    carried: CarriedDraws,
    labels: Mapping[ClaimKey, Sequence[LabelRow]],
    *,
    covered: float,
    counted: Collection[str] | None = None,
) -> RouteRate:
    """`counted` are the ids of the draws whose claims are in the population; None for all."""
    service, route, verifier = names
    drawn = carried.queues
    sampled = _sampled(labels)
    used = [own for own in drawn if counted is None or any(row.draw in counted for row in own)]
    found = _answered(used, labels)
    sample = [_labelled(row, own) for row, own in found]
    misleading = [_misleading(row, own) for row, own in found if _tell_misleading(own)]
    drawn_keys = {row.claim_key for own in drawn for row in own}
    decided = {key for key, own in labels.items() if any(one.label.is_decided for one in own)}
    counts = LabelCounts(
        sample=len(sample),
        waiting=len(decided & drawn_keys & sampled.keys()) - len(sample),
        not_drawn=len(decided - (drawn_keys & sampled.keys())),
        cannot_tell=_undecided(labels, GivenLabel.CANNOT_TELL),
        skipped=_undecided(labels, GivenLabel.SKIPPED),
        carried=sum(1 for row, _ in found if row.draw in carried.others),
        gone=carried.gone,
        not_judged=carried.not_judged,
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
        covered=covered * (len(sample) / (len(sample) + carried.gone) if carried.gone else 1.0),
        pending=len(drawn_keys - sampled.keys()),
        sample=tuple(sample),
        # The judge's scores are of unfaithful claims: they help as far as labels agree with them.
        misleading=corrected_rate(population, misleading),
    )


def _sampled(
    labels: Mapping[ClaimKey, Sequence[LabelRow]],
) -> dict[ClaimKey, list[LabelRow]]:
    """The labels that were given in a draw, by claim."""
    drawn = ((key, [label for label in own if label.draw]) for key, own in labels.items())
    return {key: own for key, own in drawn if own}


def _answered(
    drawn: Sequence[Sequence[QueueRow]], labels: Mapping[ClaimKey, Sequence[LabelRow]]
) -> list[tuple[QueueRow, list[LabelRow]]]:
    """The drawn claims that labels decide and whose probability is known, with these labels."""
    sampled = _sampled(labels)
    rows = _counted(drawn, {row.id for rows in drawn for row in rows if row.claim_key in sampled})
    decided = (
        (row, [one for one in sampled[row.claim_key] if one.label.is_decided]) for row in rows
    )
    return [(row, own) for row, own in decided if own]


def _counted(drawn: Sequence[Sequence[QueueRow]], done: set[str]) -> list[QueueRow]:
    """The claims that count, each with the highest of its probabilities in the draws."""
    found: dict[str, QueueRow] = {}
    for queue in drawn:
        by_id = {row.id: row for row in queue}
        for one in answered_part([row.queued for row in queue], done):
            row = replace(by_id[one.claim], probability=one.probability)
            if one.claim not in found or found[one.claim].probability < row.probability:
                found[one.claim] = row
    return list(found.values())


def _labelled(row: QueueRow, decided: Sequence[LabelRow]) -> TrustedLabel:
    """The claim with the mean of the labels that decide it, of which there is one at least."""
    return _with_share(row, [label.label.is_wrong for label in decided])


def _misleading(row: QueueRow, decided: Sequence[LabelRow]) -> TrustedLabel:
    """The claim with the share of the labels that call it misleading instead of wrong."""
    return _with_share(row, [label.misleads for label in decided if label.misleads is not None])


def _tell_misleading(decided: Sequence[LabelRow]) -> bool:
    return any(label.misleads is not None for label in decided)


def _with_share(row: QueueRow, votes: Sequence[bool]) -> TrustedLabel:
    return TrustedLabel(
        answer=f"{row.trace_id}/{row.span_id}",
        stratum=row.stratum,
        score=row.score,
        is_flagged=row.is_flagged,
        wrong=sum(votes) / len(votes),
        probability=row.probability,
        weight=row.weight,
        has_confidence=row.confidence is not None,
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
