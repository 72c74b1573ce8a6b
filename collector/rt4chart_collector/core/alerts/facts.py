"""The facts about an alert, one class for each kind of problem.

A field is stored under its own name; `stored_facts.py` reads and writes the JSON. A time `name_ns`
is stored under `name` as RFC 3339 text, to the second.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

from otel_rt4chart.verify.core.rates import Measure

SECOND_NS = 10**9
_SPAN_OR_TRACE = re.compile(r"[0-9A-Za-z_.:-]{1,128}")


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertFacts:
    """The facts that every alert may have.

    `unknown` are stored facts that this version does not know: they are kept as they were read,
    and never quoted in messages, because they may contain texts of users.
    """

    unknown: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Cut times to the second, so that facts read from the store equal those written."""
        for fact in fields(self):
            value = getattr(self, fact.name)
            if fact.name.endswith("_ns") and value is not None:
                object.__setattr__(self, fact.name, value // SECOND_NS * SECOND_NS)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRate:
    """A share of claims with its 95% interval and the numbers that it is based on."""

    rate: float | None = None
    low: float | None = None
    high: float | None = None
    claims: int = 0
    answers: int = 0
    from_ns: int | None = None


@dataclass(frozen=True, slots=True)
class AttributeValue:
    """A value of a deployment attribute whose share of the answers changed with the rise."""

    attribute: str = ""
    value: str = ""
    share_before: float | None = None
    share_after: float | None = None
    first_seen_ns: int | None = None

    @property
    def change(self) -> float:
        """The difference between both shares."""
        return (self.share_after or 0.0) - (self.share_before or 0.0)


@dataclass(frozen=True, slots=True)
class AttributeChange:
    """A change of a deployment attribute, such as from release 2.3 to 2.4.

    `replaced` is the value that most answers had before, "" where no value became rarer.
    """

    new: AttributeValue
    replaced: str = ""


@dataclass(frozen=True, slots=True)
class FailureGrowth:
    """An issue or a document with more failures than before; a document has no title."""

    id: str = ""
    title: str | None = None
    failures_an_hour_before: float | None = None
    failures_an_hour_after: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfaithfulAnswer:
    """One of the worst answers since a rise, with its worst claim (`claim_index` -1: unknown).

    `misleading` and `status` are those of a rise of misleading claims, 0 and "" otherwise.
    """

    trace_id: str = ""
    span_id: str = ""
    unfaithful: int = 0
    decided: int = 0
    label: str = ""
    claim_index: int = -1
    claim: str = ""
    misleading: int = 0
    status: str = ""

    @property
    def has_trace(self) -> bool:
        """True where the trace id is safe in a URL."""
        return bool(_SPAN_OR_TRACE.fullmatch(self.trace_id))

    @property
    def has_span(self) -> bool:
        """True where both ids are safe in a URL."""
        return self.has_trace and bool(_SPAN_OR_TRACE.fullmatch(self.span_id))


@dataclass(frozen=True, slots=True)
class DriftEvidence:
    """The measure of a rise and the value at which it alerts.

    Both are logarithms for the rule "evidence", and shares for the other rules.
    """

    log: float
    threshold: float


@dataclass(frozen=True, slots=True)
class PointsRange:
    """A part of a rise with its 95% interval; each is a share of claims."""

    points: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class RiseParts:
    """The parts of a rise of `points`, the mean of answers' shares of counted claims.

    `mix` is due to another mix of kinds of questions, `time` to the hour and the day of the week,
    `quality` is the rest. `kinds` are those whose share of the answers changed the most.
    """

    points: float
    mix: PointsRange
    quality: PointsRange
    time: float = 0.0
    kinds: tuple[AttributeValue, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftFacts(AlertFacts):
    """A rise of a route's rate: what it was, what it is, and what changed at that time.

    `measure` says of which claims: rates, issues, documents and answers are of these only. `parts`
    are known where a part of the rise is surely another mix of questions.
    """

    measure: Measure = Measure.UNFAITHFUL
    since_ns: int | None = None
    before: MeasuredRate | None = None
    after: MeasuredRate | None = None
    changed: tuple[AttributeValue, ...] = ()
    issues: tuple[FailureGrowth, ...] = ()
    documents: tuple[FailureGrowth, ...] = ()
    worst_answers: tuple[UnfaithfulAnswer, ...] = ()
    evidence: DriftEvidence | None = None
    verifier: str = ""
    detectable_rise: float | None = None
    parts: RiseParts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueFacts(AlertFacts):
    """A new issue, or one that came back; `issue` is its id in hexadecimal digits."""

    issue: str
    title: str
    since_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueShare:
    """An issue among several, and its share of their failures."""

    issue: str
    title: str
    service: str
    route: str
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NewIssueFacts(IssueFacts):
    """A new issue, or all issues of the first grouping run; then `issue` is empty.

    `largest` are the issues of that run with the most failures, the largest first.
    """

    issues: int = 1
    largest: tuple[IssueShare, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowingIssueFacts(IssueFacts):
    """A growing issue. `seen_today` counts verified failures, the other figures are weighted."""

    failures_today: float
    seen_today: int
    failures_a_day_before: float
    claims_today_over_before: float


@dataclass(frozen=True, slots=True, kw_only=True)
class UndecidedFacts(AlertFacts):
    """A large share of undecided claims on a route; `claims` counts decided ones too."""

    undecided_share: float
    undecided: int
    claims: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFacts(AlertFacts):
    """A judge that fails; `paused` is why it is not asked now, None where it is."""

    verifier: str
    failed_share: float
    failed: int
    answers: int
    paused: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedRateFacts(AlertFacts):
    """A corrected rate above a limit. `raw` is the judge's own, `rate` has the number of labels.

    `covered` is the share of the period's claims from which labels were drawn.
    """

    limit: float
    rate: MeasuredRate
    raw: float | None = None
    covered: float = 1.0
    verifier: str = ""


@dataclass(frozen=True, slots=True)
class QualityChange:
    """A fall of the judge's precision or recall, as labels have it."""

    name: str = ""
    before: MeasuredRate | None = None
    after: MeasuredRate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeDriftFacts(AlertFacts):
    """A judge that labels call worse than before; the rates are corrected ones of both periods."""

    verifier: str
    changes: tuple[QualityChange, ...] = ()
    labels_before: int = 0
    labels_after: int = 0
    rate_before: MeasuredRate | None = None
    rate_after: MeasuredRate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BacklogFacts(AlertFacts):
    """Answers that wait for a retry, and those that were given up in the last hour."""

    waiting: int
    dead_last_hour: int
    verifier: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoDataFacts(AlertFacts):
    """Answers that are missing; `expected_answers` is their number a week ago."""

    expected_answers: int
    last_answer_ns: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteFacts(AlertFacts):
    """A sentence about the alert, as a test alert has it."""

    what: str


def attribute_changes(
    values: Sequence[AttributeValue], since_ns: int | None
) -> tuple[AttributeChange, ...]:
    """The changes, the one nearest in time to the rise first.

    Values that only became rarer come last; those that were replaced are named in the change.
    """
    new = [value for value in values if value.change >= 0]
    rarer = [value for value in values if value.change < 0]
    found = [AttributeChange(value, _replaced(value.attribute, rarer)) for value in new]
    found.sort(key=lambda change: _distance_ns(change.new.first_seen_ns, since_ns))
    named = {value.attribute for value in new}
    rest = [AttributeChange(value) for value in rarer if value.attribute not in named]
    return (*found, *rest)


def _replaced(attribute: str, rarer: Sequence[AttributeValue]) -> str:
    of_attribute = [value for value in rarer if value.attribute == attribute]
    most = min(of_attribute, key=lambda value: value.change, default=None)
    return most.value if most else ""


def _distance_ns(first_seen_ns: int | None, since_ns: int | None) -> int:
    """The time between both; 0 where either is unknown."""
    return 0 if first_seen_ns is None or since_ns is None else abs(first_seen_ns - since_ns)
