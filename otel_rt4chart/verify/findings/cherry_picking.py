"""Cherry-picked context: unused passages that contradict or restrict the answer."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from heapq import nlargest
from itertools import groupby
from operator import mul
from typing import NamedTuple

from otel_rt4chart.verify.core.judge import Assess, BatchJudge, Embedder, Judge, ModelJudge
from otel_rt4chart.verify.core.meter import TOO_LARGE, Meter
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
    Relation,
    Sentence,
    reaches,
)
from otel_rt4chart.verify.core.steps import Batch, Steps
from otel_rt4chart.verify.findings.denied_claim import (
    claim_parts,
    denies,
    deny,
    is_about_other,
    is_denied_of_other,
    is_opposite,
    left_uncovered,
)
from otel_rt4chart.verify.findings.dropped_qualifiers import dropped_restrictions
from otel_rt4chart.verify.findings.failure_kinds import FindingName
from otel_rt4chart.verify.language.slots import read_slots
from otel_rt4chart.verify.language.tokens import content
from otel_rt4chart.verify.link.linker import embed_texts
from otel_rt4chart.verify.local.rules_judge import RulesJudge

# A judge must be at least this certain that a passage contradicts a claim ("score > 0.6",
# Evaluating RAG Faithfulness).
THRESHOLD = 0.6
# A sentence is on the claim's topic if it has this share of its content and two of its words, or
# one of its words and this cosine with it.
_ON_TOPIC, _WORDS = 0.4, 2
_NEAR = 0.35
_NEAREST = 3  # sentences of one passage that a claim is compared with by a model
# A sentence says a contradicted claim too if it has this share of its content, and rules entail it.
_SAYS_IT = 0.9
# A network is believed of a sentence so much nearer to the claim's denial than to the claim.
_NEARER_READ = 0.03
# A sentence means the claim's denial where it is so near to it, and so much nearer than to the
# claim itself. Of 731 pairs of faithful answers, and of 992 pairs of FEVER that do not contradict,
# none is.
_DENIAL, _NEARER = 0.7, 0.1
_SOLE_WHO = re.compile(r"\W*(?:only|solely|just)\b", re.IGNORECASE)
# More passages against one claim say no more.
_PER_CLAIM = 3
# The most passages that one answer sends to a judge at an endpoint, one call each; the most
# comparisons of a model in this process, about 25 ms each, and of rules, about 5 ms.
MOST_CALLS, MOST_READ, MOST_COMPARED = 8, 120, 1_000
# The most sentences of one answer that are searched, those with the most of its claims' content:
# each is compared with every claim, and the encoder takes 3 to 4 ms for it.
MOST_SENTENCES = 400


class _Reading(NamedTuple):
    """One wording of a claim: the claim itself, or a part of it that it asserts too."""

    number: int
    text: str


@dataclass(slots=True)
class _Vectors:
    """The vectors of texts, by text; empty without an embedder."""

    known: dict[str, Sequence[float]] = field(default_factory=dict)

    def cosine(self, left: str, right: str) -> float:
        one, other = self.known.get(left), self.known.get(right)
        return sum(map(mul, one, other)) if one and other else 0.0

    def nearer_to_denial(self, claim: str, sentence: str) -> float:
        return self.cosine(deny(claim), sentence) - self.cosine(claim, sentence)

    def relatedness(self, claim: str, sentence: str) -> float:
        return max(self.cosine(claim, sentence), self.cosine(deny(claim), sentence))


@dataclass(slots=True)
class CherryPickSearch:
    """Searches the unused passages of one answer with one judge.

    `judge` compares claims with single passages; `embedder` finds denials in other words. A passage
    counts as contradicting from the confidence `threshold` on. `problem` says why the search ended
    early.
    """

    judge: Judge | BatchJudge
    embedder: Embedder | None = None
    threshold: float = THRESHOLD
    meter: Meter = field(default_factory=Meter)
    problem: str = ""
    _made: int = 0

    def run(
        self, exchange: Exchange, claims: Sequence[Claim], unused: Sequence[Sentence]
    ) -> Steps[tuple[Finding, ...]]:
        """What contradicts, or else restricts, each entailed claim in the unused passages.

        Used passages are not searched: what restricts a claim in its own evidence is a dropped
        qualifier.
        """
        readings = [
            _Reading(number, text)
            for number, claim in enumerate(claims)
            if claim.label is Label.ENTAILED
            for text in (claim.text, *claim_parts(claim.text))
        ]
        stems = {stem for one in readings for stem in content(one.text)}
        touched = _most_touched(unused if readings else (), stems)
        vectors = yield from self._vectors(touched, readings)
        found: list[Finding] = []
        groups = [tuple(group) for _, group in groupby(touched, key=lambda one: one.passage_id)]
        at_once = MOST_CALLS if isinstance(self.judge, BatchJudge) else 1
        for start in range(0, len(groups), at_once):
            counts = Counter(one.claim for one in found)
            open_ = [one for one in readings if counts[one.number] < _PER_CLAIM]
            near = [
                {one: part for one in open_ if (part := _near(one.text, group, vectors))}
                for group in groups[start : start + at_once]
            ]
            judged = yield from self._judge(near, claims, exchange.question)
            for pairs, verdicts in zip(near, judged, strict=True):
                found += _findings(exchange, claims, pairs, verdicts, vectors, self)
            if self.problem:
                break
        if len(touched) == MOST_SENTENCES and not self.problem:
            self.problem = f"only the {MOST_SENTENCES} nearest sentences were searched"
        return tuple(found)

    def _vectors(
        self, context: Sequence[Sentence], readings: Sequence[_Reading]
    ) -> Steps[_Vectors]:
        if not context or self.embedder is None:
            return _Vectors()
        texts = [text for one in readings for text in (one.text, deny(one.text))]
        vectors, _ = yield from embed_texts(self.embedder, context, texts)
        read = [*(one.reading for one in context), *texts]
        # Where the embedder fails, there are no vectors.
        return _Vectors(dict(zip(read, vectors, strict=True)) if vectors else {})

    def _judge(
        self,
        near: Sequence[Mapping[_Reading, Sequence[Sentence]]],
        claims: Sequence[Claim],
        question: str,
    ) -> Steps[list[dict[_Reading, Judgement]]]:
        """What the judge says of each passage: one call a passage, or one question a claim."""
        asked = [
            (at, list(batch), _chunk(batch))
            for at, pairs in enumerate(near)
            for batch in self._batches(pairs)
        ]
        asked = [one for one in asked if self._allows(len(one[1]) * len(one[2].sentences))]
        verdicts: list[dict[_Reading, Judgement]] = [{} for _ in near]
        if not asked:
            return verdicts
        replies = yield Batch(
            self.judge,
            tuple(
                Assess(tuple(_draft(claims[one.number], one.text) for one in part), chunk, question)
                for _, part, chunk in asked
            ),
        )
        for (at, part, _), reply in zip(asked, replies, strict=True):
            answers = reply if isinstance(reply, Sequence) else ()
            if len(answers) == len(part):  # a failed or malformed reply contradicts nothing
                verdicts[at].update(
                    (one, answer)
                    for one, answer in zip(part, answers, strict=True)
                    if isinstance(answer, Judgement)
                )
        return verdicts

    def _batches(
        self, pairs: Mapping[_Reading, Sequence[Sentence]]
    ) -> list[Mapping[_Reading, Sequence[Sentence]]]:
        """The questions for the judge; a network is asked only where it can be believed."""
        if isinstance(self.judge, BatchJudge):
            return [pairs] if pairs else []
        if not isinstance(self.judge, ModelJudge):
            return [{one: sentences} for one, sentences in pairs.items()]
        opposite = (
            (one, tuple(other for other in sentences if is_opposite(one.text, other.reading)))
            for one, sentences in pairs.items()
        )
        return [{one: sentences} for one, sentences in opposite if sentences]

    def _allows(self, comparisons: int) -> bool:
        """False, with the reason in `problem`, where the limits of one answer are reached."""
        if isinstance(self.judge, BatchJudge):
            comparisons, most, what = 1, MOST_CALLS, "calls"
        elif isinstance(self.judge, ModelJudge):
            most, what = MOST_READ, "model comparisons"
        else:
            most, what = MOST_COMPARED, "comparisons"
        self._made += comparisons
        if self.meter.is_late:
            self.problem = self.meter.late_reason
        elif self._made > most:
            self.problem = f"{TOO_LARGE}: more than {most:,} {what} for cherry-picked passages"
        return not self.problem


def conflicts(claims: Sequence[Claim], context: Sequence[Sentence]) -> Iterator[Finding]:
    """Contradicted claims that another passage says: the sources disagree, and one was picked."""
    contradicted = [
        (number, claim) for number, claim in enumerate(claims) if claim.label is Label.CONTRADICTED
    ]
    for number, claim in contradicted:
        against = [one.passage_id for one in claim.evidence if one.relation == "contradicts"]
        others = (one for one in context if against and one.passage_id not in against)
        said = next((one for one in others if _says(claim.text, one)), None)
        if said is not None:
            yield Finding(
                FindingName.CHERRY_PICKED,
                f"passage {said.passage_id} supports “{claim.text}”, passage {against[0]} "
                "contradicts it",
                kind="conflict",
                claim=number,
                passage_ids=(said.passage_id, against[0]),
                evidence=(Evidence(said.passage_id, said.start, said.end, said.text, "supports"),),
            )


def _says(claim: str, sentence: Sentence) -> bool:
    """True if the sentence alone entails the claim for certain."""
    stated, told = content(claim), content(sentence.reading)
    shared = sum(weight for stem, weight in stated.items() if stem in told)
    if not stated or shared < _SAYS_IT * sum(stated.values()):
        return False
    if bool(read_slots(claim).denials) != bool(read_slots(sentence.reading).denials):
        return False
    return _rule(claim, [sentence]).label is Label.ENTAILED


def main_passage(claim: Claim) -> str:
    """The passage of the sentence that says most of the claim; "" without support.

    A judge may name further sentences on the topic, and one of these may take the claim back.
    """
    stated = content(claim.text)
    supporting = [one for one in claim.evidence if one.relation == "supports"]
    is_denied = bool(read_slots(claim.text).denials)
    alike = [one for one in supporting if bool(read_slots(one.text).denials) == is_denied]
    best = max(
        alike or supporting,
        key=lambda one: sum(stated.get(stem, 0.0) for stem in content(one.text)),
        default=None,
    )
    return best.passage_id if best else ""


def with_both_sides(claims: Sequence[Claim], findings: Sequence[Finding]) -> tuple[Claim, ...]:
    """The claims with what other passages say against them behind their own evidence.

    A sentence that contradicts or restricts a claim does not also support it.
    """
    against: defaultdict[int, list[Evidence]] = defaultdict(list)
    for finding in findings:
        if finding.name == FindingName.CHERRY_PICKED and finding.claim is not None:
            against[finding.claim] += finding.evidence
    return tuple(
        replace(claim, evidence=_both_sides(claim.evidence, against[number]))
        if against[number]
        else claim
        for number, claim in enumerate(claims)
    )


def _both_sides(own: Sequence[Evidence], against: Sequence[Evidence]) -> tuple[Evidence, ...]:
    places = {(one.passage_id, one.start) for one in against if one.relation != "supports"}
    kept = (
        one
        for one in own
        if one.relation == "contradicts" or (one.passage_id, one.start) not in places
    )
    return tuple(dict.fromkeys((*kept, *against)))


def _most_touched(context: Sequence[Sentence], stems: Collection[str]) -> list[Sentence]:
    """The sentences with content of the claims, in order; of too many, those with the most."""
    weights = {
        one.index: sum(weight for stem, weight in content(one.reading).items() if stem in stems)
        for one in context
    }
    touched = [one for one in context if not stems or weights[one.index]]
    if len(touched) > MOST_SENTENCES:
        nearest = nlargest(
            MOST_SENTENCES, touched, key=lambda one: (weights[one.index], -one.index)
        )
        touched = sorted(nearest, key=lambda one: one.index)
    return touched


def _draft(claim: Claim, text: str) -> DraftClaim:
    return DraftClaim(text, claim.sentence, AnswerRange(*claim.answer_range), claim.kind)


def _chunk(pairs: Mapping[_Reading, Sequence[Sentence]]) -> Chunk:
    sentences = {one.index: one for part in pairs.values() for one in part}
    return Chunk(0, tuple(sentences[index] for index in sorted(sentences)))


def _near(claim: str, sentences: Sequence[Sentence], vectors: _Vectors) -> tuple[Sentence, ...]:
    """The sentences on the claim's topic, in order; of many, the nearest."""
    stated = content(claim)
    if not stated:
        return tuple(sentences[:_NEAREST])
    total, words = sum(stated.values()), min(_WORDS, len(stated))
    ranked: list[tuple[float, Sentence]] = []
    for sentence in sentences:
        shared = [stem for stem in content(sentence.reading) if stem in stated]
        share = sum(stated[stem] for stem in shared) / total
        cosine = vectors.relatedness(claim, sentence.reading) if shared else 0.0
        is_topic = (len(shared) >= words and share >= _ON_TOPIC) or cosine >= _NEAR
        if is_topic or left_uncovered(claim, sentence.reading):
            ranked.append((max(share, cosine), sentence))
    ranked.sort(key=lambda one: (-one[0], one[1].index))
    return tuple(sorted((one for _, one in ranked[:_NEAREST]), key=lambda one: one.index))


def _findings(
    exchange: Exchange,
    claims: Sequence[Claim],
    near: Mapping[_Reading, Sequence[Sentence]],
    verdicts: Mapping[_Reading, Judgement],
    vectors: _Vectors,
    search: CherryPickSearch,
) -> Iterator[Finding]:
    """One finding for each claim that this passage contradicts or, failing that, restricts."""
    mentioned = content(exchange.answer)
    told: set[int] = set()
    for one, sentences in near.items():
        against = _contradicting(one.text, sentences, verdicts.get(one), vectors, search)
        if against and one.number not in told:
            told.add(one.number)
            yield _finding("contradiction", one.number, claims[one.number], against)
    for one, sentences in near.items():
        for sentence in sentences if one.number not in told else ():
            kind = _limit(one.text, sentence.reading, mentioned, exchange.answer)
            if kind:
                told.add(one.number)
                yield _finding(kind, one.number, claims[one.number], [sentence])
                break


def _limit(claim: str, sentence: str, mentioned: Mapping[str, float], answer: str) -> str:
    """How the sentence limits the claim, unless the answer says so; "" if it does not.

    `mentioned` is the answer's content.
    """
    # Who alone may do something, and what is not done, is no whole that could be limited.
    is_whole = not (_SOLE_WHO.match(claim) or read_slots(claim).denials)
    limits = dropped_restrictions(sentence, claim, mentioned) if is_whole else ()
    if limits and limits[0].kind == "exclusion":
        limits = () if is_denied_of_other(read_slots(claim), read_slots(sentence)) else limits
    if limits:
        return limits[0].kind
    uncovered = left_uncovered(claim, sentence)
    if not uncovered:
        return ""
    is_denied = bool(read_slots(answer).denials) or not read_slots(uncovered).denials
    is_told = content(uncovered).keys() <= mentioned.keys() and is_denied
    return "" if is_told else "exclusion"


_rules = cache(RulesJudge)


def _rule(claim: str, sentences: Sequence[Sentence]) -> Judgement:
    """What rules say of the claim by these sentences alone."""
    draft = DraftClaim(claim, 0, AnswerRange(0, len(claim)))
    (ruled,) = _rules().assess([draft], Chunk(0, tuple(sentences)), question="")
    return ruled


def _contradicting(
    claim: str,
    sentences: Sequence[Sentence],
    verdict: Judgement | None,
    vectors: _Vectors,
    search: CherryPickSearch,
) -> list[Sentence]:
    """The sentences of a passage that contradict the claim, by rules, judge or encoder."""
    if not isinstance(search.judge, RulesJudge):  # they have not been asked yet
        ruled = _rule(claim, sentences)
        if ruled.label is Label.CONTRADICTED and reaches(ruled.confidence, search.threshold):
            named = [one for one in sentences if one.index in ruled.sentences]
            if any(denies(claim, ruled, one.reading) for one in named):
                return named
    if verdict is not None and verdict.label is Label.CONTRADICTED:
        named = [one for one in sentences if one.index in verdict.sentences] or list(sentences[:1])
        nearer = max(vectors.nearer_to_denial(claim, one.reading) for one in named)
        is_sure = reaches(verdict.confidence, search.threshold - max(0.0, nearer))
        if is_sure and isinstance(search.judge, BatchJudge):
            return named
        if isinstance(search.judge, ModelJudge):
            named = [one for one in named if _is_read_as_denial(claim, one.reading, vectors)]
        if is_sure and any(denies(claim, verdict, one.reading) for one in named):
            return named
    return [one for one in sentences if _means_denial(claim, one.reading, vectors)][:1]


def _is_read_as_denial(claim: str, sentence: str, vectors: _Vectors) -> bool:
    """True where the encoder agrees with a network that calls the sentence a contradiction.

    Alone, a network also calls many a paraphrase a contradiction.
    """
    nearer = vectors.nearer_to_denial(claim, sentence)
    return is_opposite(claim, sentence) and nearer >= _NEARER_READ


def _means_denial(claim: str, sentence: str, vectors: _Vectors) -> bool:
    """True where the sentence says, in whatever words, that the claim does not hold."""
    if bool(read_slots(claim).denials) == bool(read_slots(sentence).denials):
        return False
    return (
        vectors.cosine(deny(claim), sentence) >= _DENIAL
        and vectors.nearer_to_denial(claim, sentence) >= _NEARER
        and not is_about_other(claim, sentence)
        and not is_denied_of_other(read_slots(claim), read_slots(sentence))
    )


def _finding(kind: str, number: int, claim: Claim, sentences: Sequence[Sentence]) -> Finding:
    relation: Relation = "contradicts" if kind == "contradiction" else "limits"
    passage = sentences[0].passage_id
    return Finding(
        FindingName.CHERRY_PICKED,
        f"passage {passage} {relation} “{claim.text}”, and the answer does not say so",
        kind=kind,
        claim=number,
        passage_ids=(passage,),
        evidence=tuple(
            Evidence(passage, one.start, one.end, one.text, relation) for one in sentences
        ),
    )
