"""Cherry-picked context: passages that support nothing and take back what the answer says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from otel_rt4chart.errors import JudgeError
from otel_rt4chart.verify.findings.qualifiers import unsaid
from otel_rt4chart.verify.judge import Judge
from otel_rt4chart.verify.link import content
from otel_rt4chart.verify.model import (
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
from otel_rt4chart.verify.segment import segment_passages

# A sentence speaks of the claim where it holds this share of its content, and two of its words.
_ON_TOPIC, _WORDS = 0.4, 2


def cherry_picked(
    exchange: Exchange, claims: Sequence[Claim], unused: Sequence[Passage], scanner: Judge
) -> Iterator[Finding]:
    """For each entailed claim, the unused passages that contradict or restrict it."""
    entailed = [(n, claim) for n, claim in enumerate(claims) if claim.label is Label.ENTAILED]
    for passage in unused if entailed else ():
        sentences = segment_passages([passage])
        contents = [content(sentence.reading) for sentence in sentences]
        for number, claim in entailed:
            near = [
                one
                for one, held in zip(sentences, contents, strict=True)
                if _is_on_topic(content(claim.text), held)
            ]
            if near:
                yield from _against(exchange, number, claim, passage, near, scanner)


def _against(
    exchange: Exchange,
    number: int,
    claim: Claim,
    passage: Passage,
    near: Sequence[Sentence],
    scanner: Judge,
) -> Iterator[Finding]:
    """At most one finding for a claim and a passage: a contradiction, else a restriction."""
    denied = judge_one(scanner, claim, near, exchange.question)
    if denied.label is Label.CONTRADICTED:
        named = [one for one in near if one.index in denied.sentences] or list(near[:1])
        yield _finding("contradiction", number, claim, passage, named)
        return
    for sentence in near:
        if limits := unsaid(sentence.reading, exchange.answer):
            yield _finding(limits[0].kind, number, claim, passage, [sentence])
            return


def judge_one(
    scanner: Judge, claim: Claim, sentences: Sequence[Sentence], question: str
) -> Judgement:
    """The scanner's word on one claim and these sentences alone; undecided where it fails."""
    draft = DraftClaim(claim.text, claim.sentence, AnswerRange(*claim.answer_range), claim.kind)
    try:
        (judgement,) = scanner.assess([draft], Chunk(0, tuple(sentences)), question=question)
    except (JudgeError, ValueError) as error:
        return Judgement(Label.UNDECIDED, reason=str(error))
    return judgement


def _finding(
    kind: str, number: int, claim: Claim, passage: Passage, sentences: Sequence[Sentence]
) -> Finding:
    told = "contradicts" if kind == "contradiction" else "restricts"
    return Finding(
        "cherry_picked",
        f"passage {passage.id} supports nothing in the answer and {told} “{claim.text}”",
        kind=kind,
        claim=number,
        passage_ids=(passage.id,),
        evidence=tuple(
            Evidence(passage.id, one.start, one.end, one.text, "contradicts") for one in sentences
        ),
    )


def _is_on_topic(claim: dict[str, float], held: dict[str, float]) -> bool:
    shared = [stem for stem in claim if stem in held]
    weight = sum(claim[stem] for stem in shared)
    return len(shared) >= min(_WORDS, len(claim)) and weight >= _ON_TOPIC * sum(claim.values())
