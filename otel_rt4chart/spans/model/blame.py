"""Where in the chain of steps a claim went wrong: the trail of a failed claim, as it is stored."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from otel_rt4chart.verify.core.model import Evidence, Label


class RetrievalBlame(StrEnum):
    """Where the passage got lost that would have prevented a claim."""

    NONE = ""
    """Nowhere, or it is not known."""
    NEVER_RETRIEVED = "never_retrieved"
    """No passage that was retrieved says anything that supports or excludes the claim."""
    DROPPED_BY_RERANKER = "dropped_by_reranker"
    """A retrieved passage decides the claim, and the reranker left it out."""
    CUT_FROM_PROMPT = "cut_from_prompt"
    """A passage that was retrieved or reranked decides the claim, and is not in the prompt."""
    IGNORED_BY_GENERATOR = "ignored_by_generator"
    """A passage that the step had read contradicts the claim."""
    LIMIT_LEFT_OUT = "limit_left_out"
    """A sentence that the step had read limits the claim, and the step left it out."""


@dataclass(frozen=True, slots=True)
class ChainPlace:
    """A node of a chain: the span that it is of, and what people call the step.

    `kind` is a value of `OperationKind`.
    """

    node: str
    span_id: str = ""
    name: str = ""
    kind: str = ""
    stage: str = ""


@dataclass(frozen=True, slots=True)
class InterimVerdict:
    """The judge's verdict on a claim by the texts of some nodes alone.

    `read` are the nodes that this step of the search read, without the `more` that are not listed.
    The `passage_id` of the evidence is a node's id.
    """

    label: Label
    read: tuple[ChainPlace, ...] = ()
    more: int = 0
    evidence: tuple[Evidence, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ClaimBlame:
    """What the trail of one failed claim says; `claim` is its number in the answer.

    `blamed` are the steps in which the claim may have entered, or that left out what limits it. It
    is known to be one of them only if there is a single one: `place`. `stage` is their stage if
    they share one. Without any, `problem` says why. `way` are the interim verdicts from the answer
    towards the sources. `lost` is what passages say of the claim that no step on the way to the
    answer has read, or the sentence that a step left out. `calls` are the questions to the judge
    for all claims of the answer.
    """

    claim: int
    blamed: tuple[ChainPlace, ...] = ()
    way: tuple[InterimVerdict, ...] = ()
    retrieval: RetrievalBlame = RetrievalBlame.NONE
    lost: tuple[Evidence, ...] = ()
    reaches_sources: bool = False
    calls: int = 0
    problem: str = ""

    @property
    def place(self) -> ChainPlace | None:
        """The step in which the claim entered; None if that is not known."""
        return self.blamed[0] if len(self.blamed) == 1 else None

    @property
    def stage(self) -> str:
        """The stage in which it entered; empty if that is not known."""
        stages = {place.stage for place in self.blamed}
        return stages.pop() if len(stages) == 1 else ""
