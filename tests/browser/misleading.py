"""Answers of an insurer that mislead with true sentences, verified by the embedded judge.

What the judge does not find is set here, so that the pages have every status to show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Decision, Verdict
from otel_rt4chart.verify import LocalJudge, Verifier
from otel_rt4chart.verify.core.model import (
    Action,
    Advice,
    AnswerLabel,
    CheckPlan,
    Claim,
    ClaimStatus,
    Edit,
    Evidence,
    Label,
    Report,
)
from rt4chart_collector.console.view.urls import answer_url
from rt4chart_collector.store.answers.spans import insert_spans
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client

VERIFIER = "local/world-1"
MINUTE_NS = 60 * 10**9
ANSWER_SPAN = "3" * 16
MISLEADING = ("insurer", "coverage")


@dataclass(frozen=True, slots=True)
class Case:
    """An exchange, the status of its first claim, and what to do about it.

    `limits` is the passage that limits or contradicts the claim, by its number; `edit` replaces the
    first text by the second one.
    """

    question: str
    passages: tuple[str, ...]
    answer: str
    status: ClaimStatus
    limits: int = -1
    edit: tuple[str, str, str] | None = None
    label: Label = Label.ENTAILED


CASES = (
    Case(
        "Does the policy cover outpatient MRI?",
        (
            "Plan summary. The policy covers outpatient imaging. Members pay 20% of each bill.",
            "Chapter 4. Exclusions: outpatient MRI is not covered unless pre-authorized. Ask us.",
            "Members may request an appointment by phone.",
        ),
        "Yes, the policy covers outpatient imaging, including MRI. You pay 20% of each bill.",
        ClaimStatus.CHERRY_PICKED,
        limits=1,
        edit=(
            "including MRI",
            "but outpatient MRI only if pre-authorized",
            "names the exclusion of passage doc-2",
        ),
    ),
    Case(
        "Is MRI covered?",
        ("Outpatient MRI is covered when prior authorization has been obtained.",),
        "Outpatient MRI is covered.",
        ClaimStatus.QUALIFIER_DROPPED,
        edit=(
            "is covered",
            "is covered when prior authorization has been obtained",
            "puts the condition back",
        ),
    ),
    Case(
        "Does the policy cover hair removal?",
        ("The policy covers hair removal.", "The policy does not cover hair removal."),
        "The policy covers hair removal.",
        ClaimStatus.CHERRY_PICKED,
        limits=1,
        label=Label.CONTRADICTED,
    ),
    Case(
        "Doesn't the policy cover outpatient MRI?",
        ("Members may request an MRI appointment by phone.",),
        "Yes, the policy covers outpatient MRI.",
        ClaimStatus.RESTATES_PREMISE,
        label=Label.BASELESS,
    ),
    Case(
        "How long is the waiting period?",
        ("The waiting period is 14 days.", "Claims are paid by bank transfer."),
        "The waiting period is 14 days [2].",
        ClaimStatus.MISCITED,
        edit=("[2]", "[1]", "cites the passage that says it"),
    ),
    Case(
        "What is the deductible?",
        ("The deductible is 500 dollars a year.",),
        "The deductible is 500 dollars a year.",
        ClaimStatus.SUPPORTED,
    ),
)


def fill_misleading(client: Client, now_ns: int) -> None:
    """Each case with its spans."""
    verifier = Verifier(LocalJudge())
    service, route = MISLEADING
    for number, case in enumerate(CASES):
        start_ns = now_ns - (number + 1) * 10 * MINUTE_NS
        spans = _spans(case, trace_of(number), start_ns)
        (candidate,) = find_candidates(spans)
        report = verifier.verify(candidate.exchange)
        verdict = Verdict(
            replace(candidate, service=service, route=route),
            Decision.VERIFIED,
            VERIFIER,
            1.0,
            start_ns + 10**9,
            _told(case, report),
            citations=case.answer.count("["),
        )
        insert_spans(client, spans)
        insert_verdicts(client, [verdict])


def case_url(number: int) -> str:
    """The page of the answer of `CASES[number]`."""
    return answer_url(trace_of(number), ANSWER_SPAN)


def trace_of(number: int) -> str:
    """The trace of a case."""
    return f"{number + 700_001:032x}"


def _told(case: Case, report: Report) -> Report:
    first = next(n for n, claim in enumerate(report.claims) if claim.label is not Label.NOT_A_CLAIM)
    claims = tuple(
        _first(case, claim) if number == first else _other(claim)
        for number, claim in enumerate(report.claims)
    )
    label = AnswerLabel.ENTAILED if case.label is Label.ENTAILED else AnswerLabel(case.label.value)
    plan = CheckPlan(cherry_picking=0.5) if case.limits >= 0 else CheckPlan()
    return replace(report, label=label, claims=claims, plan=plan, advice=_advice(case, first))


def _first(case: Case, claim: Claim) -> Claim:
    evidence = tuple(one for one in claim.evidence if one.relation == "supports")
    if not evidence and case.label is not Label.BASELESS:
        evidence = (_quote(case.passages, 0, "supports"),)
    if case.limits >= 0:
        evidence += (_quote(case.passages, case.limits, "limits"),)
        if case.label is Label.CONTRADICTED:
            evidence = (*evidence[:-1], replace(evidence[-1], relation="contradicts"))
    rate = 0.5 if case.limits >= 0 else 1.0
    return replace(
        claim, label=case.label, status=case.status, evidence=evidence, check_rate=rate, clashes=()
    )


def _other(claim: Claim) -> Claim:
    return replace(claim, label=Label.ENTAILED, status=ClaimStatus.SUPPORTED, clashes=())


def _quote(passages: Sequence[str], number: int, relation: str) -> Evidence:
    """The second sentence of a passage of several, else the first."""
    text = passages[number]
    start = text.find(". ") + 2 if text.count(". ") else 0
    end = text.index(".", start) + 1
    return Evidence(f"doc-{number + 1}", start, end, text[start:end], relation)  # type: ignore[arg-type]


def _advice(case: Case, claim: int) -> Advice:
    if case.edit is not None:
        old, new, reason = case.edit
        start = case.answer.index(old)
        edit = Edit(start, start + len(old), new, claim, reason)
        return Advice(Action.REVISE, f"1 claim {case.status.label}", (edit,))
    if case.status is ClaimStatus.SUPPORTED:
        return Advice(Action.ACCEPT, "1 claim supported")
    return Advice(Action.ESCALATE, "1 claim has no edit that is safe")


def _spans(case: Case, trace_id: str, start_ns: int) -> list[SpanRecord]:
    """A request, a retrieval and the answer."""
    documents = {
        f"retrieval.documents.{at}.document.{key}": value
        for at, text in enumerate(case.passages)
        for key, value in (("id", f"doc-{at + 1}"), ("content", text))
    }

    def span(name: str, parent: str, kind: str, **attributes: object) -> SpanRecord:
        given = {key.replace("__", "."): value for key, value in attributes.items()}
        return SpanRecord(
            trace_id=trace_id,
            span_id=name,
            name=kind.lower(),
            start_ns=start_ns + len(kind),
            end_ns=start_ns + 10**9,
            parent_span_id=parent,
            attributes={"openinference.span.kind": kind, **given},  # type: ignore[dict-item]
            resource={"service.name": MISLEADING[0]},
            scope_name="openinference.instrumentation",
        )

    root = "1" * 16
    return [
        span(root, "", "CHAIN", input__value=case.question),
        span("2" * 16, root, "RETRIEVER", **documents),
        span(ANSWER_SPAN, root, "LLM", output__value=case.answer, llm__model_name="m-large"),
    ]
