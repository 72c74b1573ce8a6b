"""From an issue's failures to cases that wait for a person."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.redaction import Redactor
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Candidate
from otel_rt4chart.verify.core.model import Claim, Exchange
from rt4chart_clustering.description.embedding import Embedder
from rt4chart_clustering.evalset.case import EvalCase, LabelledClaim, Source, case_id
from rt4chart_clustering.evalset.fit import unfit_answer
from rt4chart_clustering.evalset.redact import redacted
from rt4chart_clustering.evalset.review import body_of
from rt4chart_clustering.grouping.examples import examples
from rt4chart_clustering.triage.find import hex_of
from rt4chart_collector.pipeline.decision import answers_in
from rt4chart_collector.store.answers.claims import claims_of
from rt4chart_collector.store.answers.spans import spans_of
from rt4chart_collector.store.answers.verifications import AnswerKey
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.eval_sets import (
    CaseState,
    StoredCase,
    stored_cases,
    write_cases,
)
from rt4chart_collector.store.issues.failures import Failure, failures_by_key
from rt4chart_collector.store.issues.issues import Issue, member_keys

TRACES = 64
# Failures of an issue among which cases are chosen, one a trace.
MEMBERS = 2_000
# Claims this near to one that was chosen (cosine distance) say the same again.
ALIKE = 0.05


@dataclass(frozen=True, slots=True)
class Promotion:
    """The chosen cases, the most typical first, and how many answers could not be one, and why.

    `alike` answers were left out because a chosen case asks the same or says nearly the same.
    """

    cases: tuple[EvalCase, ...]
    refused: Mapping[str, int]
    alike: int


@dataclass(frozen=True, slots=True)
class Promoted:
    """The ids of the new cases, how many were in the set before, and who was left out as above."""

    new: tuple[str, ...]
    known: int
    alike: int
    refused: Mapping[str, int]


def promote(
    client: Client,
    failures: Sequence[Failure],
    *,
    issue: str,
    number: int,
    embedder: Embedder,
    redactor: Redactor,
) -> Promotion:
    """Choose at most `number` answers among those of the failures: typical, and unlike each other.

    An answer whose context was cut, taken out or is not in the store is refused: nobody could tell
    from it what the passages say.
    """
    first: dict[AnswerKey, Failure] = {}
    for failure in failures:
        first.setdefault((failure.trace_id, failure.span_id), failure)
    refused: Counter[str] = Counter()
    cases: dict[str, EvalCase] = {}
    said: dict[str, str] = {}
    for key, candidate, claims in _answers(client, list(first)):
        if why := unfit_answer(candidate):
            refused[why] += 1
        elif candidate is not None:
            case = _case(candidate, claims, issue)
            cases.setdefault(case.id, case)
            said.setdefault(case.id, first[key].claim)
    names = list(cases)
    rows = examples(embedder.embed([said[name] for name in names]), number=number, same=ALIKE)
    # Only what is chosen: to find a claim's place in a long rewritten answer takes seconds.
    chosen = {case.id: case for case in (redacted(cases[names[row]], redactor) for row in rows)}
    alike = len(first) - refused.total() - len(chosen)
    return Promotion(tuple(chosen.values()), refused, alike)


def promote_issue(
    client: Client,
    issue: Issue,
    name: str,
    *,
    number: int,
    actor: str,
    now_ns: int,
    embedder: Embedder,
    redactor: Redactor,
    members: int = MEMBERS,
) -> Promoted:
    """Put at most `number` cases of an issue into the set of that name, where a person decides.

    They are chosen among `members` of its failures. A case that is there already, a rejected one
    too, stays as it is. InputError for no number.
    """
    if number < 1:
        raise InputError(f"expected the number of cases to be 1 or more, got {number}")
    failures = failures_by_key(client, member_keys(client, issue, limit=members))
    found = promote(
        client,
        failures,
        issue=hex_of(issue.id),
        number=number,
        embedder=embedder,
        redactor=redactor,
    )
    known = {one.id for one in stored_cases(client, name)}
    new = [
        StoredCase(case.id, CaseState.PENDING, issue.id, body_of(case), actor)
        for case in found.cases
        if case.id not in known
    ]
    write_cases(client, name, new, version=now_ns)
    ids = tuple(one.id for one in new)
    return Promoted(ids, len(found.cases) - len(new), found.alike, found.refused)


def _answers(
    client: Client, keys: Sequence[AnswerKey]
) -> Iterator[tuple[AnswerKey, Candidate | None, Sequence[Claim]]]:
    """Each answer as its spans tell it, None where they are gone, with its stored claims."""
    for start in range(0, len(keys), TRACES):
        page = keys[start : start + TRACES]
        traces: defaultdict[str, list[SpanRecord]] = defaultdict(list)
        for span in spans_of(client, sorted({trace for trace, _ in page})):
            traces[span.trace_id].append(span)
        told = {
            (one.trace_id, one.span_id): one
            for spans in traces.values()
            for one in answers_in(client, spans)
        }
        claims = claims_of(client, page)
        for key in page:
            yield key, told.get(key), claims.get(key, ())


def _case(candidate: Candidate, claims: Sequence[Claim], issue: str) -> EvalCase:
    given, length = candidate.exchange, len(candidate.exchange.answer)
    exchange = Exchange(given.question, tuple(given.passages), given.answer, given.as_of)
    at = datetime.fromtimestamp(candidate.start_ns // 1_000_000_000, UTC)
    return EvalCase(
        id=case_id(exchange),
        exchange=exchange,
        claims=tuple(
            LabelledClaim(one.text, one.label, *one.answer_range)
            for one in claims
            if one.answer_range.end <= length
        ),
        issue=issue,
        source=Source(
            trace_id=candidate.trace_id,
            span_id=candidate.span_id,
            service=candidate.service,
            route=candidate.route,
            answered_at=at.isoformat(),
        ),
    )
