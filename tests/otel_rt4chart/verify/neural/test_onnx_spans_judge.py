from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_rt4chart.core.errors import InputError, SettingsError
from otel_rt4chart.verify import (
    AnswerLabel,
    AnswerRange,
    Budget,
    CascadeJudge,
    DraftClaim,
    Exchange,
    Label,
    OnnxSpansJudge,
    Passage,
    Report,
    RulesJudge,
    Tracer,
    Verifier,
)
from otel_rt4chart.verify.core.judge import BatchJudge
from tests.otel_rt4chart.verify.neural.made import LIGHT, SPECIAL, WORDS
from tests.otel_rt4chart.verify.neural.made_spans import ALWAYS, save_detector

TRIAL, POOL = "The free trial lasts 14 days.", "The pool is heated."
ANSWER = f"The free trial lasts 30 days. {POOL}\n\nDogs are welcome, in the garden. Is it?"
HALLS = " ".join(["The museum hall shows paintings."] * 60)


def verified(path: Path, answer: str, *passages: str, question: str = "") -> Report:
    """The report on an answer after these passages."""
    texts = [Passage(f"p{number}", text) for number, text in enumerate(passages)]
    return Verifier(OnnxSpansJudge(path)).verify(Exchange(question, texts, answer))


def flagged(report: Report, answer: str) -> list[str]:
    """The words of the answer that are unfaithful, in its order."""
    return [answer[slice(*claim.answer_range)] for claim in report.unfaithful]


def flagged_characters(report: Report) -> set[int]:
    """The places of the answer that are unfaithful."""
    return {at for claim in report.unfaithful for at in range(*claim.answer_range)}


@pytest.mark.parametrize("by_type", [True, False])
def test_the_flagged_words_are_baseless_claims(by_type: bool, tmp_path: Path) -> None:
    """Each run of them with exactly its characters; the sentences without any are entailed."""
    path = save_detector(tmp_path / "mine", by_type=by_type)

    report = verified(path, ANSWER, TRIAL, POOL)

    assert flagged(report, ANSWER) == ["30", "Dogs are welcome", "in", "garden"]
    assert [claim.label for claim in report.claims] == [
        Label.BASELESS,
        Label.ENTAILED,
        *[Label.BASELESS] * 3,
        Label.NOT_A_CLAIM,
    ]
    assert report.claims[0].text == "The free trial lasts 30 days."
    assert "flags “30”" in report.claims[0].reason
    assert report.judge.startswith("onnx-spans/mine/")
    assert {claim.decided_by for claim in report.claims[:-1]} == {report.judge}


def test_words_of_two_sentences_are_claims_of_each(detector: Path) -> None:
    """A run that goes on into the next sentence is cut where it begins."""
    answer = "The pool opens at nine\n\nGarden opens at ten"

    report = verified(detector, answer, POOL)

    assert flagged(report, answer) == ["opens at nine", "Garden opens at ten"]
    assert [claim.sentence for claim in report.claims] == [0, 1]


def test_a_sentence_without_a_flagged_word_shows_the_sentence_like_it(detector: Path) -> None:
    """A detector names no evidence, and the reason says so."""
    (claim,) = verified(detector, POOL, TRIAL, POOL).claims

    assert (claim.label, [one.text for one in claim.evidence]) == (Label.ENTAILED, [POOL])
    assert "it names no evidence" in claim.reason
    assert (claim.confidence or 0) > 0.99


def test_support_that_cannot_be_shown_is_undecided(detector: Path) -> None:
    """Kids are children to this model, and a sentence is evidence where it shares a word."""
    report = verified(detector, "The kids wander.", "Children enter.", POOL)

    assert [claim.label for claim in report.claims] == [Label.UNDECIDED]
    assert "no sentence that shares a word with it" in report.claims[0].reason


def test_a_label_for_contradictions_is_used(tmp_path: Path) -> None:
    """Only such a model contradicts; the sentence like the claim is the evidence."""
    logits = ("baseless", "entailed", "contradicted")
    path = save_detector(tmp_path / "three", logits=logits)
    answer = "The pool is not heated."

    three = verified(path, answer, POOL)
    two = verified(save_detector(tmp_path / "two"), answer, POOL)

    assert three.label is AnswerLabel.CONTRADICTED
    assert two.label is AnswerLabel.BASELESS
    assert flagged(three, answer) == flagged(two, answer) == ["not"]
    assert [one.text for one in three.claims[0].evidence] == [POOL]


def test_support_in_one_window_of_long_passages_is_enough(detector: Path) -> None:
    """Whichever it is, and what none of them has is flagged in the end."""
    answer = f"{TRIAL} {POOL} Dogs enter."

    report = verified(detector, answer, HALLS + HALLS, f"{HALLS} {TRIAL} {HALLS}", HALLS, POOL)

    assert flagged(report, answer) == ["Dogs enter"]


def test_a_long_answer_is_read_to_its_end(short_detector: Path) -> None:
    """In pieces, with all of the passages each; the last word counts as the first one does."""
    answer = f"{POOL} " * 30 + "Dogs enter."

    report = verified(short_detector, answer, f"{HALLS} {POOL}")

    assert flagged(report, answer) == ["Dogs enter"]
    assert report.count(Label.ENTAILED) == 30


def test_a_sentence_longer_than_the_model_is_read_to_its_end(short_detector: Path) -> None:
    """It is cut between words, never off."""
    answer = "The pool is heated and heated, " * 20 + "and a dogs is heated."

    report = verified(short_detector, answer, POOL + " and")

    assert flagged(report, answer) == ["dogs"]


def test_a_question_that_leaves_no_room_is_said(short_detector: Path) -> None:
    """Nothing is cut off silently: the claims are undecided with the reason."""
    report = verified(short_detector, POOL, POOL, question="When is the pool heated? " * 9)

    assert report.label is AnswerLabel.UNDECIDED
    assert "the question and the answer are too long for the model" in report.claims[0].reason


def test_windows_count_against_the_budget(short_detector: Path) -> None:
    """What exceeds it is undecided, with the figures."""
    verifier = Verifier(OnnxSpansJudge(short_detector), budget=Budget(model_comparisons=3))

    report = verifier.verify(Exchange("", [Passage("p", HALLS)], POOL))

    assert report.label is AnswerLabel.UNDECIDED
    assert report.claims[0].reason.startswith("too_large: 4 model comparisons")


def test_it_reads_whole_answers_and_stays_in_this_process(detector: Path) -> None:
    """Where a claim is given, it says that it cannot serve."""
    judge = OnnxSpansJudge(detector)
    exchange = Exchange("", [Passage("p", POOL)], POOL)

    assert isinstance(judge, BatchJudge)
    assert (judge.one_call, judge.is_remote, judge.longest_input) == (True, False, 512)
    assert not Verifier(judge).is_remote
    with pytest.raises(InputError, match="cannot judge a given claim"):
        Verifier(judge).verify_claim(exchange, DraftClaim(POOL, 0, AnswerRange(0, len(POOL))))
    with pytest.raises(SettingsError, match="makes its own claims"):
        Tracer(judge)
    with pytest.raises(SettingsError, match="expected one that answers in this process and claim"):
        CascadeJudge(judge, RulesJudge())  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="makes its own claims"):
        CascadeJudge(RulesJudge(), judge)


def test_awaited_it_says_the_same(detector: Path) -> None:
    """Several answers at once."""
    verifier = Verifier(OnnxSpansJudge(detector))
    exchange = Exchange("", [Passage("p", f"{TRIAL} {POOL}")], ANSWER)

    async def all_of_them() -> list[object]:
        return list(await asyncio.gather(*(verifier.verify_async(exchange) for _ in range(4))))

    assert asyncio.run(all_of_them()) == [verifier.verify(exchange)] * 4


def test_a_threshold_asks_for_more(tmp_path: Path) -> None:
    """And is part of what the judge is called."""
    path = save_detector(tmp_path, sure=1.0)
    strict = OnnxSpansJudge(path, threshold=0.95)
    exchange = Exchange("", [Passage("p", POOL)], POOL)

    assert Verifier(strict).verify(exchange).label is AnswerLabel.BASELESS
    assert Verifier(OnnxSpansJudge(path)).verify(exchange).label is AnswerLabel.ENTAILED
    assert strict.id != OnnxSpansJudge(path).id


JUDGES: dict[Path, OnnxSpansJudge] = {}
KNOWN = {*WORDS.split(), *LIGHT, *SPECIAL}
# Words that the model knows, others, marks, white space of every kind, and no ASCII.
SOME = st.sampled_from(
    [*WORDS.split()[:12], *LIGHT, "äöü", "naïve", "👩‍👩‍👧", "日本", "x-ray", "é", "$5", "«", "…"]
)
SPACES = st.sampled_from([" ", "  ", "\n", "\n\n", "\t", " \u00a0", "\r\n", ""])
TEXTS = st.lists(st.tuples(SOME, SPACES), min_size=1, max_size=25).map(
    lambda pairs: "".join(word + space for word, space in pairs)
)


def expected_characters(answer: str, passages: list[str]) -> set[int]:
    """The places of the words that stand in no passage, found without a tokenizer's offsets."""
    backed = {word.lower() for text in passages for word in re.findall(r"\w+|[^\w\s]+", text)}
    known = backed & KNOWN | set(ALWAYS)
    return {
        at
        for found in re.finditer(r"\w+|[^\w\s]+", answer)
        if found.group().lower() not in known
        for at in range(*found.span())
    }


@settings(max_examples=150)
@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=3))
def test_the_claims_have_exactly_the_flagged_characters(
    detector: Path, answer: str, passages: list[str]
) -> None:
    """All of them, and beyond them only white space between two, and whole characters."""
    judge = JUDGES.setdefault(detector, OnnxSpansJudge(detector))
    texts = [Passage(str(number), text) for number, text in enumerate(passages)]

    report = Verifier(judge).verify(Exchange("", texts, answer))

    expected, found = expected_characters(answer, passages), flagged_characters(report)
    assert expected <= found
    for at in found - expected:
        # Between two flagged words, or a part of a character that is written as several.
        assert answer[at].isspace() or not answer[at].isascii()


@settings(max_examples=60)
@given(TEXTS, TEXTS)
def test_windows_and_pieces_change_nothing(
    detector: Path, short_detector: Path, answer: str, passage: str
) -> None:
    """The same words are flagged whether all is read at once or in parts."""
    long = JUDGES.setdefault(detector, OnnxSpansJudge(detector))
    short = JUDGES.setdefault(short_detector, OnnxSpansJudge(short_detector))
    exchange = Exchange("", [Passage("p", passage), Passage("q", HALLS[:600])], answer)

    whole, parts = (Verifier(one).verify(exchange) for one in (long, short))

    assert flagged_characters(whole) == flagged_characters(parts)


@settings(max_examples=60)
@given(st.text(max_size=120), st.text(min_size=1, max_size=300))
def test_any_text_is_judged(short_detector: Path, answer: str, passage: str) -> None:
    """No input raises, and every flagged range lies in the answer."""
    judge = JUDGES.setdefault(short_detector, OnnxSpansJudge(short_detector))

    report = Verifier(judge).verify(Exchange("", [Passage("p", passage)], answer + " pool"))

    for claim in report.claims:
        start, end = claim.answer_range
        assert 0 <= start < end <= len(answer) + 5


@pytest.mark.parametrize("text", ["x" * 20_000, "\ud800 pool. " * 50, "\0 pool", "é́" * 40])
def test_text_that_means_harm_is_verified_without_harm(detector: Path, text: str) -> None:
    """As a passage, and as an answer."""
    assert verified(detector, POOL, text).label in AnswerLabel
    assert verified(detector, text, POOL).label in AnswerLabel
