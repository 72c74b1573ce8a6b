"""`assert_faithful`: faithfulness as an assertion, for tests and eval gates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.text import printable
from otel_rt4chart.judges.build import build_verifier
from otel_rt4chart.verify.core.json_rows import passage_from
from otel_rt4chart.verify.core.judge import BatchJudge, Judge
from otel_rt4chart.verify.core.model import Claim, Exchange, Label, Passage, Report
from otel_rt4chart.verify.core.rates import Measure
from otel_rt4chart.verify.pipeline import Verifier

PassageLike = Passage | str | Mapping[str, object]


def assert_faithful(
    answer: str,
    passages: Sequence[PassageLike],
    *,
    question: str = "",
    judge: str | Judge | BatchJudge | Verifier = "local",
    max_rate: float = 0.0,
    count: Measure | str = Measure.EITHER,
    allow_undecided: bool = False,
) -> Report:
    """Return the report if at most `max_rate` of the decided claims fail.

    A claim fails if it is unfaithful (contradicted or baseless) or misleading (entailed, with a
    status other than `supported`); `count` narrows that to `"unfaithful"` or `"misleading"`.
    Otherwise raise an AssertionError that names the status of each failed claim, marks its words
    and shows the evidence. An undecided claim fails too, unless `allow_undecided` is set: a claim
    that was not verified is not known to be faithful. An answer without claims ("I could not find
    that") passes.

    Passages are strings, `Passage` objects, or mappings with `text` and optionally `id` and
    `metadata`. Raises InputError for an empty answer, for a `max_rate` outside 0 to 1 and for an
    unknown `count`.
    """
    __tracebackhide__ = True  # pytest shows the line of the caller
    _check_rate(max_rate)
    measure = _measure_from(count)
    _check_inputs(answer, passages)
    passages_read = tuple(
        passage_from(passage, number) for number, passage in enumerate(passages, start=1)
    )
    report = verifier_from(judge).verify(Exchange(question, passages_read, answer))
    rate = len(report.counted(measure)) / report.decided if report.decided else 0.0
    undecided = 0 if allow_undecided else report.count(Label.UNDECIDED)
    if rate > max_rate or undecided:
        raise AssertionError(explain_report(report, answer, measure))
    return report


def _check_rate(max_rate: object) -> None:
    if (
        isinstance(max_rate, bool)
        or not isinstance(max_rate, float | int)
        or not 0.0 <= max_rate <= 1.0
    ):
        raise InputError(f"max_rate: expected a number from 0 to 1, got {max_rate!r}")


def _check_inputs(answer: object, passages: object) -> None:
    """Reject inputs that would make the test pass without testing anything."""
    if not isinstance(answer, str) or not answer.strip():
        kind = "an empty string" if isinstance(answer, str) else type(answer).__name__
        raise InputError(f"answer: expected a non-empty string, got {kind}")
    if isinstance(passages, str | Passage | Mapping) or not isinstance(passages, Sequence):
        kind = type(passages).__name__
        raise InputError(f"passages: expected a list, got {kind}: put it in a list")


def _measure_from(count: Measure | str) -> Measure:
    try:
        return Measure(count)
    except ValueError:
        expected = ", ".join(Measure)
        raise InputError(f"count: expected one of {expected}, got {count!r}") from None


def verifier_from(judge: str | Judge | BatchJudge | Verifier) -> Verifier:
    """The verifier for a judge; the verifier of a named judge is built once."""
    if isinstance(judge, Verifier):
        return judge
    return _build_named_verifier(judge) if isinstance(judge, str) else Verifier(judge)


def explain_report(report: Report, answer: str, measure: Measure = Measure.EITHER) -> str:
    """The failed and undecided claims, with their status, their words and their evidence."""
    counted = report.counted(measure)
    counts = [
        f"{len(report.unfaithful)} of {report.decided} decided claims unfaithful"
        if measure is not Measure.MISLEADING
        else "",
        f"{len(report.misleading)} of {report.decided} misleading"
        if measure is not Measure.UNFAITHFUL
        else "",
        f"{undecided} undecided" if (undecided := report.count(Label.UNDECIDED)) else "",
    ]
    lines = [f"{', '.join(filter(None, counts))} (judge {report.judge})"]
    for number, claim in enumerate(report.claims):
        if claim in counted or claim.label is Label.UNDECIDED:
            lines += ["", *_claim_lines(claim, answer), *_finding_lines(report, number, claim)]
    return "\n".join(lines)


def _finding_lines(report: Report, number: int, claim: Claim) -> Iterator[str]:
    """What else the passages say of a misleading claim."""
    for finding in report.findings if claim.is_misleading else ():
        if finding.claim == number:
            yield f"  {finding.name}: {printable(finding.detail)}"


def _claim_lines(claim: Claim, answer: str) -> Iterator[str]:
    start, end = claim.answer_range
    before, after = answer[max(0, start - 60) : start], answer[end : end + 60]
    lead, trail = "…" * (start > 60), "…" * (end + 60 < len(answer))
    marked = f"{lead}{before}⟦{answer[start:end]}⟧{after}{trail}"
    name = claim.label if claim.label is Label.UNDECIDED else claim.status
    yield f"{name}: {printable(claim.text)}"
    yield f"  answer:   {printable(marked)}"
    for evidence in claim.evidence:
        source = printable(evidence.passage_id)
        yield f"  {evidence.relation}: [{source}] {printable(evidence.text)}"
    if not claim.evidence and claim.nearest:
        yield f"  nearest:  {printable(claim.nearest)}"
    if claim.reason:
        yield f"  because:  {printable(claim.reason)}"


@cache
def _build_named_verifier(name: str) -> Verifier:
    return build_verifier(name)
