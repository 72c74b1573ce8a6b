"""The next claim of a draw for a rater, with what the rater must see, and the rater's answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from otel_rt4chart.verify.core.model import ClaimStatus
from otel_rt4chart.verify.rates.label_queue import next_claim
from rt4chart_collector.labelling.task_reading import LabellingTask, read_task
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import field_values
from rt4chart_collector.store.labels.corrected_rates import RouteRate, rates_by_labels
from rt4chart_collector.store.labels.draw_rows import QueueRow
from rt4chart_collector.store.labels.drawn_claims import ClaimVerdictRow
from rt4chart_collector.store.labels.draws import LabelDraw
from rt4chart_collector.store.labels.trusted_labels import (
    GivenLabel,
    LabelRow,
    RaterKind,
    label_history,
    labels_of_draw,
    last_label_of,
    record_labels,
    withdraw_label,
)

# A rater who gave a label in this time is at work: others are given other claims.
AT_WORK_NS = 5 * 60 * 10**9
GONE = "the claim was deleted or judged anew"


class RaterAnswer(StrEnum):
    """What a person may say of a claim that is shown."""

    ENTAILED = "entailed"
    CONTRADICTED = "contradicted"
    BASELESS = "baseless"
    MISLEADING = "misleading"
    CANNOT_TELL = "cannot_tell"
    SKIPPED = "skipped"

    @property
    def label(self) -> GivenLabel:
        """The label; a misleading claim is entailed."""
        return GivenLabel.ENTAILED if self is RaterAnswer.MISLEADING else GivenLabel(self.value)

    def status(self, task: LabellingTask) -> str:
        """The status that the answer says too; "" where the other passages could not be read."""
        return "" if task.passages is None else _STATUSES.get(self, "")


_STATUSES: Mapping[RaterAnswer, str] = {
    RaterAnswer.ENTAILED: ClaimStatus.SUPPORTED,
    RaterAnswer.CONTRADICTED: ClaimStatus.CONTRADICTED,
    RaterAnswer.BASELESS: ClaimStatus.UNSUPPORTED,
    RaterAnswer.MISLEADING: ClaimStatus.CHERRY_PICKED,
}


@dataclass(frozen=True, slots=True)
class Rater:
    """Who labels: a person, or a judge that was named as trusted; `source` is where."""

    name: str
    kind: RaterKind = RaterKind.PERSON
    source: str = "terminal"


def next_task(
    client: Client,
    draw: LabelDraw,
    rater: Rater,
    *,
    now_ns: int,
    labels: Sequence[LabelRow] | None = None,
) -> LabellingTask | None:
    """The next claim that this rater should label; None where the draw has none left.

    `labels` are those of the draw, where they have been read already.

    A claim that is gone is passed over for everybody, by a skip with that reason. Of raters who
    work at the same time, each is given claims of their own as long as there are any.
    """
    for row in open_claims(client, draw, rater, now_ns=now_ns, labels=labels):
        task = read_task(client, row)
        if task is not None:
            return task
        skip = label_row(row, rater, GivenLabel.SKIPPED, at_ns=now_ns, note=GONE)
        record_labels(client, [skip])
    return None


def open_claims(
    client: Client,
    draw: LabelDraw,
    rater: Rater,
    *,
    now_ns: int,
    labels: Sequence[LabelRow] | None = None,
) -> Iterator[QueueRow]:
    """The claims of the draw that this rater should label, in order."""
    if labels is None:
        labels = labels_of_draw(client, draw)
    seen = _raters_by_claim(labels)
    at_work = {label.rater for label in labels if label.at_ns > now_ns - AT_WORK_NS}
    for row in _own_first(draw.queue, sorted(at_work | {rater.name}), rater.name):
        # `next_claim` is the rule for a single claim; the order is that of the rater.
        if next_claim([row.queued], seen, rater.name) is not None:
            yield row


def record_answer(
    client: Client,
    row: QueueRow,
    rater: Rater,
    label: GivenLabel,
    *,
    at_ns: int,
    status: str = "",
    note: str = "",
) -> LabelRow:
    """Store the rater's label on the claim; the same one again changes nothing.

    A person who has labelled the claim before was shown the verdict: a later label is not blind,
    also where the earlier one was undone.
    """
    history = label_history(client, row.verifier, row.claim_key)
    own = [one for one in history if one.rater == rater.name]
    if own and not own[-1].is_deleted:
        last = own[-1]
        if (last.label, last.status, last.note) == (label, status, note):
            return last
    is_blind = rater.kind is RaterKind.JUDGE or all(one.label is GivenLabel.SKIPPED for one in own)
    given = label_row(row, rater, label, at_ns=at_ns, status=status, note=note, is_blind=is_blind)
    record_labels(client, [given])
    return given


def undo(client: Client, rater: Rater, *, since_ns: int, at_ns: int) -> LabelRow | None:
    """Take back the rater's last label since then, and return it; None where there is none."""
    label = last_label_of(client, rater.name, since_ns=since_ns)
    if label is not None:
        withdraw_label(client, label, at_ns=at_ns)
    return label


def route_progress(draw: LabelDraw, labels: Sequence[LabelRow], row: ClaimVerdictRow) -> RouteRate:
    """The rate of the route of this claim by the labels of the draw, and what it lacks."""
    (found,) = rates_by_labels(draw.part(row.service, row.route), labels)
    return found


def label_row(
    row: ClaimVerdictRow,
    rater: Rater,
    label: GivenLabel,
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


def _raters_by_claim(labels: Iterable[LabelRow]) -> Mapping[str, Collection[str]]:
    """The raters of each claim, by its id."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for label in labels:
        found[label.id].add(label.rater)
    return found
