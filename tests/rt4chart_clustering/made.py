"""Failures for the tests of grouping."""

from __future__ import annotations

from otel_rt4chart.spans.model.verdict import Candidate, Decision, Verdict
from otel_rt4chart.verify.core.model import (
    AnswerLabel,
    AnswerRange,
    Claim,
    Clash,
    Evidence,
    Exchange,
    Label,
    Passage,
    Report,
)
from rt4chart_collector.store.issues.failures import Failure

# Far ahead: what is older than the tables keep is dropped, at a moment of the engine's choosing.
NOON = 4_000_000_000_000_000_000
SECOND = 1_000_000_000
SUBJECTS = ("trial", "contract", "warranty", "refund window", "licence", "delivery", "notice")
ADDED = (
    "The trial includes priority email support.",
    "The trial includes priority email support daily.",
    "A trial includes priority email support for all.",
    "The trial includes priority email support too.",
    "The trial also includes priority email support.",
    "The trial includes fast priority email support.",
)
SCATTERED = (
    "Penguins huddle on Antarctic ice.",
    "A violin was sold in Vienna.",
    "The senate rejected that treaty.",
    "Copper cables rust slowly underwater.",
    "His orchard yields sweet cherries.",
    "Glaciers carve deep desert valleys.",
)


def failure(
    number: int,
    claim: str,
    evidence: str = "",
    *,
    label: Label = Label.CONTRADICTED,
    route: str = "billing",
    nearest: str = "",
    clashes: tuple[Clash, ...] = (),
) -> Failure:
    """The failure with that number; contradicted claims have evidence, baseless ones none."""
    given = Evidence("p1", 0, len(evidence), evidence, "contradicts")
    return Failure(
        trace_id=f"{number:032x}",
        span_id=f"{number:016x}",
        claim_index=0,
        time_ns=NOON + number,
        service="shop",
        route=route,
        question="How long does it last?",
        claim=claim,
        label=label,
        nearest=nearest,
        evidence=(given,) if evidence else (),
        clashes=clashes,
    )


def numbers(count: int, *, route: str = "billing", first: int = 1) -> list[Failure]:
    """Claims whose number is not the source's, about this and that."""
    return [
        failure(
            first + at,
            f"The {SUBJECTS[at % len(SUBJECTS)]} lasts {at + 31} days.",
            f"The {SUBJECTS[at % len(SUBJECTS)]} lasts 14 days.",
            route=route,
        )
        for at in range(count)
    ]


def added(*, first: int = 100) -> list[Failure]:
    """Six baseless claims that say the same, and six that have nothing to do with each other."""
    return [
        failure(first + at, claim, label=Label.BASELESS, nearest="Nothing like it stands here.")
        for at, claim in enumerate((*ADDED, *SCATTERED))
    ]


def verdict(found: Failure, *, verifier: str = "local/test-1", version: int = 1) -> Verdict:
    """The verdict on an answer with this one claim."""
    claim = Claim(
        text=found.claim,
        label=found.label,
        local_label=found.label,
        confidence=0.9,
        decided_by="test",
        kind="attribute",
        answer_range=AnswerRange(0, len(found.claim)),
        sentence=0,
        evidence=found.evidence,
        clashes=found.clashes,
        nearest=found.nearest,
    )
    return Verdict(
        candidate=Candidate(
            exchange=Exchange(found.question, (Passage("p1", "14 days"),), found.claim),
            trace_id=found.trace_id,
            span_id=found.span_id,
            start_ns=found.time_ns,
            service=found.service,
            route=found.route,
        ),
        decision=Decision.VERIFIED,
        verifier=verifier,
        sample_rate=1.0,
        decided_ns=found.time_ns + version * SECOND,
        report=Report(label=AnswerLabel(found.label.value), claims=(claim,), judge=verifier),
    )
