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
from otel_rt4chart.verify.pipeline import Verifier

PassageLike = Passage | str | Mapping[str, object]


def assert_faithful(
    answer: str,
    passages: Sequence[PassageLike],
    *,
    question: str = "",
    judge: str | Judge | BatchJudge | Verifier = "local",
    max_rate: float = 0.0,
    allow_undecided: bool = False,
) -> Report:
    """Return the report if at most `max_rate` of the decided claims are unfaithful.

    Otherwise raise an AssertionError that marks the unfaithful words and shows the evidence. An
    undecided claim fails too, unless `allow_undecided` is set: a claim that was not verified is not
    known to be faithful. An answer without claims ("I could not find that") passes.

    Passages are strings, `Passage` objects, or mappings with `text` and optionally `id` and
    `metadata`. Raises InputError for an empty answer and for a `max_rate` outside 0 to 1.
    """
    __tracebackhide__ = True  # pytest shows the line of the caller
    if not 0.0 <= max_rate <= 1.0:
        raise InputError(f"max_rate: expected a number from 0 to 1, got {max_rate}")
    _check_inputs(answer, passages)
    passages_read = tuple(
        passage_from(passage, number) for number, passage in enumerate(passages, start=1)
    )
    report = verifier_from(judge).verify(Exchange(question, passages_read, answer))
    rate = report.hallucination_rate or 0.0
    undecided = 0 if allow_undecided else report.count(Label.UNDECIDED)
    if rate > max_rate or undecided:
        raise AssertionError(explain_report(report, answer))
    return report


def _check_inputs(answer: object, passages: object) -> None:
    """Reject inputs that would make the test pass without testing anything."""
    if not isinstance(answer, str) or not answer.strip():
        kind = "an empty string" if isinstance(answer, str) else type(answer).__name__
        raise InputError(f"answer: expected a non-empty string, got {kind}")
    if isinstance(passages, str | Passage | Mapping) or not isinstance(passages, Sequence):
        kind = type(passages).__name__
        raise InputError(f"passages: expected a list, got {kind}: put it in a list")


def verifier_from(judge: str | Judge | BatchJudge | Verifier) -> Verifier:
    """The verifier for a judge; the verifier of a named judge is built once."""
    if isinstance(judge, Verifier):
        return judge
    return _build_named_verifier(judge) if isinstance(judge, str) else Verifier(judge)


def explain_report(report: Report, answer: str) -> str:
    """The unfaithful and undecided claims, with their words marked and their evidence."""
    wrong = [
        claim
        for claim in report.claims
        if claim.label.is_unfaithful or claim.label is Label.UNDECIDED
    ]
    counts = [
        f"{len(report.unfaithful)} of {report.decided} decided claims not supported by the passages"
    ]
    if undecided := report.count(Label.UNDECIDED):
        counts.append(f"{undecided} undecided")
    lines = [f"{', '.join(counts)} (judge {report.judge})"]
    for claim in wrong:
        lines += ["", *_claim_lines(claim, answer)]
    return "\n".join(lines)


def _claim_lines(claim: Claim, answer: str) -> Iterator[str]:
    start, end = claim.answer_range
    before, after = answer[max(0, start - 60) : start], answer[end : end + 60]
    lead, trail = "…" * (start > 60), "…" * (end + 60 < len(answer))
    marked = f"{lead}{before}⟦{answer[start:end]}⟧{after}{trail}"
    yield f"{claim.label}: {printable(claim.text)}"
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
