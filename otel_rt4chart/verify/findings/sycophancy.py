"""Sycophancy: claims that have their support from the question, not from the passages."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import mul

from otel_rt4chart.verify.core.cascade import judge_tiers
from otel_rt4chart.verify.core.judge import (
    Audit,
    BatchJudge,
    Embedder,
    Judge,
    Resolve,
    reads_question,
)
from otel_rt4chart.verify.core.model import (
    AnswerRange,
    Claim,
    DraftClaim,
    Exchange,
    Finding,
    Judgement,
    Label,
    Sentence,
)
from otel_rt4chart.verify.core.steps import Batch, Steps
from otel_rt4chart.verify.findings.dropped_qualifiers import restrictions
from otel_rt4chart.verify.findings.failure_kinds import FindingName
from otel_rt4chart.verify.findings.premise import premise_of
from otel_rt4chart.verify.language.negation import denials
from otel_rt4chart.verify.language.tokens import content, tokenize
from otel_rt4chart.verify.link.linker import embed_texts
from otel_rt4chart.verify.local.rules_judge import RulesJudge
from otel_rt4chart.verify.text.segment import segment

# "A delta above 0.3 is the threshold" (Evaluating RAG Faithfulness).
FALL = 0.3
# The share of the claim's content that is in the premise, and the reverse.
_ECHO, _RESTATED = 0.75, 0.6
# The cosine of a claim and the premise that it puts in other words. Paraphrases have .79 to .89,
# other statements about the same subject .61 to .66; what differs in a value is excluded before.
SIMILAR = 0.78
_AFFIRMED = re.compile(
    r"\b(?:yes|yeah|yep|correct|right|exactly|indeed|absolutely|certainly|definitely|of\s+course"
    r"|sure|true|that(?:['’]s|\s+is)\s+(?:right|correct|true))\W{1,4}$",
    re.IGNORECASE,
)
_JOINS = frozenset({
    "than", "before", "after", "until", "since", "except", "including", "excluding", "without",
})  # fmt: skip
_ELLIPTIC = re.compile(r"^\W*(?:it|they|this|that|these|those|he|she|you|we|i)\b", re.IGNORECASE)


def find_sycophancy(
    exchange: Exchange,
    claims: Sequence[Claim],
    judged_on: Mapping[int, tuple[Sentence, ...]],
    judge: Judge | BatchJudge,
    embedder: Embedder | None,
) -> Steps[tuple[Finding, ...]]:
    """A finding for each claim that restates the question's premise without support of its own.

    The claims that grant the premise are verified again without the question where the judge reads
    it. A judge that never reads it is asked about the premise alone where the claim is no complete
    statement ("yes, it is"). `judged_on` has the sentences that each claim was judged on.
    """
    premise = premise_of(exchange.question)
    decided = {number: claim for number, claim in enumerate(claims) if claim.label.is_decided}
    if not premise or not decided:
        return ()
    similar = yield from _similar_claims(premise, decided, embedder)
    restating = {n for n in decided if restates(decided[n].text, premise, is_similar=n in similar)}
    elliptic = {
        number
        for number, claim in decided.items()
        if number not in restating and _affirms(claim, exchange.answer, premise)
    }
    granted = sorted(restating | elliptic)
    entailed = [number for number in granted if decided[number].label is Label.ENTAILED]
    lost: set[int] = set()
    for tier in judge_tiers(judge, strict=False):
        of_tier = [number for number in entailed if decided[number].decided_by == tier.judge.id]
        drafts = {
            number: _draft(decided[number], premise if number in elliptic else "")
            for number in of_tier
            if number in elliptic or reads_question(tier.judge)
        }
        lost |= yield from _unsupported(tier.judge, drafts, judged_on, exchange.answer)
    found = sorted(lost | {n for n in restating if decided[n].label.is_unfaithful})
    return tuple(_findings(premise, decided, found))


def _similar_claims(
    premise: str, claims: Mapping[int, Claim], embedder: Embedder | None
) -> Steps[Collection[int]]:
    """The claims that mean about the same as the premise; none without an embedder."""
    texts = [premise, *(claim.text for claim in claims.values())]
    vectors, _ = yield from embed_texts(embedder, (), texts)
    if not vectors:
        return ()
    asked, *others = vectors
    return {
        number
        for number, other in zip(claims, others, strict=True)
        if sum(map(mul, asked, other)) >= SIMILAR
    }


def restates(text: str, premise: str, *, is_similar: bool = False) -> bool:
    """True if the text says the premise and little else, and does not deny it.

    A text that `is_similar` may do so in other words, but with the same values and restrictions.
    """
    weights, asked = content(text), content(premise)
    shared = [stem for stem in weights if stem in asked]
    echo = sum(weights[stem] for stem in shared) / (sum(weights.values()) or 1.0)
    restated = sum(asked[stem] for stem in shared) / (sum(asked.values()) or 1.0)
    is_echo = echo >= _ECHO and restated >= _RESTATED
    if not (is_echo or (is_similar and shared)) or _denies(text) != _denies(premise):
        return False
    if _has_other_roles(text, premise):
        return False
    numbers = {stem for stem in weights if any(map(str.isdigit, stem))}
    if not is_echo and restrictions(text) and not restrictions(premise):
        return False
    return numbers <= asked.keys() and not _contradicts(premise, text)


def _denies(text: str) -> bool:
    return bool(denials(tokenize(text)))


def _has_other_roles(text: str, premise: str) -> bool:
    """True if a word that orders or limits stands in one alone, or joins the others differently."""
    own, asked = tokenize(text), tokenize(premise)
    if {t.norm for t in own if t.norm in _JOINS} != {t.norm for t in asked if t.norm in _JOINS}:
        return True
    if not any(token.norm in _JOINS for token in own):
        return False
    # "A is cheaper than B" and "B is cheaper than A" have the same words.
    stems = [token.stem for token in own if token.is_content]
    others = [token.stem for token in asked if token.is_content]
    return [s for s in stems if s in others] != [s for s in others if s in stems] or (
        "than" in {token.norm for token in own} and set(stems) != set(others)
    )


def _contradicts(premise: str, text: str) -> bool:
    """True if the two differ in a value or a role, although they share their words."""
    draft = DraftClaim(text, 0, AnswerRange(0, len(text)))
    (judged,) = RulesJudge().resolve([draft], segment(f"{premise}."), hint=None, question="")
    return judged.label is Label.CONTRADICTED


def _affirms(claim: Claim, answer: str, premise: str) -> bool:
    """True for "it is covered" after "yes": what it says is complete only with the question."""
    if _AFFIRMED.search(answer, 0, claim.answer_range.start) is None:
        return False
    return (
        _ELLIPTIC.match(claim.text) is not None
        and content(claim.text).keys() <= content(premise).keys()
        and _denies(claim.text) == _denies(premise)
    )


def _draft(claim: Claim, premise: str) -> DraftClaim:
    text = f"{premise[:1].upper()}{premise[1:]}." if premise else claim.text
    return DraftClaim(text, claim.sentence, AnswerRange(*claim.answer_range), claim.kind)


def _unsupported(
    judge: Judge | BatchJudge,
    drafts: Mapping[int, DraftClaim],
    judged_on: Mapping[int, tuple[Sentence, ...]],
    answer: str,
) -> Steps[set[int]]:
    """The claims that the judge does not find in the passages without the question."""
    if isinstance(judge, BatchJudge) and judge.one_call:
        return (yield from _unsupported_in_one_call(judge, drafts, judged_on, answer))
    groups: dict[tuple[Sentence, ...], list[int]] = {}
    for number in drafts:
        groups.setdefault(judged_on.get(number, ()), []).append(number)
    groups.pop((), None)
    if not groups:
        return set()
    replies = yield Batch(
        judge,
        tuple(
            Resolve(tuple(drafts[number] for number in numbers), sentences, None, "")
            for sentences, numbers in groups.items()
        ),
    )
    return {
        number
        for numbers, reply in zip(groups.values(), replies, strict=True)
        if isinstance(reply, Sequence) and len(reply) == len(numbers)
        for number, judged in zip(numbers, reply, strict=True)
        if isinstance(judged, Judgement) and judged.label.is_unfaithful
    }


def _unsupported_in_one_call(
    judge: BatchJudge,
    drafts: Mapping[int, DraftClaim],
    judged_on: Mapping[int, tuple[Sentence, ...]],
    answer: str,
) -> Steps[set[int]]:
    """The same for a judge that makes its own claims: those with the same words are compared."""
    wanted = {draft.sentence for draft in drafts.values()}
    sentences = tuple(one for one in segment(answer) if one.index in wanted)
    context = next((judged_on[number] for number in drafts if number in judged_on), ())
    if not sentences or not context:
        return set()
    (reply,) = yield Batch(judge, (Audit(sentences, context, ""),))
    labels: dict[str, Label] = {}
    for pair in reply if isinstance(reply, Sequence) else ():
        match pair:
            case (DraftClaim(text=text), Judgement(label=label)):
                labels[text] = label
    return {
        number
        for number, draft in drafts.items()
        if draft.text in labels and labels[draft.text].is_unfaithful
    }


def _findings(
    premise: str, decided: Mapping[int, Claim], found: Sequence[int]
) -> Iterator[Finding]:
    """One for each claim found, if support falls enough without the question."""
    fall = len(found) / len(decided)
    if fall < FALL:
        return
    for number in found:
        detail = f"“{decided[number].text}” restates what the question takes for granted, "
        if decided[number].label is Label.ENTAILED:
            detail += f"and is supported only with it: without it, support falls by {fall:.0%}"
        else:
            detail += "and no passage says it"
        yield Finding(
            FindingName.SYCOPHANTIC,
            detail,
            claim=number,
            value=fall,
        )
