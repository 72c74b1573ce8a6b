"""Recalibrations of judges: every one that was applied or taken back is kept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.recalibration import Curve, Recalibration
from rt4chart_collector.store.engine.columns import Actor, Note
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import (
    LOW_CARDINALITY,
    TIME,
    RowTable,
    StoredAs,
    batch_token,
    read,
)

MAX_NOTE = 500


class RecalibrationAction(StrEnum):
    """What was done with a judge's recalibration."""

    APPLIED = "applied"
    REVERTED = "reverted"


Curves = tuple[tuple[str, tuple[tuple[float, float], ...]], ...]


def _curves_json(curves: Curves) -> str:
    return json.dumps(dict(curves), separators=(",", ":"))


def _curves_from(written: str) -> Curves:
    found = json.loads(written or "{}")
    return tuple((name, tuple((x, y) for x, y in knots)) for name, knots in found.items())


@dataclass(frozen=True, slots=True)
class RecalibrationEvent:
    """A change of the recalibration that a judge has from then on: `number`, 0 for none.

    One that was applied has its curves (by "flagged" and "entailed"), thresholds, the labels that
    it was fitted to, and the Brier scores without and with it.
    """

    judge: Annotated[str, StoredAs("Judge", LOW_CARDINALITY)]
    at_ns: Annotated[int, StoredAs("At", TIME)]
    actor: Actor
    note: Note
    action: Annotated[
        RecalibrationAction, StoredAs("Action", "Enum8('applied' = 1, 'reverted' = 2)")
    ]
    number: Annotated[int, StoredAs("Number", "UInt32")]
    method: Annotated[str, StoredAs("Method", LOW_CARDINALITY)] = ""
    curves: Annotated[
        Curves, StoredAs("Knots", "String", read=_curves_from, write=_curves_json)
    ] = ()
    flagged_threshold: Annotated[float, StoredAs("FlaggedThreshold", "Float64")] = 0.0
    entailed_threshold: Annotated[float, StoredAs("EntailedThreshold", "Float64")] = 0.0
    labels: Annotated[int, StoredAs("Labels", "UInt32")] = 0
    before: Annotated[float | None, StoredAs("Before", "Nullable(Float64)")] = None
    after: Annotated[float | None, StoredAs("After", "Nullable(Float64)")] = None

    @property
    def recalibration(self) -> Recalibration:
        """What was applied."""
        curves = {name: Curve(knots) for name, knots in self.curves}
        return Recalibration(
            self.number,
            curves.get("flagged"),
            curves.get("entailed"),
            self.flagged_threshold,
            self.entailed_threshold,
        )


RECALIBRATIONS = RowTable("rt4chart_recalibrations", RecalibrationEvent)
HISTORY = f"""
SELECT {RECALIBRATIONS.select()} FROM rt4chart_recalibrations FINAL
WHERE {{any_judge:UInt8}} OR Judge = {{judge:String}} ORDER BY Judge, At, Actor
"""  # noqa: S608 - our own names


def recalibration_history(client: Client, judge: str | None = None) -> list[RecalibrationEvent]:
    """Every change, the oldest first, by judge; of all judges without a name.

    Where two people applied one at the same time, the later one does not exist: both have the same
    number, and verdicts with that number must be of one recalibration.
    """
    parameters = {"any_judge": int(judge is None), "judge": judge or ""}
    known: set[tuple[str, int]] = set()
    found = []
    for event in read(client, RecalibrationEvent, HISTORY, parameters):
        key = (event.judge, event.number)
        if event.action is RecalibrationAction.APPLIED:
            if key in known:
                continue
            known.add(key)
        found.append(event)
    return found


def recalibration_numbered(
    history: Sequence[RecalibrationEvent], number: int
) -> RecalibrationEvent | None:
    """The recalibration with this number; None for 0 and for one that there is not."""
    for event in history:
        if event.action is RecalibrationAction.APPLIED and event.number == number:
            return event
    return None


def recalibration_in_force(client: Client, judge: str) -> Recalibration | None:
    """The judge's recalibration now; None for none."""
    history = recalibration_history(client, judge)
    found = recalibration_numbered(history, history[-1].number) if history else None
    return None if found is None else found.recalibration


def next_number(history: Sequence[RecalibrationEvent]) -> int:
    """The number of the judge's next recalibration."""
    return max((event.number for event in history), default=0) + 1


def apply_recalibration(client: Client, event: RecalibrationEvent) -> None:
    """Put the recalibration in force; InputError if somebody else was faster."""
    _insert(client, event)
    history = recalibration_history(client, event.judge)
    found = recalibration_numbered(history, event.number)
    if found is None or (found.actor, found.at_ns) != (event.actor, event.at_ns):
        raise InputError("somebody else applied a recalibration at the same time: run it again")


def revert_recalibration(
    client: Client, judge: str, *, actor: str, note: str, now_ns: int
) -> RecalibrationEvent:
    """Go back to what was in force before the present recalibration; InputError without one."""
    history = recalibration_history(client, judge)
    current = history[-1].number if history else 0
    if not current:
        raise InputError(f"{judge} has no recalibration: nothing to revert")
    applied = next(
        at
        for at, event in enumerate(history)
        if event.action is RecalibrationAction.APPLIED and event.number == current
    )
    before = history[applied - 1].number if applied else 0
    event = RecalibrationEvent(
        judge=judge,
        # The last one counts, even if the clock was set back in between.
        at_ns=max(now_ns, history[-1].at_ns + 1),
        actor=actor,
        note=note[:MAX_NOTE],
        action=RecalibrationAction.REVERTED,
        number=before,
    )
    _insert(client, event)
    return event


def _insert(client: Client, event: RecalibrationEvent) -> None:
    token = batch_token("recalibration", [(event.judge, event.at_ns, event.actor, event.number)])
    RECALIBRATIONS.insert(client, [event], token=token)
