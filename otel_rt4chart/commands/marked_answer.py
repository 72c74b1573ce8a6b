"""The verdict on one answer as text for a terminal: the answer marked, and each claim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from otel_rt4chart.commands.terminal_text import (
    BOLD,
    DIM,
    LABEL_COLORS,
    RED,
    TerminalStyle,
    shown,
)
from otel_rt4chart.verify.core.model import (
    Action,
    Advice,
    AnswerLabel,
    Claim,
    Evidence,
    Exchange,
    Label,
    Report,
)
from otel_rt4chart.verify.core.revision import revised
from otel_rt4chart.verify.criteria.model import CriterionOutcome, CriterionVerdict
from otel_rt4chart.verify.findings.reasons import (
    differing_words,
    evidence_of_findings,
    place_of,
    reasons_by_claim,
    shown_evidence,
    split_at_words,
)

MISLEADING = "misleading"
ACTIONS = {
    Action.ACCEPT: "Accept the answer",
    Action.REVISE: "Revise the answer",
    Action.ESCALATE: "Let a person decide",
}
_SIDES = {"contradicts": "against", "limits": "limited by", "supports": "says"}
ARROW = "→ "
_NUMBERED = 4  # columns before the text of a claim


def marked_answer(
    exchange: Exchange,
    report: Report,
    style: TerminalStyle,
    criteria: Sequence[CriterionVerdict] = (),
) -> Iterator[str]:
    """The lines: the verdict, the answer with its failed words marked, claims, what to do.

    Before what to do, the verdicts of custom criteria.
    """
    yield style.styled(verdict_words(report), BOLD)
    yield ""
    yield from _indented(_marked(exchange.answer, report.claims, style), "  ")
    reasons = reasons_by_claim(report.findings)
    beside = evidence_of_findings(
        report.findings,
        range(len(report.claims)),
        [
            (number, *place_of(one))
            for number, claim in enumerate(report.claims)
            for one in claim.evidence
            if one.relation != "supports"
        ],
    )
    for number, claim in enumerate(report.claims):
        if claim.label is not Label.NOT_A_CLAIM:
            yield ""
            yield from _claim_lines(
                number, claim, beside.get(number, ()), reasons.get(number, ()), style
            )
    if criteria:
        yield ""
        yield style.styled("Criteria", BOLD)
    for one in criteria:
        yield from _criterion_lines(one, style)
    yield ""
    yield from _advice_lines(exchange.answer, report.advice, style)
    yield style.styled(f"judge: {shown(report.judge)}", DIM)


def verdict_words(report: Report) -> str:
    """Such as "contradicted: 1 of 2 decided claims is not supported, 1 undecided"."""
    decided, failed, misleading = report.decided, len(report.unfaithful), len(report.misleading)
    undecided = report.count(Label.UNDECIDED)
    claims = f"{decided} decided claim{'s' * (decided != 1)}"
    if not decided:
        words = "no decided claims"
    elif not failed and not misleading:
        words = f"{claims}, {'all ' * (decided > 1)}supported"
    elif misleading and not failed:
        words = f"{misleading} of {claims} {_are(misleading)} supported but misleading"
    else:
        words = f"{failed} of {claims} {_are(failed)} not supported"
        if misleading:
            words += f", {misleading} {_are(misleading)} supported but misleading"
    if undecided:
        words += f", {undecided} undecided"
    return f"{shown_answer_label(report).replace('_', ' ')}: {words}"


def shown_answer_label(report: Report) -> str:
    """The label of the answer; one that is entailed and misleads is not called entailed."""
    return (
        MISLEADING if report.label is AnswerLabel.ENTAILED and report.misleading else report.label
    )


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _shown_label(claim: Claim) -> str:
    return MISLEADING if claim.is_misleading else claim.label.value


def _marked(answer: str, claims: Sequence[Claim], style: TerminalStyle) -> str:
    """The answer with the words of its failed claims marked; the first of two on a word counts."""
    text, done = "", 0
    failed = [claim for claim in claims if claim.is_failure]
    for claim in sorted(failed, key=lambda one: one.answer_range):
        start, end = claim.answer_range
        if not done <= start < end <= len(answer):
            continue
        color = LABEL_COLORS[_shown_label(claim)]
        words = shown(answer[start:end]).split("\n")
        marked = "\n".join(style.marked(one, color) if one else one for one in words)
        text += shown(answer[done:start]) + marked
        done = end
    return text + shown(answer[done:])


def _claim_lines(
    number: int,
    claim: Claim,
    beside: Sequence[Evidence],
    reasons: Sequence[str],
    style: TerminalStyle,
) -> Iterator[str]:
    label = _shown_label(claim)
    status = claim.status.label
    told = "" if status in (claim.label, "supported") else f", {status}"
    head = style.styled(f"{label}{told}", BOLD, LABEL_COLORS[label])
    has_confidence = claim.label.is_decided and claim.confidence is not None
    confidence = f"  {claim.confidence:.0%} confidence" if has_confidence else ""
    yield f"{f'#{number}':<{_NUMBERED}}{head}{style.styled(confidence, DIM)}"
    indent = " " * _NUMBERED
    yield from style.wrapped(" ".join(claim.text.split()), indent)
    for clash in claim.clashes:
        found = f"found “{clash.found}”" if clash.found else "not found in the passages"
        yield from style.wrapped(f"claimed “{clash.claimed}”, {found}", indent, ARROW)
    own = () if claim.clashes or claim.reason in reasons or not claim.reason else (claim.reason,)
    for reason in (*reasons, *own):
        yield from style.wrapped(reason, indent, ARROW)
    evidence = [one for one in shown_evidence(claim.evidence, beside) if one is not None]
    for one in sorted(evidence, key=lambda found: found.relation == "supports"):
        words = differing_words(claim.text, claim.clashes, reasons, one.relation)
        yield from _indented(_quotation(one, words, style), indent)
    if not evidence and claim.nearest:
        yield from style.wrapped(f"nearest: “{' '.join(claim.nearest.split())}”", indent)


def _quotation(evidence: Evidence, words: Sequence[str], style: TerminalStyle) -> str:
    text = "".join(
        style.marked(_on_a_line(part), BOLD) if is_named else _on_a_line(part)
        for part, is_named in split_at_words(evidence.text, words)
    )
    side = style.styled(f"{shown(evidence.passage_id)} {_SIDES[evidence.relation]}:", DIM)
    return f"{side} “{text}”"


def _on_a_line(text: str) -> str:
    return shown(text).replace("\n", " ")


def _criterion_lines(one: CriterionVerdict, style: TerminalStyle) -> Iterator[str]:
    outcome = one.outcome.value.replace("_", " ")
    is_failed = one.outcome is CriterionOutcome.FAIL
    said = style.styled(outcome, BOLD, *((RED,) if is_failed else ()))
    yield f"  {said} {shown(one.name)}"
    if one.reason:
        # A model's own words are no finding of ours.
        told = f"the model says: {one.reason}" if one.judge else one.reason
        yield from style.wrapped(told, " " * _NUMBERED, ARROW)
    if one.quote:
        yield from style.wrapped(f"“{one.quote}”", " " * _NUMBERED)


def _advice_lines(answer: str, advice: Advice, style: TerminalStyle) -> Iterator[str]:
    if advice.action not in ACTIONS:
        return
    yield style.styled(f"What to do: {ACTIONS[advice.action]}", BOLD)
    if advice.reason:
        yield from style.wrapped(advice.reason, "  ")
    if advice.edits:
        yield from style.wrapped(revised(answer, advice.edits), "  ", ARROW)


def _indented(text: str, indent: str) -> Iterator[str]:
    """The lines of a text with styles: the terminal wraps them, for their width is not theirs."""
    for line in text.split("\n"):
        yield f"{indent}{line}"
