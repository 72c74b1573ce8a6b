"""An answer found in a trace, the decision about it, and its verdict."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum

from otel_rt4chart.spans.model.blame import ClaimBlame
from otel_rt4chart.verify.core.model import Exchange, Finding, Passage, Report
from otel_rt4chart.verify.criteria.model import CriterionVerdict


class Decision(StrEnum):
    """What happened to a candidate answer; every candidate gets exactly one."""

    VERIFIED = "verified"
    NOT_SAMPLED = "not_sampled"
    THROTTLED = "throttled"
    OVER_BUDGET = "over_budget"
    NO_CONTENT = "no_content"
    NO_ANSWER = "no_answer"
    REDACTED = "redacted"
    TRUNCATED = "truncated"
    NO_CONTEXT = "no_context"
    QUEUE_FULL = "queue_full"
    ERROR = "error"


class Stage(StrEnum):
    """Where a passage was seen: at a stage between retrieval and prompt, or in an earlier turn."""

    RETRIEVED = "retrieved"
    RERANKED = "reranked"
    TEMPLATE = "template"
    TOOL = "tool"
    PROMPT = "prompt"
    EARLIER = "earlier"
    """In an earlier turn of the conversation; only if it supports a claim of the answer."""


@dataclass(frozen=True, slots=True)
class StagedPassage:
    """A passage with the stages at which it was seen, in the order of `Stage`.

    `prompt` is only set if the prompt of the generation is known (`is_prompt_known`).
    """

    passage: Passage
    stages: tuple[Stage, ...]


def is_prompt_known(stages: Iterable[Collection[Stage]]) -> bool:
    """True if the stages of an answer's passages tell which of them reached the prompt.

    Where none did, the prompt may not have been recorded, or has them in another form.
    """
    return any(Stage.PROMPT in each for each in stages)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One answer of one trace: the exchange and its origin.

    `blocked` is the reason why it cannot be verified (`no_content`, `no_answer`, `redacted`,
    `truncated`, `no_context`), otherwise None. `sampled` and `sample_rate` are the mark that the
    application set, None without a mark; `decision_hint` is its reason not to sample
    (`not_sampled`, `throttled`, `over_budget`). `staged` holds all passages seen at any stage,
    those of the exchange first: the others were retrieved but did not reach the answer. `start_ns`
    and `end_ns` are the times of the answer's span, 0 if unknown.
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
    """A candidate with its decision; `report` is set exactly if the decision is `verified`.

    `verifier` is the judge's id, `sample_rate` the probability with which the answer was chosen,
    `duration_ns` the duration of the verification, `decided_ns` its end (epoch nanoseconds).
    `error` describes a failure, `error_type` is its class. `citations` are counted, and their
    findings made, on every answer whose text is known; those of a verified one are in the report.
    `trail` says in which step each failed claim entered, if it was traced. `criteria` are the
    verdicts of the custom criteria that were drawn for a verified answer.
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
    citations: int = 0
    citation_findings: tuple[Finding, ...] = ()
    trail: tuple[ClaimBlame, ...] = ()
    criteria: tuple[CriterionVerdict, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The report's findings, or those that need no report."""
        return tuple(self.report.findings) if self.report else self.citation_findings

    @property
    def citation_errors(self) -> int:
        """The number of findings that say that a citation is wrong."""
        return sum(finding.name == "citation" for finding in self.findings)
