"""The criteria that need no model: patterns, JSON and citations."""

from __future__ import annotations

from typing import NamedTuple

from otel_rt4chart.core.strict_json import JsonTooLargeError, strict_json
from otel_rt4chart.core.text import one_line
from otel_rt4chart.verify.core.meter import TOO_SLOW, Budget
from otel_rt4chart.verify.core.model import Exchange
from otel_rt4chart.verify.criteria.json_schema import SchemaTooLargeError, find_mismatch
from otel_rt4chart.verify.criteria.model import (
    CitationCheck,
    Criterion,
    CriterionOutcome,
    RegexCheck,
    SchemaCheck,
)
from otel_rt4chart.verify.criteria.patterns import TooSlowError, found_words
from otel_rt4chart.verify.findings.citation_marks import CitedPassages, resolve_marks

_SHOWN = 80  # characters of a text that a reason quotes


class CheckResult(NamedTuple):
    """The outcome with its reason in a sentence."""

    outcome: CriterionOutcome
    reason: str


def is_asked(criterion: Criterion, exchange: Exchange) -> CheckResult | None:
    """None where the criterion applies to the question; else why it does not, or is not known."""
    if not criterion.when_question:
        return None
    try:
        found = found_words(criterion.when_question, exchange.question)
    except TooSlowError as error:
        return CheckResult(CriterionOutcome.UNDECIDED, f"{TOO_SLOW}: in the question: {error}")
    if found is not None:
        return None
    return CheckResult(CriterionOutcome.NOT_APPLICABLE, "the question does not match when_question")


def check_answer(criterion: Criterion, exchange: Exchange, *, has_claims: bool) -> CheckResult:
    """The verdict of a criterion without a model; ValueError for one with a model.

    An answer that states nothing, such as a refusal, has no claims, and need not cite.
    """
    if (problem := Budget().size_problem(exchange)) is not None:
        return CheckResult(CriterionOutcome.UNDECIDED, problem)
    try:
        match criterion.check:
            case RegexCheck():
                return _check_patterns(criterion.check, exchange.answer)
            case SchemaCheck():
                return _check_json(criterion.check, exchange.answer)
            case CitationCheck():
                return _check_citations(criterion.check, exchange, has_claims=has_claims)
    except TooSlowError as error:
        return CheckResult(CriterionOutcome.UNDECIDED, f"{TOO_SLOW}: {error}")
    raise ValueError(f"expected a criterion that needs no model, got {criterion.name}")


def _check_patterns(check: RegexCheck, answer: str) -> CheckResult:
    if check.must_not_match:
        found = found_words(check.must_not_match, answer)
        if found is not None:
            words = f"“{one_line(found, _SHOWN)}” matches must_not_match"
            return CheckResult(CriterionOutcome.FAIL, words)
        if not check.must_match:
            return CheckResult(CriterionOutcome.PASS, "nothing matches must_not_match")
    found = found_words(check.must_match, answer)
    if found is None:
        return CheckResult(CriterionOutcome.FAIL, "nothing matches must_match")
    return CheckResult(CriterionOutcome.PASS, f"“{one_line(found, _SHOWN)}” matches must_match")


def _check_json(check: SchemaCheck, answer: str) -> CheckResult:
    try:
        value = strict_json(answer)
    except JsonTooLargeError as error:
        return CheckResult(CriterionOutcome.UNDECIDED, f"too_large: {error}")
    except ValueError as error:
        told = one_line(str(error), _SHOWN)
        return CheckResult(CriterionOutcome.FAIL, f"the answer is not JSON: {told}")
    try:
        mismatch = find_mismatch(check.schema, value)
    except SchemaTooLargeError as error:
        return CheckResult(CriterionOutcome.UNDECIDED, f"too_large: {error}")
    if mismatch is not None:
        return CheckResult(CriterionOutcome.FAIL, mismatch)
    return CheckResult(CriterionOutcome.PASS, "the answer is JSON as the schema describes")


def _check_citations(check: CitationCheck, exchange: Exchange, *, has_claims: bool) -> CheckResult:
    if not has_claims:
        return CheckResult(CriterionOutcome.NOT_APPLICABLE, "the answer states nothing to cite")
    marks = resolve_marks(exchange.answer, CitedPassages(exchange.passages))
    if unknown := next((mark for mark in marks if mark.is_unknown), None):
        cited = one_line(unknown.text, _SHOWN)
        return CheckResult(CriterionOutcome.FAIL, f"“{cited}” names no retrieved passage")
    count = sum(bool(mark.passages) for mark in marks)
    words = f"{count} citation{'s' * (count != 1)} of retrieved passages"
    if count >= check.least:
        return CheckResult(CriterionOutcome.PASS, words)
    return CheckResult(CriterionOutcome.FAIL, f"{words}, at least {check.least} expected")
