"""An answer found in a trace, what was decided about it, and its verdict."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from otel_rt4chart.verify.core.model import Exchange, Passage, Report


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


class Stage(StrEnum):
    """Where on the way to the answer a passage was seen."""

    RETRIEVED = "retrieved"
    RERANKED = "reranked"
    TEMPLATE = "template"
    TOOL = "tool"
    PROMPT = "prompt"


@dataclass(frozen=True, slots=True)
class StagedPassage:
    """A passage with the stages at which it was seen, in the order of `Stage`.

    `prompt` is claimed only where the generation's prompt is known: of an answer no passage of
    which has that stage, it is not known what reached the prompt.
    """

    passage: Passage
    stages: tuple[Stage, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One answer of one trace: the exchange, and where it came from.

    `blocked` says why it cannot be verified (`no_content`, `redacted`, `truncated`, `no_context`),
    else None. `sampled` and `sample_rate` are the application's own mark, None where it left none,
    `decision_hint` its reason not to sample (`not_sampled`, `throttled`, `over_budget`). `staged`
    are all passages seen at any stage, those of the exchange first: what is there and not in the
    exchange was lost on the way. The answer's span is from `start_ns` to `end_ns`, 0 where that is
    not known.
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
    release: str = ""
    session: str = ""
    sampled: bool | None = None
    sample_rate: float | None = None
    decision_hint: Decision | None = None
    blocked: Decision | None = None
    staged: tuple[StagedPassage, ...] = ()
    end_ns: int = 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """A candidate with its decision; `report` is there exactly where the decision is `verified`.

    `verifier` is the judge's id, `sample_rate` the probability with which the answer was chosen,
    `duration_ns` the time that verification took, `decided_ns` when it ended (epoch nanoseconds).
    `error` says what failed, `error_type` in one word.
    """

    candidate: Candidate
    decision: Decision
    verifier: str
    sample_rate: float
    decided_ns: int
    report: Report | None = None
    duration_ns: int = 0
    error: str = ""
    error_type: str = ""
