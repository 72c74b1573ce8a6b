"""Citations of an answer, checked against the retrieved passages without a model."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from otel_rt4chart.verify.core.judge import Judge
from otel_rt4chart.verify.core.model import Claim, Finding, Label, Passage
from otel_rt4chart.verify.findings.cherry_picking import judge_one
from otel_rt4chart.verify.findings.failure_kinds import FindingName
from otel_rt4chart.verify.text.citations import Citation, citations, quotations
from otel_rt4chart.verify.text.segment import segment, segment_passages

# Characters between a quotation and its citation, at most.
_BESIDE = 3
_BETWEEN = re.compile(r"[\W_]+")
# Omissions and insertions of a quotation: "...", "[...]", "[the plan]".
_OMISSION = re.compile(r"\[[^\[\]]{0,80}\]|\.{3}|…")


def citation_findings(
    answer: str, passages: Sequence[Passage], claims: Sequence[Claim], scanner: Judge
) -> Iterator[Finding]:
    """Unknown ids, quotations not found, and cited passages that do not support the claim."""
    marks = citations(answer, [passage.id for passage in passages])
    yield from _checked(answer, passages, marks)
    yield from _unsupporting(answer, passages, marks, claims, scanner)


def _checked(
    answer: str, passages: Sequence[Passage], marks: Sequence[Citation]
) -> Iterator[Finding]:
    unknown: dict[str, Citation] = {}
    for mark in marks:
        if resolve(mark, passages) is None:
            unknown.setdefault(mark.id, mark)
    for name, mark in unknown.items():
        yield Finding(
            FindingName.CITATION,
            f"“{mark.text}” names no retrieved passage",
            kind="unknown_id",
            passage_ids=(name,),
        )
    if passages:
        yield from _misquotations(answer, passages, marks)


def _misquotations(
    answer: str, passages: Sequence[Passage], marks: Sequence[Citation]
) -> Iterator[Finding]:
    """Search a quotation in the passage cited right after it, else in all passages."""
    quoted = quotations(answer)
    texts = {passage.id: _normalised(passage.text) for passage in passages if quoted}
    for one in quoted:
        behind = bisect_left(marks, one.end, key=lambda mark: mark.start)
        near = [mark for mark in marks[behind : behind + 1] if mark.start - one.end <= _BESIDE]
        named = resolve(near[0], passages) if near else None
        searched = [texts[named.id]] if named is not None else texts.values()
        if not any(_holds(text, one.text) for text in searched):
            yield Finding(
                FindingName.CITATION,
                f"the quotation “{one.text}” is not in "
                + (f"passage {named.id}" if named is not None else "any passage"),
                kind="quote_not_found",
                passage_ids=(named.id,) if named is not None else (),
            )


def resolve(cited: Citation, passages: Sequence[Passage]) -> Passage | None:
    """The passage that a citation names: by its id, else by its position, counted from 1."""
    for passage in passages:
        if passage.id.casefold() == cited.id.casefold():
            return passage
    if cited.number is None or any(passage.id.isdecimal() for passage in passages):
        return None
    return passages[cited.number - 1] if 1 <= cited.number <= len(passages) else None


def _unsupporting(
    answer: str,
    passages: Sequence[Passage],
    marks: Sequence[Citation],
    claims: Sequence[Claim],
    scanner: Judge,
) -> Iterator[Finding]:
    """Decided claims that no passage cited in their sentence entails by itself."""
    cited = _cited_by_sentence(answer, passages, marks)
    for number, claim in enumerate(claims):
        named = cited.get(claim.sentence)
        if not named or not claim.label.is_decided:
            continue
        supporting = {one.passage_id for one in claim.evidence if one.relation == "supports"}
        if supporting & named.keys() or any(
            _entails(scanner, claim, one) for one in named.values()
        ):
            continue
        yield Finding(
            FindingName.CITATION,
            f"passage {', '.join(named)} is cited and does not say “{claim.text}”",
            kind="does_not_support",
            claim=number,
            passage_ids=tuple(named),
        )


def _entails(scanner: Judge, claim: Claim, passage: Passage) -> bool:
    sentences = segment_passages([passage])
    return bool(sentences) and judge_one(scanner, claim, sentences, "").label is Label.ENTAILED


def _cited_by_sentence(
    answer: str, passages: Sequence[Passage], marks: Sequence[Citation]
) -> dict[int, dict[str, Passage]]:
    found: dict[int, dict[str, Passage]] = {}
    sentences = segment(answer) if marks else ()
    for mark in marks:
        passage = resolve(mark, passages)
        at = bisect_right(sentences, mark.start, key=lambda sentence: sentence.start) - 1
        if passage is not None and at >= 0:
            found.setdefault(sentences[at].index, {})[passage.id] = passage
    return found


def _holds(text: str, quoted: str) -> bool:
    """True if the text has all pieces of a quotation, cut at its omissions."""
    return all(_normalised(piece) in text for piece in _OMISSION.split(quoted))


def _normalised(text: str) -> str:
    """The text without case, spacing and punctuation, which a quotation may change."""
    return _BETWEEN.sub(" ", text.casefold()).strip()
