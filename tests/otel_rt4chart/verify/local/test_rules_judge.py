"""The verdicts by rules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.bench.dataset import read_rows
from otel_rt4chart.verify import Verifier
from otel_rt4chart.verify.core.judge import Judge
from otel_rt4chart.verify.core.model import (
    AnswerRange,
    Chunk,
    Clash,
    DraftClaim,
    Judgement,
    Label,
    Sentence,
)
from otel_rt4chart.verify.local.rules_judge import RulesJudge
from otel_rt4chart.verify.text.segment import segment

HUBBLE = (
    "The Hubble Space Telescope was deployed from Space Shuttle Discovery on April 25, 1990,"
    " during STS-31. It has since been serviced five times."
)
POLICY = (
    "The policy applies to new users only. Verification is required for all accounts."
    " The free trial lasts 14 days. Users who have verified their identity may ask for one"
    " extension. The extension adds 7 days to the free trial and is granted to new users one time."
)


def draft(text: str) -> DraftClaim:
    """A claim that is an answer of its own."""
    return DraftClaim(text, 0, AnswerRange(0, len(text)))


def judged(claim: str, passage: str) -> Judgement:
    """The global verdict on one claim."""
    judge: Judge = RulesJudge()
    (judgement,) = judge.resolve([draft(claim)], segment(passage), hint=None, question="")
    return judgement


@pytest.mark.parametrize(
    ("claim", "label", "clash"),
    [
        (
            "Hubble launched on April 24, 1990",
            Label.CONTRADICTED,
            Clash("date", "April 24, 1990", "April 25, 1990"),
        ),
        (
            "Hubble launched from Space Shuttle Atlantis",
            Label.CONTRADICTED,
            Clash("name", "Atlantis", "Discovery"),
        ),
        ("Hubble was deployed as part of mission STS-31", Label.ENTAILED, None),
        (
            "It has been serviced four times.",
            Label.CONTRADICTED,
            Clash("number", "four times", "five times"),
        ),
    ],
)
def test_the_telescope_example(claim: str, label: Label, clash: Clash | None) -> None:
    """Date and shuttle stand against the passage, the mission follows from it."""
    judgement = judged(claim, HUBBLE)

    assert judgement.label is label
    assert judgement.clashes == ((clash,) if clash else ())


@pytest.mark.parametrize(
    ("claim", "label"),
    [
        ("verification is not required", Label.CONTRADICTED),
        ("the free trial lasts 14 days", Label.ENTAILED),
        ("the free trial lasts 30 days", Label.CONTRADICTED),
        ("the free trial lasts two weeks", Label.ENTAILED),
    ],
)
def test_the_running_example_where_words_decide(claim: str, label: Label) -> None:
    """What the paper's policy example asks, as far as words and values reach."""
    assert judged(claim, POLICY).label is label


def test_a_contradiction_names_both_values_and_their_sentence() -> None:
    """Evidence by index, the clash, and the reason in words."""
    judgement = judged("The free trial lasts 14 days.", "Welcome. The free trial lasts 30 days.")

    assert judgement.label is Label.CONTRADICTED
    assert judgement.sentences == (1,)
    assert judgement.clashes == (Clash("number", "14 days", "30 days"),)
    assert judgement.reason == "“14 days” in the answer, “30 days” in the passage"


def test_a_baseless_claim_names_what_is_not_there() -> None:
    """No evidence; the strange values, with nothing found."""
    judgement = judged("Margaret Fleming founded Inverkip Robotics in Oslo.", POLICY)

    assert (judgement.label, judgement.sentences) == (Label.BASELESS, ())
    assert judgement.clashes == (
        Clash("name", "Margaret Fleming", ""),
        Clash("name", "Inverkip Robotics", ""),
        Clash("name", "Oslo", ""),
    )


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The ham comes from Italy.", "The ham comes from Parma."),
        ("The team is based in Europe.", "The team is based in Lisbon."),
        (
            "He was called the King of Jazz by some writers.",
            "One of the icons of the century, he is referred to as the King of Rock and Roll.",
        ),
    ],
)
def test_another_name_is_no_contradiction_where_both_may_hold(claim: str, passage: str) -> None:
    """A place lies in others, and a sentence that says little of the claim has its own names."""
    assert judged(claim, passage).label in (Label.BASELESS, Label.UNDECIDED)


def test_another_name_contradicts_in_a_sentence_that_says_the_rest() -> None:
    """As another number does."""
    judgement = judged("The prize went to Maria Keller.", "The prize went to Anna Brandt.")

    assert judgement.label is Label.CONTRADICTED
    assert judgement.clashes == (Clash("name", "Maria Keller", "Anna Brandt"),)


def test_indices_are_those_of_the_sentences_not_of_the_chunk() -> None:
    """A chunk from the middle of the context keeps its indices."""
    sentences = (
        Sentence(40, 0, 5, "Bread is sold on Fridays.", "p7"),
        Sentence(41, 6, 9, "The free trial lasts 30 days.", "p7"),
    )
    (judgement,) = RulesJudge().assess(
        [draft("The free trial lasts 14 days.")], Chunk(3, sentences), question=""
    )

    assert judgement.sentences == (41,)


def test_a_chunk_without_the_evidence_does_not_entail() -> None:
    """Local verification sees its chunk alone."""
    (judgement,) = RulesJudge().assess(
        [draft("The tower of Paris was opened by Gustave Eiffel in 1889.")],
        Chunk(0, segment("Refunds are paid within a week. A receipt is required.")),
        question="",
    )

    assert judgement.label is Label.BASELESS


def test_a_claim_without_content_words_is_undecided() -> None:
    """There is nothing to check in it."""
    judgement = judged("It is what it is.", HUBBLE)

    assert (judgement.label, judgement.reason) == (Label.UNDECIDED, "nothing to check")


def test_without_sentences_a_claim_is_baseless() -> None:
    """Nothing stands in no passage."""
    assert judged("The free trial lasts 14 days.", "").label is Label.BASELESS


def test_judgements_come_in_the_order_of_the_claims() -> None:
    """One for each, and the same again on a second call."""
    claims = [draft("the free trial lasts 30 days"), draft("the free trial lasts 14 days")]
    sentences = segment(POLICY)
    first = RulesJudge().resolve(claims, sentences, hint=None, question="")

    assert [one.label for one in first] == [Label.CONTRADICTED, Label.ENTAILED]
    assert RulesJudge().resolve(claims, sentences, hint=None, question="") == first


VOCABULARY = """the tower not never 330 metres all some opened in May 1889 Paris denies $3.2 million
    was is without only Fleming 14 days no tall city"""
WORDS = st.sampled_from(VOCABULARY.split())
SENTENCES = st.lists(WORDS, min_size=1, max_size=14).map(" ".join)


@given(st.lists(SENTENCES, min_size=1, max_size=6), st.data())
def test_a_copied_sentence_is_always_entailed(texts: list[str], data: st.DataObject) -> None:
    """Whatever else the context says or denies."""
    copied = data.draw(st.sampled_from(texts))
    sentences = [Sentence(at, 0, len(text), text, "p1") for at, text in enumerate(texts)]
    (judgement,) = RulesJudge().resolve([draft(copied)], sentences, hint=None, question="")

    if judgement.label is not Label.UNDECIDED:
        assert judgement.label is Label.ENTAILED
        assert texts[judgement.sentences[0]] == copied
    else:
        assert judgement.reason == "nothing to check"


@given(SENTENCES, st.lists(SENTENCES, max_size=5))
def test_every_verdict_keeps_the_judges_promises(claim: str, texts: list[str]) -> None:
    """Evidence exactly where the label asks for it, claimed values from the claim, confidence."""
    sentences = [Sentence(at, 0, len(text), text, "p1") for at, text in enumerate(texts)]
    (judgement,) = RulesJudge().resolve([draft(claim)], sentences, hint=None, question="")

    assert bool(judgement.sentences) == (judgement.label in (Label.ENTAILED, Label.CONTRADICTED))
    assert set(judgement.sentences) <= set(range(len(texts)))
    assert all(clash.claimed in claim for clash in judgement.clashes)
    assert all(
        any(clash.found in texts[at] for at in judgement.sentences)
        for clash in judgement.clashes
        if clash.found
    )
    assert judgement.confidence is not None
    assert 0.0 <= judgement.confidence < 1.0


@given(st.text(max_size=120), st.text(max_size=300))
def test_any_text_is_judged(claim: str, passage: str) -> None:
    """No input raises: digits of any script, odd spacing, right-to-left, unassigned characters."""
    assert judged(claim, passage).label in set(Label)


def test_a_number_of_a_thousand_digits_is_judged() -> None:
    """Too long for a value, still a word."""
    assert judged(f"It costs {'9' * 1000} euros.", "It costs 5 euros.").label.is_unfaithful


def test_a_megabyte_passage_is_judged() -> None:
    """Long contexts are indexed, never cut."""
    line = "The committee spoke at length about roads, schools and the harbour before it adjourned."
    filler = " ".join([line] * (1_000_000 // len(line)))
    judgement = judged("The free trial lasts 14 days.", filler + " The free trial lasts 30 days.")

    assert judgement.label is Label.CONTRADICTED


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The policy starts on 1 May 2023.", "The policy starts on 1 April 2023."),
        ("The trial starts in May.", "The trial starts in April."),
        ("It costs 5 dollars on May 3.", "It costs 5 dollars on March 3."),
    ],
)
def test_another_month_in_the_same_words_is_contradicted(claim: str, passage: str) -> None:
    """Even one that is also a common word, and so weighs nothing as a word."""
    assert judged(claim, passage).label is Label.CONTRADICTED


def test_no_word_of_a_passage_is_called_missing() -> None:
    """Over every second answer of the demo: what a passage has as it stands is not missing."""
    demo = Path(__file__).parents[4] / "collector/rt4chart_collector/demo/data"
    verifier = Verifier(RulesJudge())
    missing = [
        (clash.claimed, claim.text, row.exchange.passages)
        for row in read_rows(demo)[::2]
        for claim in verifier.verify(row.exchange).claims
        if claim.label is Label.BASELESS
        for clash in claim.clashes
    ]

    wrong = [
        (words, claim)
        for words, claim, passages in missing
        if any(
            re.search(rf"(?<!\w){re.escape(words)}(?!\w)", passage.text, re.IGNORECASE)
            for passage in passages
        )
    ]
    assert (len(missing) > 5, wrong) == (True, [])
