"""The verdicts of custom criteria on answers, written and read by column name."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated

from otel_rt4chart.core.text import encodable
from otel_rt4chart.spans.model.verdict import Candidate
from otel_rt4chart.verify.criteria.model import CriterionOutcome, CriterionVerdict
from rt4chart_collector.store.answers.verifications import FINAL_PER_PARTITION, Verification
from rt4chart_collector.store.engine.columns import (
    AT_START,
    OF_ANSWER,
    Environment,
    IsDeleted,
    Model,
    VerdictRow,
    Version,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import LOW_CARDINALITY, RowTable, StoredAs, read

OUTCOMES = "Enum8('pass' = 1, 'fail' = 2, 'not_applicable' = 3, 'undecided' = 4)"


@dataclass(frozen=True, slots=True)
class CriterionRow(VerdictRow):
    """The verdict of one criterion on an answer.

    `sample_rate` is the probability with which the answer was judged by it.
    """

    environment: Environment
    model: Model
    release: Annotated[str, StoredAs("Release", LOW_CARDINALITY)]
    name: Annotated[str, StoredAs("Criterion", LOW_CARDINALITY)]
    criterion_version: Annotated[str, StoredAs("CriterionVersion", LOW_CARDINALITY)]
    kind: Annotated[str, StoredAs("Kind", LOW_CARDINALITY)]
    judge: Annotated[str, StoredAs("Judge", LOW_CARDINALITY)]
    outcome: Annotated[CriterionOutcome, StoredAs("Outcome", OUTCOMES)]
    sample_rate: Annotated[float, StoredAs("SampleRate", "Float64")]
    reason: Annotated[str, StoredAs("Reason", "String")]
    quote: Annotated[str, StoredAs("Quote", "String")]
    version: Version
    is_deleted: IsDeleted = False


CRITERIA = RowTable("rt4chart_criteria", CriterionRow)
CRITERIA_OF_ANSWER = f"""
SELECT {CRITERIA.select()} FROM rt4chart_criteria FINAL
WHERE {OF_ANSWER} AND {AT_START} ORDER BY Criterion, Version DESC LIMIT 1 BY Criterion
"""  # noqa: S608 - our own names
DECIDED = f"""
SELECT Criterion AS name, CriterionVersion AS version FROM rt4chart_criteria FINAL
WHERE {OF_ANSWER} AND {AT_START} AND Outcome != 'undecided'
"""  # noqa: S608


def criterion_row(verification: Verification, verdict: CriterionVerdict) -> CriterionRow:
    """The row of a criterion's verdict."""
    return CriterionRow(
        start_ns=verification.start_ns,
        trace_id=verification.trace_id,
        span_id=verification.span_id,
        service=verification.service,
        route=verification.route,
        verifier=verification.verifier,
        environment=verification.environment,
        model=verification.model,
        release=verification.release,
        name=verdict.name,
        criterion_version=verdict.version,
        kind=verdict.kind,
        judge=verdict.judge,
        outcome=verdict.outcome,
        sample_rate=verification.sample_rate * verdict.rate,
        reason=encodable(verdict.reason),
        quote=encodable(verdict.quote),
        version=verification.version,
    )


def criteria_of(client: Client, verification: Verification) -> list[CriterionRow]:
    """The latest verdict of each criterion on the answer, whatever verifier judged its claims."""
    parameters = verification.verdict_parameters
    return read(client, CriterionRow, CRITERIA_OF_ANSWER, parameters, settings=FINAL_PER_PARTITION)


def decided_criteria(client: Client, candidate: Candidate) -> Collection[tuple[str, str]]:
    """Name and version of each criterion that has decided on the answer."""
    parameters = {
        "service": candidate.service,
        "route": candidate.route,
        "trace": candidate.trace_id,
        "span": candidate.span_id,
        "start": candidate.start_ns,
    }
    rows = client.query(DECIDED, parameters, settings=FINAL_PER_PARTITION).named_results()
    return {(row["name"], row["version"]) for row in rows}
