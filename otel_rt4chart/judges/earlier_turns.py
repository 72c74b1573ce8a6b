"""Judges the baseless claims of an answer once more, by the earlier turns of its conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from otel_rt4chart.spans.exchange.context import merge_passages
from otel_rt4chart.spans.model.values import normalize_text
from otel_rt4chart.spans.model.verdict import Candidate, Stage, StagedPassage, Verdict
from otel_rt4chart.verify import Passage, Verifier
from otel_rt4chart.verify.core.evidence import and_join
from otel_rt4chart.verify.core.model import (
    Claim,
    ClaimStatus,
    DraftClaim,
    Exchange,
    Label,
    Report,
    Usage,
)
from otel_rt4chart.verify.findings.advice import advise
from otel_rt4chart.verify.findings.premise import statements_in

# The reason of a claim that only an earlier turn supports.
EARLIER_TURN = "earlier_turn"
USER = "user"
# It may take one of so many parts of the comparisons of the answer's verification.
COMPARISON_PARTS = 4


@dataclass(frozen=True, slots=True)
class TurnSources:
    """What earlier turns say; `left_out` counts the texts for which there was no room."""

    passages: tuple[Passage, ...] = ()
    left_out: int = 0


def turn_sources(
    answer: Candidate, turns: Sequence[Candidate], *, max_characters: int
) -> TurnSources:
    """The passages of earlier turns and what their users stated; `turns` begin with the last one.

    What an assistant said is no source: it may have been wrong, and what was right in it is in its
    passages. So a user's sentence that repeats an earlier answer is none either.
    """
    known = {normalize_text(passage.text) for passage in answer.exchange.passages}
    answers = [normalize_text(turn.exchange.answer) for turn in turns]
    found: list[Passage] = []
    room, left_out = max_characters, 0
    for back, turn in enumerate(turns, start=1):
        for passage in _texts_of(turn, answers):
            text = normalize_text(passage.text)
            if text in known:
                continue
            known.add(text)
            if len(passage.text) > room:
                left_out += 1
                continue
            room -= len(passage.text)
            found.append(replace(passage, id=f"{turn_name(back)}: {passage.id}"))
    return TurnSources(tuple(found), left_out)


def turn_name(back: int) -> str:
    """What people call the turn so many turns before."""
    return f"{back} turn{'s' * (back > 1)} earlier"


def _texts_of(turn: Candidate, answers: Sequence[str]) -> tuple[Passage, ...]:
    said = [
        one
        for one in statements_in(turn.exchange.question)
        if not any(normalize_text(one) in answer for answer in answers)
    ]
    words = [Passage(USER, "\n".join(said))] if said else []
    return merge_passages([*words, *turn.exchange.passages])


def baseless_claims(verdict: Verdict) -> list[tuple[int, Claim]]:
    """The claims that earlier turns may support, with their numbers.

    What the passages of the answer contradict stays contradicted.
    """
    claims = verdict.report.claims if verdict.report is not None else ()
    return [(number, one) for number, one in enumerate(claims) if one.label is Label.BASELESS]


def with_earlier_support(
    verdict: Verdict, verifier: Verifier, sources: Sequence[Passage]
) -> Verdict:
    """The verdict in which a baseless claim that these passages entail is supported.

    Its evidence names the turn. They support a claim or change nothing: what was said of one thing
    does not contradict what is said of another. InputError for a judge that makes claims and labels
    in one call.
    """
    report, asked = verdict.report, baseless_claims(verdict)
    if report is None or not asked or not sources:
        return verdict
    given = verdict.candidate.exchange
    whole, seconds = verifier.budget.part(COMPARISON_PARTS), verdict.duration_ns / 1e9
    budget = whole.after(report.usage, seconds=seconds)
    drafts = [DraftClaim(one.text, one.sentence, one.answer_range, one.kind) for _, one in asked]
    exchange = Exchange(given.question, sources, given.answer, given.as_of)
    judged, usage = verifier.verify_claims(exchange, drafts, budget=budget)
    supported = {
        number: _supported(claim, again)
        for (number, claim), again in zip(asked, judged, strict=True)
        if again.label is Label.ENTAILED
    }
    cited = {one.passage_id for claim in supported.values() for one in claim.evidence}
    staged = (StagedPassage(one, (Stage.EARLIER,)) for one in sources if one.id in cited)
    candidate = replace(verdict.candidate, staged=(*verdict.candidate.staged, *staged))
    return replace(
        verdict, candidate=candidate, report=_joined(report, supported, usage, given.answer)
    )


def _supported(claim: Claim, again: Claim) -> Claim:
    return replace(
        claim,
        label=Label.ENTAILED,
        confidence=again.confidence,
        decided_by=again.decided_by,
        evidence=again.evidence,
        nearest=again.nearest,
        reason=EARLIER_TURN,
        clashes=(),
        status=ClaimStatus.SUPPORTED,
        check_rate=1.0,
    )


def _joined(report: Report, supported: Mapping[int, Claim], usage: Usage, answer: str) -> Report:
    """The report with these claims, and what follows from them."""
    usage = report.usage.plus(usage)
    if not supported:
        return replace(report, usage=usage)
    claims = tuple(supported.get(number, one) for number, one in enumerate(report.claims))
    findings = tuple(one for one in report.findings if one.claim not in supported)
    advice = advise(answer, claims, findings)
    if advice.edits:
        advice = replace(advice, reason=f"{advice.reason}; the edits were not verified")
    return replace(
        report,
        label=and_join(claim.label for claim in claims),
        claims=claims,
        findings=findings,
        advice=advice,
        usage=usage,
    )
