"""An answer found in a trace, what was decided about it, and its verdict."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from otel_rt4chart.verify.model import Exchange, Report


class Decision(StrEnum):
    """What happened to a candidate answer; every candidate gets exactly one."""

    VERIFIED = "verified"
    NOT_SAMPLED = "not_sampled"
    THROTTLED = "throttled"
    OVER_BUDGET = "over_budget"
    NO_CONTENT = "no_content"
    REDACTED = "redacted"
    TRUNCATED = "truncated"
    NO_CONTEXT = "no_context"
    QUEUE_FULL = "queue_full"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One answer of one trace: the exchange, and where it came from.

    `blocked` says why it cannot be verified (`no_content`, `redacted`, `truncated`, `no_context`),
    else None. `sampled` and `sample_rate` are the application's own mark, None where it left none.
    """

    exchange: Exchange
    trace_id: str
    span_id: str
    start_ns: int
    service: str
    route: str
    environment: str = ""
    model: str = ""
    prompt_version: str = ""
    sampled: bool | None = None
    sample_rate: float | None = None
    blocked: Decision | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """A candidate with its decision; `report` is there exactly where the decision is `verified`.

    `verifier` is the judge's id, `sample_rate` the probability with which the answer was chosen,
    `duration_ns` the time that verification took, `decided_ns` when it ended (epoch nanoseconds).
    """

    candidate: Candidate
    decision: Decision
    verifier: str
    sample_rate: float
    decided_ns: int
    report: Report | None = None
    duration_ns: int = 0
    error: str = ""
