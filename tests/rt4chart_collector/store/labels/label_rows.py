"""Verdicts of different confidence on two routes, and labels on them, for the tests of labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from otel_rt4chart.verify.core.model import AnswerRange, Claim, Label, Report
from otel_rt4chart.verify.rates.label_queue import random_number
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import field_values
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.draw_rows import QueueRow
from rt4chart_collector.store.labels.draws import DrawRequest, LabelDraw, draw_claims
from rt4chart_collector.store.labels.trusted_labels import (
    GivenLabel,
    LabelRow,
    RaterKind,
    record_labels,
)
from tests.rt4chart_collector.records import NOON, SECOND, VERIFIER, claim, verdict

NOW = NOON + 3600 * SECOND
SCOPE = QueryScope(NOON - SECOND, NOW, VERIFIER)
Split = Callable[[tuple[Claim, ...]], tuple[Claim, ...]]
LABELS_IN_TURN = (Label.ENTAILED, Label.BASELESS, Label.UNDECIDED, Label.ENTAILED)


def insert_answers(
    client: Client,
    numbers: Sequence[int],
    *,
    route: str = "support",
    start_ns: int = NOON,
    decided_ns: int | None = None,
    labels: Sequence[Label] = LABELS_IN_TURN,
    verifier: str = VERIFIER,
    split: Split = tuple,
) -> None:
    """An answer of three claims for each number, with labels and confidences that differ.

    `split` changes the claims of an answer, as another verifier may.
    """
    made = []
    for number in numbers:
        one = verdict(
            number,
            route=route,
            start_ns=start_ns,
            decided_ns=decided_ns,
            sample_rate=0.25 if number % 3 else 0.5,
        )
        own = (Label.NOT_A_CLAIM, *(labels[(number + at) % len(labels)] for at in range(3)))
        claims = tuple(
            replace(
                claim(label, f"Claim {at} of {number}."),
                confidence=round(random_number("confidence", f"{number}/{at}"), 3),
                answer_range=AnswerRange(0, 5),
            )
            for at, label in enumerate(own)
        )
        assert isinstance(one.report, Report)
        report = replace(one.report, claims=split(claims), judge=verifier)
        made.append(replace(one, report=report, verifier=verifier))
    insert_verdicts(client, made)


def draw(
    client: Client,
    size: int = 30,
    *,
    now_ns: int = NOW,
    double: float = 0.0,
    scope: QueryScope = SCOPE,
) -> LabelDraw:
    """A draw of the whole hour, or of another period."""
    request = DrawRequest(scope, size, "ann", double_share=double)
    return draw_claims(client, request, now_ns=now_ns)


def label_of(
    row: QueueRow,
    label: GivenLabel = GivenLabel.ENTAILED,
    *,
    rater: str = "ann",
    at_ns: int = NOW,
    kind: RaterKind = RaterKind.PERSON,
) -> LabelRow:
    """A rater's label on a drawn claim."""
    given = {name: value for name, value in field_values(row).items() if name != "raters"}
    return LabelRow(
        **{**given, "at_ns": at_ns},
        rater=rater,
        kind=kind,
        source="terminal",
        label=label,
        status="",
        is_blind=True,
        note="",
    )


def with_status(row: QueueRow, share: float) -> LabelRow:
    """A label that says whether the claim is misleading: so large a share of the claims is."""
    if random_number("truth", row.id) < 0.3:
        return replace(label_of(row, GivenLabel.CONTRADICTED), status="contradicted")
    misleads = random_number("misleads", row.id) < share / 0.7
    return replace(label_of(row), status="cherry_picked" if misleads else "supported")


def label_all(
    client: Client, rows: Sequence[QueueRow], *, share: float = 0.3, rater: str = "ann"
) -> None:
    """Label these claims; about this share of them is wrong."""
    record_labels(
        client,
        [
            label_of(
                row,
                GivenLabel.BASELESS
                if random_number("truth", row.id) < share
                else GivenLabel.ENTAILED,
                rater=rater,
            )
            for row in rows
        ],
    )
