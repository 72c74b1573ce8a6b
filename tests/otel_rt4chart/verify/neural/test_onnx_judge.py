from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_rt4chart.verify import (
    AnswerLabel,
    AnswerRange,
    Chunk,
    DraftClaim,
    Exchange,
    Hint,
    Judge,
    Judgement,
    Label,
    OnnxJudge,
    Passage,
    RulesJudge,
    Sentence,
    Verifier,
)
from otel_rt4chart.verify.core.judge import BatchJudge, ModelJudge
from otel_rt4chart.verify.text.segment import segment
from tests.otel_rt4chart.verify.neural.made import LIGHT, WORDS, save_model

TRIAL, REFUNDS, POOL = (
    "The free trial lasts 14 days.",
    "Refunds are paid within 30 days.",
    "The pool is heated.",
)
HALLS = " ".join(["The museum hall shows paintings."] * 40)
ANSWER = f"{TRIAL} The pool is not heated. Dogs are welcome in the garden. Is that all?"
KINDS: dict[str, tuple[tuple[str, ...], dict[str, str] | None]] = {
    "three labels": (("entailed", "baseless", "contradicted"), None),
    "two labels": (("baseless", "entailed"), {"0": "not_entailment", "1": "entailment"}),
    "one logit": (("entailed",), {"0": "consistent"}),
}


def draft(text: str, *, is_claim: bool = True) -> DraftClaim:
    """A claim that is an answer of its own."""
    return DraftClaim(text, 0, AnswerRange(0, len(text)), is_claim=is_claim)


def judged(judge: Judge, claim: str, passage: str) -> Judgement:
    """The global verdict on one claim."""
    (judgement,) = judge.resolve([draft(claim)], segment(passage), hint=None, question="")
    return judgement


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("by_type", [True, False])
def test_an_answer_is_verified_whatever_labels_the_model_has(
    kind: str, by_type: bool, tmp_path: Path
) -> None:
    """Without a label for it nothing is contradicted."""
    logits, id2label = KINDS[kind]
    path = save_model(tmp_path / "mine", logits=logits, id2label=id2label, by_type=by_type)

    report = Verifier(OnnxJudge(path)).verify(
        Exchange("", [Passage("a", f"{TRIAL} {REFUNDS}"), Passage("b", POOL)], ANSWER)
    )

    denied = Label.CONTRADICTED if kind == "three labels" else Label.BASELESS
    expected = [Label.ENTAILED, denied, Label.BASELESS, Label.NOT_A_CLAIM]
    assert [claim.label for claim in report.claims] == expected
    assert [[one.text for one in claim.evidence] for claim in report.claims] == [
        [TRIAL],
        [POOL] if denied is Label.CONTRADICTED else [],
        [],
        [],
    ]
    assert all((claim.confidence or 0) > 0.99 for claim in report.claims)
    assert report.judge.startswith("onnx/mine/")


def test_a_claim_that_two_sentences_bear_out_together_is_entailed(model: Path) -> None:
    """Neither does alone, so both are its evidence."""
    claim = "Dogs and verified guests are welcome in the new heated pool"
    passage = "Dogs are welcome in the pool. Verified guests in the new heated pool are welcome."

    found = judged(OnnxJudge(model), claim, passage)

    assert (found.label, found.sentences) == (Label.ENTAILED, (0, 1))
    assert found.reason.endswith("by 2 sentences together")


def test_evidence_far_into_a_long_context_is_found(model: Path) -> None:
    """Chunk by chunk, then as a whole, with the chunk as a hint."""
    exchange = Exchange("", [Passage("p", f"{HALLS} {TRIAL} {HALLS} {POOL}")], ANSWER)

    report = Verifier(OnnxJudge(model)).verify(exchange)

    first, second = report.claims[:2]
    assert (first.label, first.local_label) == (Label.ENTAILED, Label.ENTAILED)
    assert [one.text for one in first.evidence + second.evidence] == [TRIAL, POOL]


def test_a_hint_adds_the_sentences_of_its_chunk(model: Path) -> None:
    """Of sentences as near as each other, those of the chunk are read, too."""
    texts = [*["The museum shows paintings."] * 9, "Children wander in the museum."]
    context = tuple(Sentence(n, 0, len(text), text, "p") for n, text in enumerate(texts))
    claims, judge = [draft("Kids enter the museum.")], OnnxJudge(model)
    hint = Hint(Label.ENTAILED, Chunk(1, context[8:]))

    (without,) = judge.resolve(claims, context, hint=None, question="")
    (with_hint,) = judge.resolve(claims, context, hint=hint, question="")
    (alone,) = judge.assess(claims, Chunk(1, context[8:]), question="")

    assert without.label is Label.BASELESS
    assert (with_hint.label, with_hint.sentences) == (Label.ENTAILED, (9,))
    assert alone.sentences == (9,)


def test_a_claim_in_other_words_is_looked_for_everywhere(model: Path) -> None:
    """A model reads meaning: no common word is needed, and none makes a claim baseless."""
    passage = f"{HALLS} Children enter. {HALLS}"
    exchange = Exchange(
        "", [Passage("p", passage)], "Kids wander. The museum hall shows paintings."
    )

    kids = Verifier(OnnxJudge(model)).verify(exchange).claims[0]

    assert (kids.label, kids.decided_by) == (Label.ENTAILED, OnnxJudge(model).id)
    assert "Children enter." in [one.text for one in kids.evidence]
    assert Verifier(RulesJudge()).verify(exchange).claims[0].decided_by == "link"


def test_passages_too_long_to_be_read_whole_leave_it_undecided(short_model: Path) -> None:
    """With the reason, and never as if all had been read."""
    found = judged(OnnxJudge(short_model), "Kids wander.", HALLS * 10)

    assert found.label is Label.UNDECIDED
    assert "no sentence has a word of it; all are too long for the model" in found.reason


def test_a_sentence_that_is_too_long_is_read_in_pieces(short_model: Path) -> None:
    """The piece that says it counts, and the evidence is the sentence."""
    long = "every museum hall shows paintings and " * 15 + "the free trial lasts 14 days."

    found = judged(OnnxJudge(short_model), TRIAL, f"{POOL} {long}")

    assert (found.label, found.sentences) == (Label.ENTAILED, (1,))
    assert found.reason.endswith("by one sentence")


def test_a_claim_that_is_too_long_is_undecided(short_model: Path) -> None:
    """Its end is not cut off; the claims beside it are judged."""
    claims = [draft("the pool is heated and " * 6), draft(POOL)]

    long, short = OnnxJudge(short_model).resolve(claims, segment(POOL), hint=None, question="")

    assert (long.label, short.label) == (Label.UNDECIDED, Label.ENTAILED)
    assert long.reason == (
        "the claim is too long for the model: 33 of the 32 tokens that it takes with a premise"
    )


def test_what_is_no_claim_is_not_asked_about(model: Path) -> None:
    """Nor what has nothing to check in it, nor where there is nothing to read."""
    judge = OnnxJudge(model)
    (question,) = judge.resolve(
        [draft("Is it?", is_claim=False)], segment(POOL), hint=None, question=""
    )

    assert (question.label, question.confidence) == (Label.NOT_A_CLAIM, 1.0)
    assert judged(judge, "It is what it is.", POOL).reason == "nothing to check"
    assert judged(judge, POOL, "") == Judgement(
        Label.BASELESS, confidence=1.0, reason="no sentence to read"
    )


def test_citations_are_no_words_of_the_claim(model: Path) -> None:
    """They are looked at elsewhere."""
    assert judged(OnnxJudge(model), "The pool is heated [1].", POOL).label is Label.ENTAILED


def test_a_threshold_asks_for_more(model: Path) -> None:
    """And is part of what the judge is called."""
    plain, strict = OnnxJudge(model), OnnxJudge(model, threshold=0.999)

    assert judged(plain, POOL, POOL).label is Label.ENTAILED
    assert judged(strict, POOL, POOL).label is Label.BASELESS
    assert plain.id != strict.id


def test_it_is_a_judge_that_computes_long(model: Path) -> None:
    """And one that is asked claim by claim."""
    judge = OnnxJudge(model)

    assert isinstance(judge, ModelJudge)
    assert not isinstance(judge, BatchJudge)
    assert not isinstance(RulesJudge(), ModelJudge)
    assert judge.longest_input == 512


def test_awaited_it_says_the_same(model: Path) -> None:
    """Several answers at once, in threads of the event loop."""
    verifier = Verifier(OnnxJudge(model))
    exchange = Exchange("", [Passage("p", f"{TRIAL} {POOL} {HALLS}")], ANSWER)

    async def all_of_them() -> list[object]:
        return list(await asyncio.gather(*(verifier.verify_async(exchange) for _ in range(4))))

    assert asyncio.run(all_of_them()) == [verifier.verify(exchange)] * 4


TEXTS = st.lists(st.sampled_from([*WORDS.split(), *LIGHT]), min_size=1, max_size=14).map(" ".join)
JUDGES: dict[Path, OnnxJudge] = {}


@settings(max_examples=60)
@given(TEXTS, st.lists(TEXTS, max_size=8))
def test_every_verdict_keeps_a_judges_promises(model: Path, claim: str, texts: list[str]) -> None:
    """Evidence exactly where the label asks for it, of sentences that exist; the same again."""
    judge = JUDGES.setdefault(model, OnnxJudge(model))
    sentences = [Sentence(at, 0, len(text), text, "p1") for at, text in enumerate(texts)]
    (first,) = judge.resolve([draft(claim)], sentences, hint=None, question="")

    assert bool(first.sentences) == (first.label in (Label.ENTAILED, Label.CONTRADICTED))
    assert set(first.sentences) <= set(range(len(texts)))
    assert first.confidence is not None
    assert 0.0 <= first.confidence <= 1.0
    assert judge.resolve([draft(claim)], sentences, hint=None, question="") == (first,)
    assert OnnxJudge(model).resolve([draft(claim)], sentences, hint=None, question="") == (first,)


@settings(max_examples=60)
@given(st.text(max_size=120), st.text(max_size=300))
def test_any_text_is_judged(short_model: Path, claim: str, passage: str) -> None:
    """No input raises: half characters, controls, one word without an end."""
    judge = JUDGES.setdefault(short_model, OnnxJudge(short_model))

    assert judged(judge, claim + " pool", passage * 3).label in set(Label)


@pytest.mark.parametrize("text", ["x" * 20_000, "pool " * 20_000, "\ud800 pool. " * 50, "\0 pool"])
def test_text_that_means_harm_is_verified_without_harm(model: Path, text: str) -> None:
    """As a passage, and as an answer."""
    verifier = Verifier(OnnxJudge(model))

    assert verifier.verify(Exchange("", [Passage("p", text)], POOL)).label in AnswerLabel
    assert verifier.verify(Exchange("", [Passage("p", POOL)], text)).label in AnswerLabel
