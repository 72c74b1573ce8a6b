"""Promotes failures of an issue to cases of an eval set, redacted on request, for review."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from difflib import SequenceMatcher

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.redaction import Redactor
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Candidate
from otel_rt4chart.verify.core.model import Claim, Exchange
from rt4chart_clustering.description.embedding import TextEmbedder
from rt4chart_clustering.evalset.case import (
    CaseSource,
    EvalCase,
    LabelledClaim,
    case_id,
    ineligible_answer,
)
from rt4chart_clustering.evalset.review import case_body
from rt4chart_clustering.grouping.algorithm import choose_examples
from rt4chart_clustering.triage.find_issue import hex_id
from rt4chart_collector.pipeline.additions.earlier_turns import earlier_passages
from rt4chart_collector.pipeline.decision import read_answers
from rt4chart_collector.store.answers.claims import claims_of
from rt4chart_collector.store.answers.spans import spans_of
from rt4chart_collector.store.engine.columns import AnswerKey
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.eval_sets import (
    CaseState,
    StoredCase,
    stored_cases,
    write_cases,
)
from rt4chart_collector.store.issues.failures import Failure, failures_by_key
from rt4chart_collector.store.issues.issues import Issue, member_keys


def redact_case(case: EvalCase, redactor: Redactor) -> EvalCase:
    """The case with every text redacted, and the claims' ranges mapped to the redacted answer.

    The answer is redacted as a whole: a pattern may reach across the end of a claim.
    """
    if not redactor.is_on:
        return case
    before, exchange = case.exchange.answer, redactor.exchange(case.exchange)
    places = RangeMap(before, exchange.answer)
    claims = (
        replace(one, text=redactor.text(one.text), start=start, end=end)
        for one in case.claims
        for start, end in (places.of(one.start, one.end),)
    )
    reference = redactor.text(case.reference) if case.reference else ""
    return replace(
        case,
        id=case_id(exchange),
        exchange=exchange,
        claims=tuple(claims),
        reference=reference,
        limits=tuple(redactor.text(one) for one in case.limits),
    )


class RangeMap:
    """Maps ranges of a text to the text after redaction."""

    def __init__(self, before: str, after: str) -> None:
        """The texts are aligned once, for all ranges."""
        matcher = SequenceMatcher(None, before, after, autojunk=False)
        self._parts = [] if before == after else matcher.get_opcodes()

    def of(self, start: int, end: int) -> tuple[int, int]:
        """The range of what replaced `before[start:end]`; a replacement is never cut."""
        if not self._parts:
            return start, end
        return self._place(start, is_end=False), self._place(end, is_end=True)

    def _place(self, at: int, *, is_end: bool) -> int:
        for tag, before, before_end, after, after_end in self._parts:
            is_here = before < at <= before_end if is_end else before <= at < before_end
            if is_here and tag == "equal":
                return after + at - before
            if is_here:
                return after_end if is_end else after
        return self._parts[-1][4] if at else 0


TRACES_PER_READ = 64
# Failures of an issue among which cases are chosen, one of each trace.
MAX_FAILURES = 2_000
# Claims within this cosine distance of a chosen one repeat it.
SAME_DISTANCE = 0.05


@dataclass(frozen=True, slots=True)
class SelectedCases:
    """The chosen cases, the most typical first, and the number of refused answers by reason.

    `alike` answers were left out because they are like a chosen case, or exceed its number.
    """

    cases: tuple[EvalCase, ...]
    refused: Mapping[str, int]
    alike: int


@dataclass(frozen=True, slots=True)
class PromotionResult:
    """The ids of the new cases, how many were in the set before, and the answers left out."""

    new: tuple[str, ...]
    known: int
    alike: int
    refused: Mapping[str, int]


def select_cases(
    client: Client,
    failures: Sequence[Failure],
    *,
    issue: str,
    number: int,
    embedder: TextEmbedder,
    redactor: Redactor,
) -> SelectedCases:
    """Choose at most `number` answers of the failures: typical, and different from each other.

    An answer is refused if its texts were cut, redacted or are no longer stored: a reviewer could
    not compare it with the passages.
    """
    first: dict[AnswerKey, Failure] = {}
    limits: defaultdict[AnswerKey, dict[str, None]] = defaultdict(dict)
    for failure in failures:
        key = (failure.trace_id, failure.span_id)
        first.setdefault(key, failure)
        limits[key] |= dict.fromkeys(one.text for one in failure.against)
    refused: Counter[str] = Counter()
    cases: dict[str, EvalCase] = {}
    claim_of: dict[str, str] = {}
    for key, candidate, claims in _answers(client, list(first)):
        if why := ineligible_answer(candidate):
            refused[why] += 1
        elif candidate is not None:
            case = _case(candidate, claims, issue, tuple(limits[key]))
            cases.setdefault(case.id, case)
            claim_of.setdefault(case.id, first[key].claim)
    names = list(cases)
    rows = choose_examples(
        embedder.embed([claim_of[name] for name in names]), number=number, same=SAME_DISTANCE
    )
    # Redact only the chosen cases: mapping the claims into a long answer takes seconds.
    chosen = {case.id: case for case in (redact_case(cases[names[row]], redactor) for row in rows)}
    alike = len(first) - refused.total() - len(chosen)
    return SelectedCases(tuple(chosen.values()), refused, alike)


def promote_issue(
    client: Client,
    issue: Issue,
    name: str,
    *,
    number: int,
    actor: str,
    now_ns: int,
    embedder: TextEmbedder,
    redactor: Redactor,
    members: int = MAX_FAILURES,
) -> PromotionResult:
    """Add at most `number` cases of an issue to the set of that name, for a person to review.

    They are chosen among `members` of its failures. A case that is in the set already stays as it
    is, also if it was rejected.
    """
    if number < 1:
        raise InputError(f"expected the number of cases to be 1 or more, got {number}")
    failures = failures_by_key(client, member_keys(client, issue, limit=members))
    found = select_cases(
        client,
        failures,
        issue=hex_id(issue.id),
        number=number,
        embedder=embedder,
        redactor=redactor,
    )
    known = {one.id for one in stored_cases(client, name)}
    new = [
        StoredCase(case.id, CaseState.PENDING, issue.id, case_body(case), actor)
        for case in found.cases
        if case.id not in known
    ]
    write_cases(client, name, new, version=now_ns)
    ids = tuple(one.id for one in new)
    return PromotionResult(ids, len(found.cases) - len(new), found.alike, found.refused)


def _answers(
    client: Client, keys: Sequence[AnswerKey]
) -> Iterator[tuple[AnswerKey, Candidate | None, Sequence[Claim]]]:
    """Each answer as its spans record it, None if they are no longer stored, with its claims."""
    for start in range(0, len(keys), TRACES_PER_READ):
        page = keys[start : start + TRACES_PER_READ]
        traces: defaultdict[str, list[SpanRecord]] = defaultdict(list)
        for span in spans_of(client, sorted({trace for trace, _ in page})):
            traces[span.trace_id].append(span)
        recorded = {
            (one.trace_id, one.span_id): one
            for spans in traces.values()
            for one in read_answers(client, spans)
        }
        claims = claims_of(client, page)
        for key in page:
            answer, of_answer = recorded.get(key), claims.get(key, ())
            if answer is not None:
                answer = _with_earlier_turns(client, answer, traces[key[0]], of_answer)
            yield key, answer, of_answer


def _with_earlier_turns(
    client: Client, answer: Candidate, spans: Sequence[SpanRecord], claims: Sequence[Claim]
) -> Candidate:
    """The answer with the texts of earlier turns that its claims quote: they are its context."""
    quoted = [evidence.passage_id for claim in claims for evidence in claim.evidence]
    earlier = earlier_passages(client, answer, spans, quoted)
    passages = (*answer.exchange.passages, *earlier)
    return replace(answer, exchange=replace(answer.exchange, passages=passages))


def _case(
    candidate: Candidate, claims: Sequence[Claim], issue: str, limits: tuple[str, ...]
) -> EvalCase:
    given, length = candidate.exchange, len(candidate.exchange.answer)
    exchange = Exchange(given.question, tuple(given.passages), given.answer, given.as_of)
    at = datetime.fromtimestamp(candidate.start_ns // 1_000_000_000, UTC)
    return EvalCase(
        id=case_id(exchange),
        exchange=exchange,
        claims=tuple(
            LabelledClaim(one.text, one.label, *one.answer_range, one.status)
            for one in claims
            if one.answer_range.end <= length
        ),
        issue=issue,
        limits=limits,
        source=CaseSource(
            trace_id=candidate.trace_id,
            span_id=candidate.span_id,
            service=candidate.service,
            route=candidate.route,
            answered_at=at.isoformat(),
        ),
    )
