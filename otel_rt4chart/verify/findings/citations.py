"""Citations of an answer, checked against the retrieved passages without a model."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from otel_rt4chart.verify.core.model import Claim, Exchange, Finding, Label, Passage, Sentence
from otel_rt4chart.verify.findings.failure_kinds import FindingName
from otel_rt4chart.verify.findings.scanner import BoundedScanner
from otel_rt4chart.verify.text.citations import Citation, citations, quotations
from otel_rt4chart.verify.text.segment import segment, segment_passages

# Characters between a quotation and its citation, at most.
_BESIDE = 3
_BETWEEN = re.compile(r"[\W_]+")
# Omissions and insertions of a quotation: "...", "[...]", "[the plan]".
_OMISSION = re.compile(r"\[[^\[\]]{0,80}\]|\.{3}|…")


def check_citations(exchange: Exchange) -> tuple[Finding, ...]:
    """Citations that name no retrieved passage and quotations that are in none, without a judge."""
    marks = citations(exchange.answer, [passage.id for passage in exchange.passages])
    return tuple(_checked(exchange.answer, CitedPassages(exchange.passages), marks))


def count_citations(answer: str, passages: Sequence[Passage]) -> int:
    """The number of citations in an answer."""
    return len(citations(answer, [passage.id for passage in passages]))


class CitedPassages:
    """The passages by their ids, to resolve many citations."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        """Of passages with the same id, the first counts."""
        self.passages = passages
        self._by_id = {passage.id.casefold(): passage for passage in reversed(passages)}
        self._are_numbered = any(passage.id.isdecimal() for passage in passages)

    def resolve(self, cited: Citation) -> Passage | None:
        """The passage that a citation names: by its id, else by its position, counted from 1."""
        named = self._by_id.get(cited.id.casefold())
        if named is not None or cited.number is None or self._are_numbered:
            return named
        is_known = 1 <= cited.number <= len(self.passages)
        return self.passages[cited.number - 1] if is_known else None


def citation_findings(
    answer: str, passages: Sequence[Passage], claims: Sequence[Claim], scanner: BoundedScanner
) -> Iterator[Finding]:
    """Unknown ids, quotations not found, and cited passages that do not support the claim."""
    marks = citations(answer, [passage.id for passage in passages])
    cited = CitedPassages(passages)
    yield from _checked(answer, cited, marks)
    yield from _unsupporting(answer, cited, marks, claims, scanner)


def _checked(answer: str, cited: CitedPassages, marks: Sequence[Citation]) -> Iterator[Finding]:
    unknown: dict[str, Citation] = {}
    for mark in marks:
        if cited.resolve(mark) is None:
            unknown.setdefault(mark.id, mark)
    for name, mark in unknown.items():
        yield Finding(
            FindingName.CITATION,
            f"“{mark.text}” names no retrieved passage",
            kind="unknown_id",
            passage_ids=(name,),
        )
    if cited.passages:
        yield from _misquotations(answer, cited, marks)


def _misquotations(
    answer: str, cited: CitedPassages, marks: Sequence[Citation]
) -> Iterator[Finding]:
    """Search a quotation in the passage cited right after it, else in all passages."""
    quoted = quotations(answer)
    texts = {passage.id: _normalised(passage.text) for passage in cited.passages if quoted}
    for one in quoted:
        behind = bisect_left(marks, one.end, key=lambda mark: mark.start)
        near = [mark for mark in marks[behind : behind + 1] if mark.start - one.end <= _BESIDE]
        named = cited.resolve(near[0]) if near else None
        searched = [texts[named.id]] if named is not None else texts.values()
        if not any(_holds(text, one.text) for text in searched):
            yield Finding(
                FindingName.CITATION,
                f"the quotation “{one.text}” is not in "
                + (f"passage {named.id}" if named is not None else "any passage"),
                kind="quote_not_found",
                passage_ids=(named.id,) if named is not None else (),
            )


def _unsupporting(
    answer: str,
    cited: CitedPassages,
    marks: Sequence[Citation],
    claims: Sequence[Claim],
    scanner: BoundedScanner,
) -> Iterator[Finding]:
    """Decided claims that no passage cited in their sentence entails by itself."""
    by_sentence = _cited_by_sentence(answer, cited, marks)
    split: dict[str, tuple[Sentence, ...]] = {}
    for number, claim in enumerate(claims):
        named = by_sentence.get(claim.sentence)
        if not named or not claim.label.is_decided:
            continue
        supporting = {one.passage_id for one in claim.evidence if one.relation == "supports"}
        if supporting & named.keys():
            continue
        for name in named.keys() - split.keys():
            split[name] = segment_passages([named[name]])
        if any(_entails(scanner, claim, split[name]) for name in named):
            continue
        yield Finding(
            FindingName.CITATION,
            f"passage {', '.join(named)} is cited and does not say “{claim.text}”",
            kind="does_not_support",
            claim=number,
            passage_ids=tuple(named),
        )


def _entails(scanner: BoundedScanner, claim: Claim, sentences: Sequence[Sentence]) -> bool:
    return bool(sentences) and scanner.judge_one(claim, sentences, "").label is Label.ENTAILED


def _cited_by_sentence(
    answer: str, cited: CitedPassages, marks: Sequence[Citation]
) -> dict[int, dict[str, Passage]]:
    found: dict[int, dict[str, Passage]] = {}
    sentences = segment(answer) if marks else ()
    for mark in marks:
        passage = cited.resolve(mark)
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
