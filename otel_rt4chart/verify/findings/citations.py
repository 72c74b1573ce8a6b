"""Citations of an answer, checked against what was retrieved: no model is needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from otel_rt4chart.verify.citation import Citation, citations, quotations
from otel_rt4chart.verify.findings.cherry import judge_one
from otel_rt4chart.verify.judge import Judge
from otel_rt4chart.verify.model import Claim, Finding, Label, Passage
from otel_rt4chart.verify.segment import segment, segment_passages


def citation_findings(
    answer: str, passages: Sequence[Passage], claims: Sequence[Claim], scanner: Judge
) -> Iterator[Finding]:
    """Unknown ids, quotations that stand nowhere, and cited passages that do not say it."""
    yield from check_citations(answer, passages)
    yield from _unsupporting(answer, passages, claims, scanner)


def check_citations(answer: str, passages: Sequence[Passage]) -> Iterator[Finding]:
    """Ids against the retrieved set, quotations against the texts: cheap enough for all traffic."""
    ids = [passage.id for passage in passages]
    for cited in citations(answer, ids):
        if resolve(cited, passages) is None:
            yield Finding(
                "citation",
                f"“{cited.text}” names no retrieved passage",
                kind="unknown_id",
                passage_ids=(cited.id,),
            )
    for quoted in quotations(answer):
        near = [one for one in citations(answer, ids) if one.start >= quoted.end]
        named = resolve(near[0], passages) if near and near[0].start - quoted.end <= 3 else None
        searched = [named] if named is not None else list(passages)
        if passages and not any(_holds(passage.text, quoted.text) for passage in searched):
            yield Finding(
                "citation",
                f"the quotation “{quoted.text}” does not stand in "
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
    answer: str, passages: Sequence[Passage], claims: Sequence[Claim], scanner: Judge
) -> Iterator[Finding]:
    """Decided claims of a sentence whose cited passages, each alone, do not entail them."""
    cited = _cited_by_sentence(answer, passages)
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


def _cited_by_sentence(answer: str, passages: Sequence[Passage]) -> dict[int, dict[str, Passage]]:
    found: dict[int, dict[str, Passage]] = {}
    marks = citations(answer, [passage.id for passage in passages])
    for sentence in segment(answer) if marks else ():
        for mark in marks:
            passage = resolve(mark, passages)
            if sentence.start <= mark.start < sentence.end and passage is not None:
                found.setdefault(sentence.index, {})[passage.id] = passage
    return found


def _holds(text: str, quoted: str) -> bool:
    return _plain(quoted) in _plain(text)


def _plain(text: str) -> str:
    """Without case, spacing and the punctuation that a quotation may change."""
    return " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())
