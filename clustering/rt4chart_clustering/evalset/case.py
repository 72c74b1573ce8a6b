"""One case of an eval set, its JSON row, and which exchanges can become cases."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.semconv import REDACTED
from otel_rt4chart.spans.model.verdict import Candidate, Decision
from otel_rt4chart.verify.core.json_rows import read_row
from otel_rt4chart.verify.core.model import ClaimStatus, Exchange, Label


@dataclass(frozen=True, slots=True)
class LabelledClaim:
    """A claim of the recorded answer, which states it in `answer[start:end]`.

    The status is undecided in rows of earlier versions.
    """

    text: str
    label: Label
    start: int
    end: int
    status: ClaimStatus = ClaimStatus.UNDECIDED

    @property
    def is_misleading(self) -> bool:
        """True for an entailed claim with a status that says what is wrong with it."""
        return self.status.misleads(self.label)

    @property
    def is_failure(self) -> bool:
        """True for an unfaithful and for a misleading claim."""
        return self.label.is_unfaithful or self.is_misleading

    @property
    def verdict(self) -> str:
        """The label, with the status of a misleading claim: "entailed, stale"."""
        return f"{self.label}, {self.status}" if self.is_misleading else str(self.label)


@dataclass(frozen=True, slots=True)
class CaseSource:
    """Where a case comes from; the ids of the trace and the answer's span are in hex."""

    trace_id: str = ""
    span_id: str = ""
    service: str = ""
    route: str = ""
    answered_at: str = ""


@dataclass(frozen=True, slots=True)
class EvalCase:
    """A question with its passages, and the failed answer that was recorded, with its claims.

    The gate asks the question again. `issue` is the id of the issue that the case was promoted
    from. `reference` is a good answer that a person wrote. `limits` are the sentences of passages
    that contradict or limit the answer's claims: an answer that says them is not misleading. All
    three may be empty.
    """

    id: str
    exchange: Exchange
    claims: tuple[LabelledClaim, ...] = ()
    issue: str = ""
    source: CaseSource = CaseSource()
    reference: str = ""
    limits: tuple[str, ...] = ()

    @property
    def unwanted(self) -> tuple[ClaimStatus, ...]:
        """The statuses of the recorded failures, which no claim of a new answer should have."""
        return tuple(dict.fromkeys(one.status for one in self.claims if one.is_failure))


def case_id(exchange: Exchange) -> str:
    """16 hex digits of the SHA-256 of the question and the passages.

    The answer is left out, so that the same question over the same passages is one case.
    """
    parts = (exchange.question, *(passage.text for passage in exchange.passages))
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode("utf-8", "backslashreplace")
        # The length keeps the parts apart: otherwise "ab", "c" and "a", "bc" would be one case.
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.hexdigest()[:16]


def case_row(case: EvalCase) -> dict[str, Any]:
    """The case as JSON; `rt4chart verify` reads the same row."""
    exchange, source = case.exchange, case.source
    row: dict[str, Any] = {
        "id": case.id,
        "question": exchange.question,
        "contexts": [{"id": one.id, "text": one.text} for one in exchange.passages],
        "answer": exchange.answer,
        "claims": [
            {"text": one.text, "label": one.label, "status": one.status, "start": one.start,
             "end": one.end}
            for one in case.claims
        ],
    }  # fmt: skip
    origin = {name: getattr(source, name) for name in CaseSource.__slots__}
    if exchange.as_of:
        row["as_of"] = exchange.as_of
    if case.reference:
        row["reference"] = case.reference
    if case.unwanted:
        row["unwanted"] = list(case.unwanted)
    if case.limits:
        row["limits"] = list(case.limits)
    if case.issue:
        row["issue"] = case.issue
    if any(origin.values()):
        row["source"] = {name: value for name, value in origin.items() if value}
    return row


def parse_case(row: Mapping[str, Any]) -> EvalCase:
    """The case of a row; InputError names the field that is wrong.

    A row without an id gets the one that follows from its question and passages. Claims are
    optional, because rows for `rt4chart verify` have none.
    """
    exchange = read_row(row).exchange
    given, source = row.get("id"), row.get("source") or {}
    if given is not None and (not isinstance(given, str | int) or isinstance(given, bool)):
        raise InputError(f'expected "id" to be a string, got {type(given).__name__}')
    if not isinstance(source, Mapping):
        raise InputError(f'expected "source" to be an object, got {type(source).__name__}')
    claims = row.get("claims") or []
    limits = row.get("limits") or []
    if not isinstance(limits, list):
        raise InputError(f'expected "limits" to be a list, got {type(limits).__name__}')
    if not isinstance(claims, list):
        raise InputError(f'expected "claims" to be a list, got {type(claims).__name__}')
    return EvalCase(
        id=case_id(exchange) if given is None else str(given),
        exchange=exchange,
        claims=tuple(_claim(one, exchange.answer) for one in claims),
        issue=str(row.get("issue") or ""),
        source=CaseSource(**{name: str(source.get(name) or "") for name in CaseSource.__slots__}),
        reference=str(row.get("reference") or ""),
        limits=tuple(map(str, limits)),
    )


def _claim(given: object, answer: str) -> LabelledClaim:
    if not isinstance(given, Mapping):
        raise InputError(f"expected a claim to be an object, got {type(given).__name__}")
    text, label, start, end = (given.get(name) for name in ("text", "label", "start", "end"))
    labels = [one.value for one in Label]
    if not isinstance(text, str) or not isinstance(label, str) or label not in labels:
        raise InputError(
            f'expected a claim to have "text" and a "label" ({", ".join(labels)}), '
            f"got the label {label!r}"
        )
    if not (isinstance(start, int) and isinstance(end, int) and 0 <= start <= end <= len(answer)):
        raise InputError(
            f'expected "start" and "end" of a claim within the answer\'s {len(answer)} characters, '
            f"got {start!r} and {end!r}"
        )
    status = given.get("status") or ClaimStatus.UNDECIDED
    statuses = [one.value for one in ClaimStatus]
    if status not in statuses:
        raise InputError(
            f'expected the "status" of a claim to be one of {", ".join(statuses)}, got {status!r}'
        )
    return LabelledClaim(text, Label(label), start, end, ClaimStatus(status))


GONE = "answer_gone"
INELIGIBLE_REASONS: Mapping[str, str] = {
    GONE: "the spans of the answer are no longer stored",
    Decision.NO_CONTENT: "the spans have no question or no answer",
    Decision.NO_ANSWER: "the model returned no text",
    Decision.NO_CONTEXT: "there are no passages",
    Decision.REDACTED: "a text was redacted before the spans were stored",
    Decision.TRUNCATED: "the spans hold only a part of the texts",
}


def ineligible_exchange(exchange: Exchange) -> str:
    """Why an exchange cannot be a case, as a key of `INELIGIBLE_REASONS`; empty if it can."""
    texts = (exchange.question, exchange.answer, *(one.text for one in exchange.passages))
    return str(Decision.REDACTED) if REDACTED in texts else ""


def ineligible_answer(candidate: Candidate | None) -> str:
    """The same for an answer as its spans record it; None if they are no longer stored."""
    if candidate is None:
        return GONE
    return (
        str(candidate.blocked)
        if candidate.blocked is not None
        else ineligible_exchange(candidate.exchange)
    )
