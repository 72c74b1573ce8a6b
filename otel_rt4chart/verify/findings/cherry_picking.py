"""Cherry-picked context: unused passages that contradict or restrict the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.core.judge import Judge
from otel_rt4chart.verify.core.model import (
    AnswerRange,
    Chunk,
    Claim,
    DraftClaim,
    Evidence,
    Exchange,
    Finding,
    Judgement,
    Label,
    Passage,
    Sentence,
)
from otel_rt4chart.verify.findings.dropped_qualifiers import dropped_restrictions, is_narrative
from otel_rt4chart.verify.findings.failure_kinds import FindingName
from otel_rt4chart.verify.language.slots import read_slots
from otel_rt4chart.verify.language.tokens import content
from otel_rt4chart.verify.local.swaps import has_other_subject
from otel_rt4chart.verify.text.segment import segment_passages

# A sentence is on the claim's topic if it has this share of its content and two of its words.
_ON_TOPIC, _WORDS = 0.4, 2
# A sentence with another value is about the same thing only if it has nearly all other words.
_SAME, _OF_SENTENCE = 0.7, 0.4
# A negation denies the claim only in a sentence of the same subject.
_SAME_DENIED = 0.5
_VALUES = ("number", "date", "name", "term")


def cherry_picked(
    exchange: Exchange, claims: Sequence[Claim], unused: Sequence[Passage], scanner: Judge
) -> Iterator[Finding]:
    """The unused passages that contradict, or else restrict, each entailed claim."""
    entailed = [
        (number, claim, content(claim.text))
        for number, claim in enumerate(claims)
        if claim.label is Label.ENTAILED
    ]
    mentioned = content(exchange.answer)
    # Used passages are not searched: what restricts a claim in its own evidence is a dropped
    # qualifier.
    for passage in unused if entailed else ():
        sentences = segment_passages([passage])
        contents = [content(sentence.reading) for sentence in sentences]
        for number, claim, stated in entailed:
            near = [
                one
                for one, sentence_content in zip(sentences, contents, strict=True)
                if _is_on_topic(stated, sentence_content)
            ]
            finding = near and (
                _contradicting(number, claim, passage, near, scanner, exchange.question)
                or _restricting(number, claim, passage, near, mentioned)
            )
            if finding:
                yield finding


def _contradicting(
    number: int,
    claim: Claim,
    passage: Passage,
    near: Sequence[Sentence],
    scanner: Judge,
    question: str,
) -> Finding | None:
    denied = judge_one(scanner, claim, near, question)
    if denied.label is not Label.CONTRADICTED:
        return None
    named = [one for one in near if one.index in denied.sentences] or list(near[:1])
    if not any(_denies(claim, denied, one) for one in named):
        return None
    return _finding("contradiction", number, claim, passage, named)


def _restricting(
    number: int,
    claim: Claim,
    passage: Passage,
    near: Sequence[Sentence],
    mentioned: Mapping[str, float],
) -> Finding | None:
    for sentence in near:
        if limits := dropped_restrictions(sentence.reading, claim.text, mentioned):
            return _finding(limits[0].kind, number, claim, passage, [sentence])
    return None


def _denies(claim: Claim, denied: Judgement, sentence: Sentence) -> bool:
    """True if the sentence is about the same thing, not only the same topic.

    Two sentences with different values are mostly about two things, so the rest must agree. If
    two numbers or dates differ, one of them names the thing.
    """
    if is_narrative(sentence.reading) and not is_narrative(claim.text):
        return False
    if has_other_subject(read_slots(claim.text), read_slots(sentence.reading)):
        return False
    values = [clash for clash in denied.clashes if clash.slot in _VALUES]
    if sum(clash.slot in ("number", "date") for clash in values) > 1:
        return False
    same = _SAME if len(values) == len(denied.clashes) else _SAME_DENIED
    if not denied.clashes:
        return True
    rest, sentence_content = content(claim.text), content(sentence.reading)
    for clash in values:
        for stem in content(clash.claimed):
            rest.pop(stem, None)
        for stem in content(clash.found):
            sentence_content.pop(stem, None)
    shared = sum(weight for stem, weight in rest.items() if stem in sentence_content)
    return shared >= max(same * sum(rest.values()), _OF_SENTENCE * sum(sentence_content.values()))


def judge_one(
    scanner: Judge, claim: Claim, sentences: Sequence[Sentence], question: str
) -> Judgement:
    """The scanner's judgement of one claim by these sentences alone; undecided if it fails."""
    draft = DraftClaim(claim.text, claim.sentence, AnswerRange(*claim.answer_range), claim.kind)
    try:
        (judgement,) = scanner.assess([draft], Chunk(0, tuple(sentences)), question=question)
    except (JudgeError, ValueError) as error:
        return Judgement(Label.UNDECIDED, reason=str(error))
    return judgement


def _finding(
    kind: str, number: int, claim: Claim, passage: Passage, sentences: Sequence[Sentence]
) -> Finding:
    effect = "contradicts" if kind == "contradiction" else "restricts"
    return Finding(
        FindingName.CHERRY_PICKED,
        f"passage {passage.id} supports nothing in the answer and {effect} “{claim.text}”",
        kind=kind,
        claim=number,
        passage_ids=(passage.id,),
        evidence=tuple(
            Evidence(passage.id, one.start, one.end, one.text, "contradicts") for one in sentences
        ),
    )


def _is_on_topic(claim: dict[str, float], sentence_content: dict[str, float]) -> bool:
    shared = [stem for stem in claim if stem in sentence_content]
    weight = sum(claim[stem] for stem in shared)
    return len(shared) >= min(_WORDS, len(claim)) and weight >= _ON_TOPIC * sum(claim.values())
