"""The values that verification takes and returns: exchanges in, claims and reports out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, NamedTuple

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.rates import Measure


class Label(StrEnum):
    """What the passages say about one claim; RT4CHART section 2 defines the first three."""

    ENTAILED = "entailed"
    CONTRADICTED = "contradicted"
    BASELESS = "baseless"
    UNDECIDED = "undecided"
    NOT_A_CLAIM = "not_a_claim"

    @property
    def is_unfaithful(self) -> bool:
        """True for the two labels that count against the answer."""
        return self in (Label.CONTRADICTED, Label.BASELESS)

    @property
    def is_decided(self) -> bool:
        """True for the labels that count in the denominator of a rate."""
        return self in (Label.ENTAILED, Label.CONTRADICTED, Label.BASELESS)


class ClaimStatus(StrEnum):
    """What is wrong with a claim beyond its label, the worst that applies; else `SUPPORTED`.

    An entailed claim with another status than `SUPPORTED` is misleading: the passages say it, but
    not only it. The statuses are in the order of precedence.
    """

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNSUPPORTED = "unsupported"
    """Baseless: the passages speak of something near, and do not say it."""
    UNLINKED = "unlinked"
    """Baseless: nothing in the passages is about it."""
    OVERREACH = "overreach"
    """Baseless: the passages say less about the same thing."""
    CHERRY_PICKED = "cherry_picked"
    """A passage supports it; another one contradicts or limits it."""
    QUALIFIER_DROPPED = "qualifier_dropped"
    """Its own passage says it with a restriction that the answer leaves out."""
    STALE = "stale"
    """Only passages that a newer or more authoritative one supersedes support it."""
    RESTATES_PREMISE = "restates_premise"
    """Its support comes from the question."""
    MISCITED = "miscited"
    """The passage that it cites does not say it, or was not retrieved."""
    UNDECIDED = "undecided"
    NOT_A_CLAIM = "not_a_claim"

    @property
    def label(self) -> str:
        """The words for people."""
        return _STATUS_LABELS.get(self, self.value.replace("_", " "))

    def misleads(self, label: Label) -> bool:
        """True if a claim with this label and status leaves out or contradicts other passages."""
        return label is Label.ENTAILED and self not in FAULTLESS


# The statuses that say nothing against a claim.
FAULTLESS = frozenset({ClaimStatus.SUPPORTED, ClaimStatus.UNDECIDED})

_STATUS_LABELS = {
    ClaimStatus.UNSUPPORTED: "not in the passages",
    ClaimStatus.UNLINKED: "nothing about it",
    ClaimStatus.OVERREACH: "says more than the source",
    ClaimStatus.CHERRY_PICKED: "cherry-picked",
    ClaimStatus.QUALIFIER_DROPPED: "restriction left out",
    ClaimStatus.STALE: "outdated source",
    ClaimStatus.RESTATES_PREMISE: "repeats the question",
    ClaimStatus.MISCITED: "wrong citation",
}


def status_label(name: str) -> str:
    """The words for a status; its name in words if a later version wrote it."""
    try:
        return ClaimStatus(name).label
    except ValueError:
        return name.replace("_", " ")


class AnswerLabel(StrEnum):
    """The AND-join of an answer's claims (RT4CHART section 3.6)."""

    ENTAILED = "entailed"
    CONTRADICTED = "contradicted"
    BASELESS = "baseless"
    UNDECIDED = "undecided"
    NO_CLAIMS = "no_claims"

    @property
    def is_unfaithful(self) -> bool:
        """True where at least one claim of the answer is contradicted or baseless."""
        return self in (AnswerLabel.CONTRADICTED, AnswerLabel.BASELESS)


ClaimKind = Literal["existence", "attribute", "numeric", "relation", "qualifier", "action"]
Relation = Literal["supports", "contradicts", "limits"]
Slot = Literal["number", "date", "name", "negation", "quantifier", "qualifier", "term"]


class AnswerRange(NamedTuple):
    """A half-open character range of the answer: `answer[start:end]`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Passage:
    """One retrieved text, as the generator saw it."""

    id: str
    text: str
    score: float | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question, the passages retrieved for it, and the answer.

    `as_of` is the answer's date in ISO 8601, where known: sources may have expired by then.
    """

    question: str
    passages: Sequence[Passage]
    answer: str
    as_of: str = ""

    def __post_init__(self) -> None:
        """InputError for items that are not passages, which would fail far from the mistake."""
        for passage in self.passages:
            if not isinstance(passage, Passage):
                raise InputError(
                    f"expected every passage to be a Passage, got {type(passage).__name__}: "
                    'Passage(id="p1", text="…")'
                )


class Fact(NamedTuple):
    """One value of structured data: what it is about, its name and itself; any may be empty."""

    subject: str
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """`text == source[start:end]`, where the source is a passage's text or the answer.

    `index` counts over all passages in order (the paper's S), or over the answer. `passage_id` is
    empty for a sentence of the answer. `rendered` puts structured data into words ("WiFi is not
    available" for `"WiFi": "no"`) and is empty for prose; `facts` has the values in it.
    """

    index: int
    start: int
    end: int
    text: str
    passage_id: str = ""
    rendered: str = ""
    facts: tuple[Fact, ...] = ()

    @property
    def reading(self) -> str:
        """The text for judges: the rendered words, else the text itself."""
        return self.rendered or self.text


@dataclass(frozen=True, slots=True)
class Chunk:
    """A window of consecutive context sentences (RT4CHART section 2)."""

    index: int
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class Clash:
    """Conflicting values: `claimed` in the answer, `found` in the evidence.

    `found` is empty where the evidence has no value of that kind.
    """

    slot: Slot
    claimed: str
    found: str = ""


@dataclass(frozen=True, slots=True)
class DraftClaim:
    """A claim before any verdict: its wording, its sentence and its range in the answer."""

    text: str
    sentence: int
    range: AnswerRange
    kind: ClaimKind = "attribute"
    is_claim: bool = True


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's verdict on one claim; `sentences` are indices of context sentences.

    `confidence` is None where the judge states none.
    """

    label: Label
    sentences: tuple[int, ...] = ()
    confidence: float | None = 0.0
    reason: str = ""
    clashes: tuple[Clash, ...] = ()


def reaches(confidence: float | None, threshold: float, *, unknown: bool = True) -> bool:
    """True from the threshold on; `unknown` for a verdict whose judge states no confidence."""
    return unknown if confidence is None else confidence >= threshold


@dataclass(frozen=True, slots=True)
class Evidence:
    """A quotation of a passage: `text == passage.text[start:end]`."""

    passage_id: str
    start: int
    end: int
    text: str
    relation: Relation


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim with its verdict.

    `local_label` is what the chunks say of it, the OR-join; None where no chunk was asked.
    `answer_range` is the narrowest range that makes a claim unfaithful, else the claim's range.
    `confidence` is in [0, 1], None where the judge states none. `decided_by` is the judge's id, or
    the step that needed no judge.
    `nearest` is the context sentence most similar to the claim: for readers and for grouping, not
    evidence. `check_rate` is the probability with which the check that found the status was run on
    this answer: of a status that is found on a tenth of the answers, each counts ten times.
    """

    text: str
    label: Label
    local_label: Label | None
    confidence: float | None
    decided_by: str
    kind: ClaimKind
    answer_range: AnswerRange
    sentence: int
    evidence: tuple[Evidence, ...] = ()
    reason: str = ""
    clashes: tuple[Clash, ...] = ()
    nearest: str = ""
    status: ClaimStatus = ClaimStatus.UNDECIDED
    check_rate: float = 1.0

    @property
    def is_misleading(self) -> bool:
        """True for an entailed claim that leaves out or contradicts what else was retrieved."""
        return self.status.misleads(self.label)

    @property
    def is_failure(self) -> bool:
        """True for an unfaithful and for a misleading claim."""
        return self.label.is_unfaithful or self.is_misleading


class AnswerCheck(StrEnum):
    """The checks of an answer beyond its labels, each with a sampling rate of its own."""

    CITATIONS = "citations"
    CHERRY_PICKING = "cherry_picking"
    SYCOPHANCY = "sycophancy"


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """Which checks run on an answer: the probability with which each was chosen, else 0.

    The checks of one answer are drawn with one random number, so that a check with a lower rate
    never runs without those with a higher one; `Claim.check_rate` is unbiased because of it.
    `is_complete` is false if a check was left out by chance, and not because it is switched off: a
    rise of the counts of complete answers is no effect of the draw.
    """

    citations: float = 1.0
    cherry_picking: float = 1.0
    sycophancy: float = 1.0
    is_complete: bool = True

    def rate(self, check: AnswerCheck) -> float:
        """The probability with which the check was chosen; 0 if it does not run."""
        return float(getattr(self, check))

    @property
    def rates(self) -> dict[str, float]:
        """The rate of each check that runs."""
        return {check.value: self.rate(check) for check in AnswerCheck if self.rate(check) > 0}


class Action(StrEnum):
    """What to do with an answer; `NONE` for one without a verdict."""

    NONE = ""
    ACCEPT = "accept"
    REVISE = "revise"
    ESCALATE = "escalate"


@dataclass(frozen=True, slots=True)
class Edit:
    """The least change that makes a claim true: `answer[start:end]` becomes `replacement`.

    `claim` is the number of the claim.
    """

    start: int
    end: int
    replacement: str
    claim: int
    reason: str


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do about an answer, and why; `edits` do not overlap and are in the answer's order."""

    action: Action = Action.NONE
    reason: str = ""
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """An observation on an answer that its labels do not show; `detail` describes it.

    `kind` distinguishes findings of one `name`. `claim` is the number of the claim concerned.
    `evidence` has the relation "contradicts" where it denies the claim, "limits" where it restricts
    it.
    """

    name: str
    detail: str
    kind: str = ""
    claim: int | None = None
    passage_ids: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    value: float | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """The cost of a verification.

    `cache_hits` counts the claims and sentences that needed no call. `cached_tokens` are those of
    the `input_tokens` that the provider had in its prompt cache. `cost_usd` is None where a model
    has no known price, `milliseconds` where no clock was given.
    """

    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cache_hits: int = 0
    cost_usd: float | None = 0.0
    milliseconds: float | None = None

    def plus(self, other: Usage) -> Usage:
        """The sums of both; the price is known if both are, the time is this one's."""
        known = self.cost_usd is not None and other.cost_usd is not None
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_hits=self.cache_hits + other.cache_hits,
            cost_usd=(self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None,
            milliseconds=self.milliseconds,
        )


@dataclass(frozen=True, slots=True)
class Report:
    """The verdict on one answer."""

    label: AnswerLabel
    claims: tuple[Claim, ...]
    judge: str
    findings: tuple[Finding, ...] = ()
    usage: Usage = Usage()
    plan: CheckPlan = CheckPlan()
    advice: Advice = Advice()

    def count(self, label: Label) -> int:
        """The number of claims with that label."""
        return sum(claim.label is label for claim in self.claims)

    def share(self, label: Label) -> float | None:
        """That label's share of the decided claims; None where no claim was decided."""
        decided = self.decided
        return self.count(label) / decided if decided else None

    @property
    def decided(self) -> int:
        """The number of claims that are entailed, contradicted or baseless."""
        return sum(claim.label.is_decided for claim in self.claims)

    @property
    def unfaithful(self) -> tuple[Claim, ...]:
        """The contradicted and baseless claims, in the answer's order."""
        return tuple(claim for claim in self.claims if claim.label.is_unfaithful)

    @property
    def misleading(self) -> tuple[Claim, ...]:
        """The entailed claims whose status is not `supported`, in the answer's order."""
        return tuple(claim for claim in self.claims if claim.is_misleading)

    @property
    def failures(self) -> tuple[Claim, ...]:
        """The unfaithful and the misleading claims, in the answer's order."""
        return tuple(claim for claim in self.claims if claim.is_failure)

    def counted(self, measure: Measure) -> tuple[Claim, ...]:
        """The claims that the measure counts, in the answer's order."""
        match measure:
            case Measure.UNFAITHFUL:
                return self.unfaithful
            case Measure.MISLEADING:
                return self.misleading
            case Measure.EITHER:
                return self.failures

    @property
    def status_weights(self) -> dict[str, float]:
        """The number of claims by status, each as 1 / the rate of the check that found it."""
        found: dict[str, float] = {}
        for claim in self.claims:
            if claim.label is not Label.NOT_A_CLAIM:
                found[claim.status] = found.get(claim.status, 0.0) + 1 / claim.check_rate
        return found

    @property
    def misleading_rate(self) -> float | None:
        """The misleading claims' share of the decided ones; None where no claim was decided."""
        return len(self.misleading) / self.decided if self.decided else None

    @property
    def failure_rate(self) -> float | None:
        """The share of claims that are unfaithful or misleading; None where none was decided."""
        return len(self.failures) / self.decided if self.decided else None

    @property
    def hallucination_rate(self) -> float | None:
        """(contradicted + baseless) / decided claims; None where no claim was decided."""
        return len(self.unfaithful) / self.decided if self.decided else None
