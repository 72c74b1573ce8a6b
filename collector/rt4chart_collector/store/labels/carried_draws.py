"""The draws that count for a verifier's rates: its own, and those of another verifier's claims."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from otel_rt4chart.verify.rates.label_queue import answered_part
from rt4chart_collector.store.engine.columns import ClaimKey
from rt4chart_collector.store.labels.current_claims import CurrentClaims
from rt4chart_collector.store.labels.draw_rows import DrawRow, QueueRow
from rt4chart_collector.store.labels.populations import RouteKey
from rt4chart_collector.store.labels.trusted_labels import LabelRow

# From so many answers on, claims that only this draw could draw are hardly missed by chance.
LEAST_ANSWERED = 5


@dataclass(frozen=True, slots=True)
class CarriedDraws:
    """The queues of a route's draws, each claim with the verdict of one verifier.

    `gone` are labelled claims without a claim of that text now, `not_judged` those of answers that
    the verifier has not judged. `others` are the draws of another verifier's claims.
    """

    queues: Sequence[Sequence[QueueRow]]
    others: frozenset[str] = frozenset()
    gone: int = 0
    not_judged: int = 0


def counted_draws(draws: Iterable[DrawRow], verifier: str) -> dict[RouteKey, list[DrawRow]]:
    """The draws of each route that count: of one seed, of the verifier and of one other.

    The draws of more verifiers may know a claim by different numbers, and the probability of being
    in any of them would not be known.
    """
    routes: defaultdict[RouteKey, list[DrawRow]] = defaultdict(list)
    for draw in draws:
        routes[draw.key].append(draw)
    found = {}
    for key, made in routes.items():
        own = [draw for draw in made if draw.verifier == verifier]
        seed = (own or made)[-1].seed
        others = [draw for draw in made if draw.verifier != verifier and draw.seed == seed]
        kept = {verifier, others[-1].verifier if others else verifier}
        found[key] = [draw for draw in made if draw.seed == seed and draw.verifier in kept]
    return found


def carry_draws(
    queues: Iterable[Sequence[QueueRow]],
    labels: Iterable[LabelRow],
    claims: CurrentClaims,
    draws: Iterable[DrawRow],
) -> CarriedDraws:
    """The queues of these draws as the verifier of `claims` has their claims.

    The inclusion probability belongs to the claim and the draw, so it stays, and the verdict is the
    new one. A claim that is gone and has no label ends its queue, as any open claim does.
    """
    given = [label for label in labels if label.draw]
    labelled = {(label.verifier, label.id) for label in given}
    decided = {(label.verifier, label.id) for label in given if label.label.is_decided}
    periods = [draw for draw in draws if draw.verifier == claims.verifier]
    found: list[list[QueueRow]] = []
    others: set[str] = set()
    lost: dict[str, QueueRow] = {}
    for queue in queues:
        rows = {row.id: row for row in queue}
        now = {row.id: claims.with_verdict(row) for row in queue}
        known = {row.id for row in queue if now[row.id] or (row.verifier, row.id) in labelled}
        kept = []
        for one in answered_part([row.queued for row in queue], known):
            row, current = rows[one.claim], now[one.claim]
            if current is not None and _is_counted(row, current, periods):
                kept.append(replace(current, probability=one.probability))
            if current is None and (row.verifier, row.id) in decided:
                lost[row.id] = row
        others |= {row.draw for row in queue if row.verifier != claims.verifier}
        found.append(kept)
    gone = sum(map(claims.is_judged, lost.values()))
    return CarriedDraws(found, frozenset(others), gone, len(lost) - gone)


def answered_draws(
    draws: Collection[DrawRow],
    queues: Iterable[Sequence[QueueRow]],
    answered: Collection[ClaimKey],
) -> list[DrawRow]:
    """The draws of a route in which enough claims are answered to count what they drew from.

    Labels of one draw say nothing of claims that only another could draw. Where none has enough
    answers, those with any count; without an answer all do, and there is no rate.
    """
    counts = dict.fromkeys((draw.id for draw in draws), 0)
    for queue in queues:
        done = {row.id for row in queue if row.claim_key in answered}
        for one in queue[:1]:
            counts[one.draw] = len(answered_part([row.queued for row in queue], done))
    least = min(max(counts.values(), default=0), LEAST_ANSWERED)
    if least < LEAST_ANSWERED:
        least = min(least, 1)
    return [draw for draw in draws if counts[draw.id] >= least]


def _is_counted(row: QueueRow, current: QueueRow, own: Iterable[DrawRow]) -> bool:
    """False for a claim with another number now that the verifier's own draws could draw too.

    Its two random numbers differ, so the probability of being in either draw is not the higher one.
    """
    return row.claim == current.claim or not any(
        draw.since_ns <= row.start_ns < draw.until_ns for draw in own
    )
