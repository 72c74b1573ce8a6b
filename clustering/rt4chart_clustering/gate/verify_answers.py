"""Verifies the new answers to an eval set's cases."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

from otel_rt4chart.core.text import printable
from otel_rt4chart.judges.batch import BatchRun
from otel_rt4chart.judges.criteria import CriteriaJudge
from otel_rt4chart.verify.core.model import ClaimStatus, Label
from otel_rt4chart.verify.pipeline import Verifier
from rt4chart_clustering.evalset.case import EvalCase, case_row
from rt4chart_clustering.gate.answers import NewAnswer
from rt4chart_clustering.gate.result import CaseResult, GateResult

UNANSWERED = "no answer was given"


def verify_answers(
    evalset: str,
    cases: Sequence[EvalCase],
    answers: Mapping[str, NewAnswer],
    verifier: Verifier,
    *,
    jobs: int,
    show: Callable[[int], None],
    criteria: CriteriaJudge | None = None,
) -> GateResult:
    """The result of each case, in the cases' order; a case without an answer has an error.

    `show` is called with the number of finished cases. An answer is verified against the passages
    that it was given with, else against the case's own.
    """
    answered = [case for case in cases if case.id in answers]
    run = BatchRun(verifier, as_of="", jobs=jobs, criteria=criteria)
    found: dict[str, CaseResult] = {}
    rows = run.rows(_line(case, answers[case.id]) for case in answered)
    for case, row in zip(answered, rows, strict=True):
        found[case.id] = _result(case, row)
        show(len(found))
    return GateResult(
        evalset,
        verifier.judge.id,
        tuple(found.get(one.id, CaseResult(one.id, one.issue, error=UNANSWERED)) for one in cases),
    )


def _line(case: EvalCase, answer: NewAnswer) -> bytes:
    row = case_row(case)
    asked = {"id": case.id, "question": row["question"], "answer": answer.text}
    asked["contexts"] = answer.contexts or row["contexts"]
    if case.source.route:
        asked["route"] = case.source.route
    if case.exchange.as_of:
        asked["as_of"] = case.exchange.as_of
    return json.dumps(asked).encode()


def _result(case: EvalCase, row: Mapping[str, Any]) -> CaseResult:
    if "error" in row:
        return CaseResult(case.id, case.issue, error=str(row["error"]))
    claims: Sequence[Mapping[str, Any]] = row["claims"]
    evidence = [one for claim in claims for one in claim["evidence"]]
    said = {one["text"] for one in evidence if one["relation"] == "supports"}
    judged = [(Label(one["label"]), _status(one, said), printable(one["text"])) for one in claims]
    labels = [label for label, _, _ in judged]
    statuses = [status for label, status, _ in judged if label is not Label.NOT_A_CLAIM]
    wrong = [f"{label}: {text}" for label, _, text in judged if label.is_unfaithful]
    misled = [f"{status}: {text}" for label, status, text in judged if status.misleads(label)]
    return CaseResult(
        case.id,
        case.issue,
        decided=sum(label.is_decided for label in labels),
        unfaithful=len(wrong),
        undecided=sum(label is Label.UNDECIDED for label in labels),
        wrong=tuple(wrong),
        misleading=len(misled),
        misled=tuple(misled),
        statuses=dict(Counter(map(str, statuses))),
        returned=tuple(str(one) for one in case.unwanted if one in statuses),
        criteria={one["name"]: one["outcome"] for one in row.get("criteria", ())},
    )


def _status(claim: Mapping[str, Any], said: Set[str]) -> ClaimStatus:
    """The claim's status; not cherry-picked if the answer also says what stands against it."""
    against = {one["text"] for one in claim["evidence"] if one["relation"] != "supports"}
    status = ClaimStatus(claim["status"])
    is_said = claim["label"] == Label.ENTAILED and bool(against) and against <= said
    return ClaimStatus.SUPPORTED if is_said and status is ClaimStatus.CHERRY_PICKED else status
