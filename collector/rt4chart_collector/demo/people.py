"""People's labels of the demo's claims: a few drawn by chance, and the rate of all of them."""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from otel_rt4chart.verify.core.model import Label
from rt4chart_collector.demo.labels import (
    DATA,
    HumanLabel,
    LabelAgreement,
    agreement,
    read_labels,
)
from rt4chart_collector.labelling.tasks import Rater, label_row
from rt4chart_collector.store.answers.answers import StoredAnswer, verified_answers
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.corrected_rates import RouteRate, draw_rates
from rt4chart_collector.store.labels.draws import (
    DrawRequest,
    claims_by_key,
    draw_claims,
    latest_draw,
)
from rt4chart_collector.store.labels.trusted_labels import GivenLabel, LabelRow, record_labels

# Of each of the eight routes: 200 labels in all. The queue is as long as that of the command.
LABELS_OF_A_ROUTE, QUEUE_OF_A_ROUTE = 25, 100
ANNOTATORS = Rater("annotators of the data set", source="demo")
# The demo with a bad release has answers of two weeks.
PERIOD_NS = 30 * 86_400 * 10**9


@dataclass(frozen=True, slots=True)
class CorrectedLine:
    """A route's rate as the judge counts it, as labels correct it, and as people label all of it.

    `raw` is the flagged share of the claims that the judge decided. `corrected` and `people` are
    shares of all claims; `corrected` is None where labels are missing. Of the drawn claims,
    `labels` could be labelled.
    """

    route: str
    raw: float | None
    corrected: float | None
    low: float | None
    high: float | None
    labels: int
    people: float | None

    @property
    def is_covered(self) -> bool:
        """True where the interval of the corrected rate contains people's rate."""
        if self.low is None or self.high is None or self.people is None:
            return False
        return self.low <= self.people <= self.high


def label_claims(client: Client, service: str) -> None:
    """Draw claims of the public rows for labels, and label them as the data set does."""
    stored = [one for one in verified_answers(client) if one.service == service]
    label_drawn_claims(client, read_labels(DATA), stored, now_ns=time.time_ns())


def label_drawn_claims(
    client: Client, labels: Mapping[str, HumanLabel], stored: Sequence[StoredAnswer], *, now_ns: int
) -> None:
    """Draw claims as `rt4chart label` does, and store the data set's labels of the first ones.

    As a person would, it goes through the queue of a route until `LABELS_OF_A_ROUTE` claims have a
    label, past those that the data set does not decide. Nothing is drawn without a claim.
    """
    if not any(claim.label is not Label.NOT_A_CLAIM for one in stored for claim in one.claims):
        return
    scope = QueryScope(now_ns - PERIOD_NS, now_ns, stored[0].verifier, stored[0].service)
    request = DrawRequest(scope, QUEUE_OF_A_ROUTE, actor="rt4chart demo", double_share=0.0)
    draw = draw_claims(client, request, now_ns=now_ns)
    answers = {(one.trace_id, one.span_id): human_label(one, labels) for one in stored}
    claims = claims_by_key(client, scope, [row.claim_key for row in draw.queue])
    given: list[LabelRow] = []
    decided: Counter[str] = Counter()
    for row in draw.queue:
        if decided[row.route] < LABELS_OF_A_ROUTE:
            human = answers[row.trace_id, row.span_id]
            label = given_label(human, claims[row.claim_key].text)
            given.append(label_row(row, ANNOTATORS, label, at_ns=now_ns))
            decided[row.route] += label.is_decided
    record_labels(client, given)


def given_label(human: HumanLabel, claim: str) -> GivenLabel:
    """People's label of a claim; the data set does not tell contradicted and baseless apart."""
    is_wrong = human.marks(claim)
    if is_wrong is None:
        return GivenLabel.CANNOT_TELL
    return GivenLabel.BASELESS if is_wrong else GivenLabel.ENTAILED


def human_label(answer: StoredAnswer, labels: Mapping[str, HumanLabel]) -> HumanLabel:
    """The data set's label of this answer."""
    return labels[json.loads(answer.metadata)["answer_id"]]


def people_by_route(
    stored: Sequence[StoredAnswer],
    labels: Mapping[str, HumanLabel],
    *,
    has_undecided: bool = False,
) -> dict[str, LabelAgreement]:
    """Human labels against verdicts, per route; the empty route stands for all of them.

    They are of the claims that the judge decided, or of all claims with `has_undecided`.
    """
    judged: defaultdict[str, list[tuple[HumanLabel, str, bool]]] = defaultdict(list)
    for answer in stored:
        human = human_label(answer, labels)
        for claim in answer.claims:
            if claim.label.is_decided or (has_undecided and claim.label is Label.UNDECIDED):
                triple = (human, claim.text, claim.label.is_unfaithful)
                judged[answer.route].append(triple)
                judged[""].append(triple)
    return {route: agreement(triples) for route, triples in judged.items()}


def corrected_lines(
    client: Client, stored: Sequence[StoredAnswer], labels: Mapping[str, HumanLabel]
) -> tuple[CorrectedLine, ...]:
    """The routes of the last draw; none without a draw."""
    draw = latest_draw(client, QueryScope())
    if draw is None:
        return ()
    people = people_by_route(stored, labels, has_undecided=True)
    return tuple(
        _corrected_line(rate, people.get(rate.route, LabelAgreement()))
        for rate in draw_rates(client, draw)
    )


def _corrected_line(found: RouteRate, people: LabelAgreement) -> CorrectedLine:
    rate = found.corrected.rate
    return CorrectedLine(
        route=found.route,
        raw=found.raw,
        corrected=rate.value,
        low=rate.low,
        high=rate.high,
        labels=found.corrected.labels,
        people=people.rate,
    )
