"""Citations of an answer, checked against what was retrieved: no model is needed."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from otel_rt4chart.verify.core.judge import Judge
from otel_rt4chart.verify.core.model import Claim, Finding, Label, Passage
from otel_rt4chart.verify.findings.cherry import judge_one
from otel_rt4chart.verify.text.citations import Citation, citations, quotations
from otel_rt4chart.verify.text.segment import segment, segment_passages

# How far behind a quotation its citation may stand.
_BESIDE = 3
_BETWEEN = re.compile(r"[\W_]+")
# What a quotation leaves out or puts in: "...", "[...]", "[the plan]".
_OMISSION = re.compile(r"\[[^\[\]]{0,80}\]|\.{3}|…")


def citation_findings(
    answer: str, passages: Sequence[Passage], claims: Sequence[Claim], scanner: Judge
) -> Iterator[Finding]:
    """Unknown ids, quotations that stand nowhere, and cited passages that do not say it."""
    marks = citations(answer, [passage.id for passage in passages])
    yield from _checked(answer, passages, marks)
    yield from _unsupporting(answer, passages, marks, claims, scanner)


def check_citations(answer: str, passages: Sequence[Passage]) -> Iterator[Finding]:
    """Ids against the retrieved set, quotations against the texts: cheap enough for all traffic."""
    yield from _checked(answer, passages, citations(answer, [one.id for one in passages]))


def _checked(
    answer: str, passages: Sequence[Passage], marks: Sequence[Citation]
) -> Iterator[Finding]:
    unknown: dict[str, Citation] = {}
    for mark in marks:
        if resolve(mark, passages) is None:
            unknown.setdefault(mark.id, mark)
    for name, mark in unknown.items():
        yield Finding(
            "citation",
            f"“{mark.text}” names no retrieved passage",
            kind="unknown_id",
            passage_ids=(name,),
        )
    if passages:
        yield from _misquotations(answer, passages, marks)


def _misquotations(
    answer: str, passages: Sequence[Passage], marks: Sequence[Citation]
) -> Iterator[Finding]:
    """A quotation is searched in the passage cited right behind it, else in all."""
    quoted = quotations(answer)
    texts = {passage.id: _plain(passage.text) for passage in passages if quoted}
    for one in quoted:
        behind = bisect_left(marks, one.end, key=lambda mark: mark.start)
        near = [mark for mark in marks[behind : behind + 1] if mark.start - one.end <= _BESIDE]
        named = resolve(near[0], passages) if near else None
        searched = [texts[named.id]] if named is not None else texts.values()
        if not any(_holds(text, one.text) for text in searched):
            yield Finding(
                "citation",
                f"the quotation “{one.text}” does not stand in "
                + (f"passage {named.id}" if named is not None else "any passage"),
                kind="quote_not_found",
                passage_ids=(named.id,) if named is not None else (),
            )


def resolve(cited: Citation, passages: Sequence[Passage]) -> Passage | None:
    """The passage that a citation names: by its id, else by its place, counted from 1."""
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
    """Decided claims of a sentence whose cited passages, each alone, do not entail them."""
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
            "citation",
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
    """True where the pieces of a quotation, cut at its omissions, stand in the plain text."""
    return all(_plain(piece) in text for piece in _OMISSION.split(quoted))


def _plain(text: str) -> str:
    """Without case, spacing and the punctuation that a quotation may change."""
    return _BETWEEN.sub(" ", text.casefold()).strip()
