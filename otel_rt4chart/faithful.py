"""Faithfulness as an assertion, for tests of a RAG application and for eval gates."""

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
    """The report, where at most `max_rate` of the decided claims is unfaithful.

    Raises AssertionError that marks the unfaithful words and shows the evidence. A claim that could
    not be decided fails too, unless it is allowed: what was not verified is not faithful. An answer
    without claims ("I could not find that") passes: it says nothing that could be wrong.
    Passages are texts, `Passage`s, or mappings with `text` and perhaps `id` and `metadata`.
    InputError for an empty answer, which nothing can be said of, and for a rate that is none.
    """
    __tracebackhide__ = True  # pytest shows the caller's line
    if not 0.0 <= max_rate <= 1.0:
        raise InputError(f"expected max_rate to be a share from 0 to 1, got {max_rate}")
    _refuse_mistakes(answer, passages)
    given = tuple(passage_from(one, number) for number, one in enumerate(passages, start=1))
    report = verifier_from(judge).verify(Exchange(question, given, answer))
    rate = report.hallucination_rate or 0.0
    undecided = 0 if allow_undecided else report.count(Label.UNDECIDED)
    if rate > max_rate or undecided:
        raise AssertionError(explain(report, answer))
    return report


def _refuse_mistakes(answer: object, passages: object) -> None:
    """A string read letter by letter, or no answer at all, would pass for a test of something."""
    if not isinstance(answer, str) or not answer.strip():
        kind = "an empty one" if isinstance(answer, str) else type(answer).__name__
        raise InputError(f"expected the answer to be a text, got {kind}")
    if isinstance(passages, str | Passage | Mapping) or not isinstance(passages, Sequence):
        kind = type(passages).__name__
        raise InputError(f"expected a list of passages, got {kind}: put it in a list")


def verifier_from(judge: str | Judge | BatchJudge | Verifier) -> Verifier:
    """A verifier around a judge, or around the one of that name, which is built once."""
    if isinstance(judge, Verifier):
        return judge
    return _named(judge) if isinstance(judge, str) else Verifier(judge)


def explain(report: Report, answer: str) -> str:
    """The unfaithful and undecided claims with their words marked, and what stands against them."""
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
        lines += ["", *_told(claim, answer)]
    return "\n".join(lines)


def _told(claim: Claim, answer: str) -> Iterator[str]:
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
def _named(name: str) -> Verifier:
    return build_verifier(name)
