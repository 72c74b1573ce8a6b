"""The next claim of a draw for a rater, with what the rater must see, and the rater's answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from otel_rt4chart.core.guard import guard
from otel_rt4chart.spans.model.verdict import Candidate
from otel_rt4chart.verify.core.model import AnswerRange, Exchange, Passage
from otel_rt4chart.verify.link.linker import Linker
from otel_rt4chart.verify.rates.label_queue import next_claim
from otel_rt4chart.verify.text.segment import segment_passages
from rt4chart_collector.pipeline.decision import read_answers
from rt4chart_collector.store.answers.claims import ClaimRow
from rt4chart_collector.store.answers.spans import spans_of
from rt4chart_collector.store.answers.verifications import Verification, verifications_of
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import field_values
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.corrected_rates import RouteRate, draw_rates
from rt4chart_collector.store.labels.drawn_claims import ClaimVerdictRow, claim_hash
from rt4chart_collector.store.labels.draws import LabelDraw, QueueRow, claims_by_key
from rt4chart_collector.store.labels.trusted_labels import (
    LabelRow,
    RaterKind,
    TrustedLabel,
    labels_on,
    last_label_of,
    record_labels,
    withdraw_label,
)

# A rater who gave a label in this time is at work: others are given other claims.
AT_WORK_NS = 5 * 60 * 10**9
NEAREST_SENTENCES = 3
# Spans of a trace that are read for its passages.
MAX_SPANS = 50_000
GONE = "the claim was deleted or judged anew"


@dataclass(frozen=True, slots=True)
class NearSentence:
    """A sentence of a passage that is like the claim: it may support, contradict or miss it."""

    passage_id: str
    text: str


@dataclass(frozen=True, slots=True)
class LabelTask:
    """A claim to label. The judge's verdict is in `row`: a blind rater must not see it.

    `nearest` are found by words, whatever the judge said. `passages` is None where the spans were
    deleted; `nearest` has then what was stored with the claim.
    """

    row: QueueRow
    claim: ClaimRow
    question: str
    answer: str
    nearest: tuple[NearSentence, ...]
    passages: tuple[Passage, ...] | None

    @property
    def answer_range(self) -> AnswerRange:
        """Where the answer says it; empty if the stored range does not fit the answer."""
        start, end = self.claim.answer_range
        return self.claim.answer_range if end <= len(self.answer) and start < end else _NOWHERE

    @property
    def exchange(self) -> Exchange:
        """What a judge is asked about."""
        return Exchange(self.question, self.passages or (), self.answer)


_NOWHERE = AnswerRange(0, 0)


@dataclass(frozen=True, slots=True)
class Rater:
    """Who labels: a person, or a judge that was named as trusted; `source` is where."""

    name: str
    kind: RaterKind = RaterKind.PERSON
    source: str = "terminal"


def next_task(client: Client, draw: LabelDraw, rater: Rater, *, now_ns: int) -> LabelTask | None:
    """The next claim that this rater should label; None where the draw has none left.

    A claim that is gone is passed over for everybody, by a skip with that reason. Of raters who
    work at the same time, each is given claims of their own as long as there are any.
    """
    while row := next(open_claims(client, draw, rater, now_ns=now_ns), None):
        task = read_task(client, row)
        if task is not None:
            return task
        skip = label_row(row, rater, TrustedLabel.SKIPPED, at_ns=now_ns, note=GONE)
        record_labels(client, [skip])
    return None


def open_claims(
    client: Client, draw: LabelDraw, rater: Rater, *, now_ns: int
) -> Iterator[QueueRow]:
    """The claims of the draw that this rater should label, in order."""
    labels = labels_on(client, draw.verifier, [row.claim_key for row in draw.queue])
    seen = _raters_by_claim(labels)
    at_work = {label.rater for label in labels if label.at_ns > now_ns - AT_WORK_NS}
    for row in _own_first(draw.queue, sorted(at_work | {rater.name}), rater.name):
        # `next_claim` is the rule for a single claim; the order is that of the rater.
        if next_claim([row.queued], seen, rater.name) is not None:
            yield row


def read_task(client: Client, row: QueueRow) -> LabelTask | None:
    """The claim with its answer and passages; None if it is gone or has another text now."""
    scope = QueryScope(row.start_ns, row.start_ns + 1, row.verifier)
    claim = claims_by_key(client, scope, [row.claim_key]).get(row.claim_key)
    if claim is None or claim_hash(claim.text) != row.text_hash:
        return None
    answer = _answer(client, row)
    if answer is None:
        return None
    passages = _passages(client, row)
    near = _near_sentences(claim, passages)
    return LabelTask(row, claim, answer.question, answer.answer, near, passages)


def record_answer(
    client: Client,
    task: LabelTask,
    rater: Rater,
    label: TrustedLabel,
    *,
    at_ns: int,
    status: str = "",
    note: str = "",
    is_blind: bool = True,
) -> LabelRow:
    """Store the rater's label on the claim of the task."""
    row = label_row(
        task.row, rater, label, at_ns=at_ns, status=status, note=note, is_blind=is_blind
    )
    record_labels(client, [row])
    return row


def undo(client: Client, rater: Rater, *, since_ns: int, at_ns: int) -> LabelRow | None:
    """Take back the rater's last label since then, and return it; None where there is none."""
    label = last_label_of(client, rater.name, since_ns=since_ns)
    if label is not None:
        withdraw_label(client, label, at_ns=at_ns)
    return label


def route_progress(client: Client, draw: LabelDraw, row: ClaimVerdictRow) -> RouteRate:
    """The rate of the route of this claim so far, with the labels that it lacks."""
    key = (row.service, row.route)
    routes = tuple(one for one in draw.routes if one.key == key)
    queue = tuple(one for one in draw.queue if (one.service, one.route) == key)
    (found,) = draw_rates(client, replace(draw, routes=routes, queue=queue))
    return found


def label_row(
    row: ClaimVerdictRow,
    rater: Rater,
    label: TrustedLabel,
    *,
    at_ns: int,
    status: str = "",
    note: str = "",
    is_blind: bool = True,
) -> LabelRow:
    """A rater's label on a claim, with what the judge said of it and how it was drawn."""
    return LabelRow(
        **field_values(row, ClaimVerdictRow),
        rater=rater.name,
        kind=rater.kind,
        source=rater.source,
        label=label,
        status=status,
        is_blind=is_blind,
        note=note,
        at_ns=at_ns,
    )


def _own_first(queue: Sequence[QueueRow], raters: Sequence[str], rater: str) -> Iterable[QueueRow]:
    """Every claim of the queue; first those that fall to this rater among those at work."""
    lane, lanes = raters.index(rater), len(raters)
    own = [row for at, row in enumerate(queue) if at % lanes == lane]
    return [*own, *(row for at, row in enumerate(queue) if at % lanes != lane)]


def _answer(client: Client, row: QueueRow) -> Verification | None:
    found = verifications_of(client, row.trace_id, row.span_id)
    return next((one for one in found if one.verifier == row.verifier), None)


def _passages(client: Client, row: QueueRow) -> tuple[Passage, ...] | None:
    """The passages from the spans, as verification read them; None if they were deleted."""
    found: Sequence[Candidate] = ()
    with guard("reading the passages of an answer to label"):
        found = read_answers(client, spans_of(client, [row.trace_id], limit=MAX_SPANS))
    for candidate in found:
        if candidate.span_id == row.span_id:
            return tuple(candidate.exchange.passages)
    return None


def _near_sentences(
    claim: ClaimRow, passages: tuple[Passage, ...] | None
) -> tuple[NearSentence, ...]:
    if passages is None:
        stored = [NearSentence(one.passage_id, one.text) for one in claim.evidence if one.text]
        return tuple(stored) or ((NearSentence("", claim.nearest),) if claim.nearest else ())
    sentences = segment_passages(passages)
    linker = Linker(sentences)
    found = linker.candidates(claim.text, limit=NEAREST_SENTENCES)
    near = (linker.sentence(one.sentence) for one in found)
    return tuple(NearSentence(one.passage_id, one.text) for one in near)


def _raters_by_claim(labels: Iterable[LabelRow]) -> Mapping[str, Collection[str]]:
    """The raters of each claim, by its id."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for label in labels:
        found[label.id].add(label.rater)
    return found
