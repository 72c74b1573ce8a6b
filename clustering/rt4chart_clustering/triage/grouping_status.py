"""When failures were grouped last, what that run did, and how many failures wait for the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rt4chart_collector.core.times import iso
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.failures import DAY_NS
from rt4chart_collector.store.issues.grouping_runs import GroupingRun, last_runs, waiting_failures

# As far as a run looks back unless it is told otherwise.
WINDOW_DAYS = 7


@dataclass(frozen=True, slots=True)
class GroupingStatus:
    """The last run, None for none, and the failures of the last week that are in no issue."""

    last: GroupingRun | None
    waiting: int


def grouping_status(client: Client, *, now_ns: int) -> GroupingStatus:
    """Read the last run, and count the failures that wait."""
    last = next(iter(last_runs(client, limit=1)), None)
    return GroupingStatus(last, waiting_failures(client, since_ns=now_ns - WINDOW_DAYS * DAY_NS))


def run_outcome(run: GroupingRun) -> str:
    """What a run did, in words."""
    if run.error:
        return f"failed: {run.error}"
    counts = (
        (run.failures, "new failure", "s"),
        (run.created, "new issue", "s"),
        (run.grown, "with more failures", ""),
        (run.regressed, "regressed", ""),
        (run.proposed, "proposed merge or split", ""),
    )
    told = [f"{number:,} {noun}{end * (number != 1)}" for number, noun, end in counts if number]
    return ", ".join(told) or "nothing new"


def waiting_text(waiting: int) -> str:
    """How many failures wait."""
    return f"{waiting:,} failure{'s' * (waiting != 1)} in no issue yet"


def status_text(status: GroupingStatus) -> str:
    """The status as one line for a terminal."""
    if status.last is None:
        return f"not grouped yet; {waiting_text(status.waiting)}"
    last = status.last
    return f"grouped {iso(last.ended_ns)}: {run_outcome(last)}; {waiting_text(status.waiting)}"


def run_row(run: GroupingRun) -> dict[str, Any]:
    """A run as JSON."""
    return {
        "started": iso(run.started_ns),
        "seconds": round(run.seconds, 3),
        "cause": run.cause,
        "error": run.error,
        "failures": run.failures,
        "grouped": run.grouped,
        "waiting": run.waiting,
        "unexplained": run.unexplained,
        "new": run.created,
        "known": run.grown,
        "regressed": run.regressed,
        "proposed": run.proposed,
    }
