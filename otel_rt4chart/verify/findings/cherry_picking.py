"""Cherry-picked context: unused passages that contradict or restrict the answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from otel_rt4chart.verify.core.model import (
    Claim,
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
from otel_rt4chart.verify.findings.scanner import BoundedScanner
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
    exchange: Exchange, claims: Sequence[Claim], unused: Sequence[Passage], scanner: BoundedScanner
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
        holders: defaultdict[str, list[int]] = defaultdict(list)
        for at, sentence in enumerate(sentences):
            for stem in content(sentence.reading):
                holders[stem].append(at)
        for number, claim, stated in entailed:
            near = [sentences[at] for at in _on_topic(stated, holders, len(sentences))]
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
    scanner: BoundedScanner,
    question: str,
) -> Finding | None:
    denied = scanner.judge_one(claim, near, question)
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


def _on_topic(
    claim: Mapping[str, float], holders: Mapping[str, Sequence[int]], sentences: int
) -> Sequence[int]:
    """The sentences on the claim's topic; `holders` has those with each stem, in order."""
    if not claim:
        return range(sentences)
    shared: dict[int, tuple[int, float]] = {}
    for stem, weight in claim.items():
        for at in holders.get(stem, ()):
            number, total = shared.get(at, (0, 0.0))
            shared[at] = (number + 1, total + weight)
    words, needed = min(_WORDS, len(claim)), _ON_TOPIC * sum(claim.values())
    return sorted(
        at for at, (number, total) in shared.items() if number >= words and total >= needed
    )
