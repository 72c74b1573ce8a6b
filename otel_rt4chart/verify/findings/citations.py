"""Citations of an answer, checked against the retrieved passages without a model."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.core.judge import Judge
from otel_rt4chart.verify.core.meter import TOO_LARGE, Budget, Meter
from otel_rt4chart.verify.core.model import (
    AnswerRange,
    Chunk,
    Claim,
    DraftClaim,
    Exchange,
    Finding,
    Judgement,
    Label,
    Passage,
    Sentence,
    reaches,
)
from otel_rt4chart.verify.decompose.rules import decompose
from otel_rt4chart.verify.findings.citation_marks import (
    CitedPassages,
    ResolvedCitation,
    may_have_marks,
    resolve_marks,
)
from otel_rt4chart.verify.findings.failure_kinds import FindingName
from otel_rt4chart.verify.language.tokens import content
from otel_rt4chart.verify.local.rules_judge import RulesJudge
from otel_rt4chart.verify.text.citations import quotations
from otel_rt4chart.verify.text.segment import segment, segment_passages

# Characters between a quotation and its citation, at most.
_BESIDE = 3
_BETWEEN = re.compile(r"[\W_]+")
# Omissions and insertions of a quotation: "...", "[...]", "[the plan]".
_OMISSION = re.compile(r"\[[^\[\]]{0,80}\]|\.{3}|…")
_MAY_CITE = re.compile(
    r"[\[(【“«\"]|_id|https?://|\baccording\s+to\b|\bper\s|\bas\s+\w+\s+in\b|source\s*:|[¹²³⁴-⁹]",
    re.IGNORECASE,
)
# What every text has in which `_MAY_CITE` finds something, and each part of such a text: searches
# for fixed characters, in a tenth of its time. To `_MAY_CITE`, "ſ" is an "s", and "ı", "İ" an "i".
_MARKS = re.compile(r"[\[(【“«\"⁰¹²³⁴-⁹ſıİ]")
_WORDS = ("_id", "http", "according")
_PHRASES = (re.compile(r"per\s"), re.compile(r"as\s+\w+\s+in"), re.compile(r"source\s*:"))
MOST_FINDINGS, MOST_COMPARISONS = 20, 100
# A citation is wrong for sure where the cited passages have less than this share of the claim's
# content, and another passage has that share and entails it with that confidence. Of 686 FEVER
# claims with the most similar other passage beside their own, .003 of the right citations are
# called wrong; of citations of an unrelated passage, .43 are found.
_STRANGE, _FULL, _SURE = 0.35, 0.8, 0.7


def may_cite(answer: str) -> bool:
    """False if the answer has no citation and no quotation, whatever was retrieved.

    Then `check_citations` finds nothing and `count_citations` counts none: so it is for an answer
    that is too large to be verified.
    """
    most = Budget().answer_characters
    if not any_part_may_cite(answer) or (most is not None and len(answer) > most):
        return False
    return _MAY_CITE.search(answer) is not None and (
        may_have_marks(answer) or bool(quotations(answer))
    )


def any_part_may_cite(text: str) -> bool:
    """False only where `may_cite` is False for the text and for each part of it; quick."""
    if _MARKS.search(text) is not None:
        return True
    lowered = text.lower()
    return any(word in lowered for word in _WORDS) or any(
        phrase.search(lowered) is not None for phrase in _PHRASES
    )


def check_citations(exchange: Exchange) -> tuple[Finding, ...]:
    """The findings on an answer's citations, without claims, a judge's verdicts or a model.

    For answers that are not verified: every id, position, link and title that is cited must be
    that of a retrieved passage, quotations must stand in the passages, and a sentence whose cited
    passage is about something else, while another passage says it, is a wrong citation. What is not
    certain is not reported. The cost is bounded by the number of comparisons, and by `Budget` in
    size.
    """
    answer, passages = exchange.answer, exchange.passages
    if not may_cite(answer) or Budget().size_problem(exchange) is not None:
        return ()
    cited = CitedPassages(passages)
    marks = resolve_marks(answer, cited)
    found = chain(_checked(answer, cited, marks, ()), _misattributed(answer, cited, marks))
    return tuple(islice(found, MOST_FINDINGS))


def count_citations(answer: str, passages: Sequence[Passage]) -> int:
    """The number of citations in an answer; 0 in one that is too large to be verified."""
    exchange = Exchange("", passages, answer)
    if not may_cite(answer) or Budget().size_problem(exchange) is not None:
        return 0
    return len(resolve_marks(answer, CitedPassages(passages)))


def citation_findings(
    answer: str, passages: Sequence[Passage], claims: Sequence[Claim], scanner: BoundedScanner
) -> Iterator[Finding]:
    """Unknown sources, quotations not found, and cited passages that do not support the claim."""
    cited = CitedPassages(passages)
    marks = resolve_marks(answer, cited)
    yield from _checked(answer, cited, marks, claims)
    yield from _unsupporting(answer, marks, claims, scanner)


def _checked(
    answer: str,
    cited: CitedPassages,
    marks: Sequence[ResolvedCitation],
    claims: Sequence[Claim],
) -> Iterator[Finding]:
    """Citations of nothing that was retrieved, once a claim, and quotations that are not there."""
    unknown: dict[tuple[str, int | None], ResolvedCitation] = {}
    claimed = _claims_by_sentence(claims)
    at_sentence = _sentence_finder(answer) if any(mark.is_unknown for mark in marks) else None
    for mark in marks:
        if mark.is_unknown and at_sentence is not None:
            place = at_sentence(mark.start)
            number = None if place is None else _claim_of(mark, claims, claimed.get(place, ()))
            unknown.setdefault((mark.name, number), mark)
    for (name, number), mark in unknown.items():
        yield Finding(
            FindingName.CITATION,
            f"“{mark.text}” names no retrieved passage",
            kind="unknown_id",
            claim=number,
            passage_ids=(name,),
        )
    if cited.passages:
        yield from _misquotations(answer, cited, marks)


def _claims_by_sentence(claims: Sequence[Claim]) -> Mapping[int, list[int]]:
    found: defaultdict[int, list[int]] = defaultdict(list)
    for number, claim in enumerate(claims):
        if claim.label.is_decided:
            found[claim.sentence].append(number)
    return found


def _claim_of(
    mark: ResolvedCitation, claims: Sequence[Claim], numbers: Sequence[int]
) -> int | None:
    """The claim that a mark stands behind, else the first one of its sentence."""
    before = [number for number in numbers if claims[number].answer_range.start < mark.start]
    return before[-1] if before else next(iter(numbers), None)


def _misquotations(
    answer: str, cited: CitedPassages, marks: Sequence[ResolvedCitation]
) -> Iterator[Finding]:
    """Search a quotation in the passage cited right after it, else in all passages."""
    quoted = quotations(answer)
    texts = {passage.id: _normalised(passage.text) for passage in cited.passages if quoted}
    for one in quoted:
        behind = bisect_left(marks, one.end, key=lambda mark: mark.start)
        near = [mark for mark in marks[behind : behind + 1] if mark.start - one.end <= _BESIDE]
        named = near[0].passages[0] if near and len(near[0].passages) == 1 else None
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
    marks: Sequence[ResolvedCitation],
    claims: Sequence[Claim],
    scanner: BoundedScanner,
) -> Iterator[Finding]:
    """Decided claims that no passage cited in their sentence entails by itself.

    A supported claim counts only if the cited passages are about something else: that rules do not
    entail a paraphrase is no sign of a wrong citation.
    """
    by_sentence = _cited_by_sentence(answer, marks)
    split: dict[str, tuple[Sentence, ...]] = {}
    for number, claim in enumerate(claims):
        named = by_sentence.get(claim.sentence)
        if not named or not claim.label.is_decided:
            continue
        supporting = {one.passage_id for one in claim.evidence if one.relation == "supports"}
        if supporting & named.keys():
            continue
        is_entailed = claim.label is Label.ENTAILED
        if is_entailed and _shared(claim.text, named.values()) >= _STRANGE:
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


def _shared(claim: str, passages: Iterable[Passage]) -> float:
    """The largest share of the claim's content that one of the passages has."""
    stated = content(claim)
    total = sum(stated.values()) or 1.0
    return max(
        sum(weight for stem, weight in stated.items() if stem in told) / total
        for told in (content(passage.text).keys() for passage in passages)
    )


def _misattributed(
    answer: str,
    cited: CitedPassages,
    marks: Sequence[ResolvedCitation],
) -> Iterator[Finding]:
    """Sentences whose cited passages are about something else, while another passage says them."""
    by_sentence = _cited_by_sentence(answer, marks)
    if not by_sentence or len(cited.passages) < 2:
        return
    words = {passage.id: content(passage.text).keys() for passage in cited.passages}
    left = MOST_COMPARISONS
    bare = _without_marks(answer, marks)
    for sentence in segment(answer):
        named = by_sentence.get(sentence.index)
        own = replace(sentence, text=bare[sentence.start : sentence.end])
        for draft in decompose([own]) if named else ():
            stated = content(draft.text)
            if not draft.is_claim or not stated or named is None:
                continue
            share = {
                name: sum(w for stem, w in stated.items() if stem in known) / sum(stated.values())
                for name, known in words.items()
            }
            if max(share[name] for name in named) >= _STRANGE:
                continue
            others = [one for one in cited.passages if share[one.id] >= _FULL][:left]
            left -= len(others)
            says = next((one for one in others if _says(draft, one)), None)
            if says is not None:
                yield Finding(
                    FindingName.CITATION,
                    f"passage {', '.join(named)} is cited for “{sentence.text}”, "
                    f"which is in passage {says.id}",
                    kind="does_not_support",
                    passage_ids=tuple(named),
                )


def _without_marks(answer: str, marks: Sequence[ResolvedCitation]) -> str:
    """The answer with spaces for its citations, whose words are none of its claims."""
    parts, done = [], 0
    for mark in marks:
        if mark.start >= done:
            parts += [answer[done : mark.start], " " * (mark.end - mark.start)]
            done = mark.end
    return "".join(parts) + answer[done:]


def _says(draft: DraftClaim, passage: Passage) -> bool:
    part = Chunk(0, segment_passages([passage]))
    (judged,) = RulesJudge().assess([draft], part, question="")
    return judged.label is Label.ENTAILED and reaches(judged.confidence, _SURE)


def _entails(scanner: BoundedScanner, claim: Claim, sentences: Sequence[Sentence]) -> bool:
    return bool(sentences) and scanner.judge_one(claim, sentences, "").label is Label.ENTAILED


def _cited_by_sentence(
    answer: str, marks: Sequence[ResolvedCitation]
) -> dict[int, dict[str, Passage]]:
    found: dict[int, dict[str, Passage]] = {}
    at_sentence = _sentence_finder(answer) if marks else None
    for mark in marks:
        index = at_sentence(mark.start) if at_sentence else None
        if mark.passages and index is not None:
            found.setdefault(index, {}).update({one.id: one for one in mark.passages})
    return found


def _sentence_finder(answer: str) -> Callable[[int], int | None]:
    """The index of the sentence in which a character stands, or which it follows."""
    sentences = segment(answer)

    def find(at: int) -> int | None:
        place = bisect_right(sentences, at, key=lambda sentence: sentence.start) - 1
        # A mark may follow its sentence: "It is covered. [2]", "It is covered.²"
        while place > 0 and not any(map(str.isalpha, sentences[place].text)):
            place -= 1
        return sentences[place].index if place >= 0 else None

    return find


def _holds(text: str, quoted: str) -> bool:
    """True if the text has all pieces of a quotation, cut at its omissions."""
    return all(_normalised(piece) in text for piece in _OMISSION.split(quoted))


def _normalised(text: str) -> str:
    """The text without case, spacing and punctuation, which a quotation may change."""
    return _BETWEEN.sub(" ", text.casefold()).strip()


_SENTENCES = 25  # of one comparison, as many as a chunk has
# About 5 ms each. An answer of 20 claims with a citation each makes 20 in a passage of a page.
MAX_SCANS = 1_000


class ScanLimitError(Exception):
    """The search has made all its comparisons, or its time is over."""


class BoundedScanner:
    """Judges single claims by some sentences until it has made `most` comparisons.

    The comparisons of all its searches count together.
    """

    def __init__(self, judge: Judge, meter: Meter | None = None, *, most: int = MAX_SCANS) -> None:
        """`meter` says when the time of the answer is over."""
        self._judge = judge
        self._most = most
        self._meter = meter or Meter()
        self._made = 0

    def judge_one(self, claim: Claim, sentences: Sequence[Sentence], question: str) -> Judgement:
        """The judgement of one claim by these sentences alone; undecided if the judge fails.

        ScanLimitError at the limit.
        """
        self._made += -(-len(sentences) // _SENTENCES)
        if self._made > self._most:
            raise ScanLimitError(f"{TOO_LARGE}: more than {self._most:,} comparisons for findings")
        if self._meter.is_late:
            raise ScanLimitError(self._meter.late_reason)
        draft = DraftClaim(claim.text, claim.sentence, AnswerRange(*claim.answer_range), claim.kind)
        try:
            (judgement,) = self._judge.assess(
                [draft], Chunk(0, tuple(sentences)), question=question
            )
        except (JudgeError, ValueError) as error:
            return Judgement(Label.UNDECIDED, reason=str(error))
        return judgement
