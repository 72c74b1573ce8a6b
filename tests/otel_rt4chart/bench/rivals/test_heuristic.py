from __future__ import annotations

import pytest

from otel_rt4chart.bench.rivals.heuristic import (
    Heuristic,
    check_entailment,
    claims_of,
    faithfulness,
)
from otel_rt4chart.verify.core.model import AnswerLabel, Exchange, Label, Passage

TOWER = "It is 330 metres tall. It opened in 1889. It does not close on Mondays."


def texts(answer: str, question: str = "") -> list[str]:
    """The claims' words."""
    return [answer[start:end] for start, end in claims_of(answer, question)]


@pytest.mark.parametrize(
    "answer",
    [
        "Sure, revenue was $3.2 million in 2021.",
        "Here is the total: 45 units.",
        "I think costs fell.",
        "Two words.",
        "- revenue rose\n- costs fell\nWould you like more?",
    ],
)
def test_openers_opinions_and_questions_are_dropped_with_their_facts(answer: str) -> None:
    """The filters look at how a piece begins and ends, not at what it says."""
    assert texts(answer) == []


def test_pieces_end_at_any_mark_before_a_space() -> None:
    """Abbreviations split, newlines do not; the ranges are the pieces' own."""
    assert texts("He joined the U.S. Army in 1999. It grew\nand grew again.") == [
        "He joined the U.S.",
        "Army in 1999.",
        "It grew\nand grew again.",
    ]


def test_what_repeats_the_question_is_no_claim() -> None:
    """Four words in five stand in it."""
    asked = "Why did the plant close in March?"

    assert texts("The plant did close in March.", asked) == []
    assert texts("The plant closed because of a flood.", asked) != []


def test_a_copied_sentence_contradicts_where_the_passage_denies_anything() -> None:
    """The negation is looked for in the whole passage."""
    assert check_entailment("It is 330 metres tall.", TOWER) == (Label.CONTRADICTED, 0.6)
    assert check_entailment("It is 330 metres tall.", TOWER[:41]) == (Label.ENTAILED, 1.0)
    assert check_entailment("It doesn't close on Mondays.", TOWER)[0] is Label.CONTRADICTED


def test_an_unknown_number_contradicts_and_unknown_words_are_neutral() -> None:
    """Both are compared with all of the passage."""
    assert check_entailment("It is 350 metres tall.", TOWER[:41]) == (Label.CONTRADICTED, 0.55)
    assert check_entailment("Painters repaint ironwork yearly.", TOWER) == (Label.BASELESS, 1.0)


def test_one_contradicting_passage_outweighs_those_that_entail() -> None:
    """The same passage alone entails."""
    answer = "It is 330 metres tall."
    good, other = Passage("1", TOWER[:41]), Passage("2", TOWER)

    alone = Heuristic().verify(Exchange("", [good], answer))
    both = Heuristic().verify(Exchange("", [good, other], answer))

    assert (alone.label, alone.score) == (AnswerLabel.ENTAILED, 0.0)
    assert (both.label, both.score) == (AnswerLabel.CONTRADICTED, 1.0)


def test_faithfulness_counts_the_neutral_in_part() -> None:
    """A baseless answer has .4, one without claims 0 and is unfaithful."""
    assert faithfulness([Label.ENTAILED, Label.BASELESS]) == pytest.approx(0.7)
    assert faithfulness([Label.CONTRADICTED, Label.BASELESS]) == pytest.approx(0.2)
    assert faithfulness([Label.BASELESS]) == pytest.approx(0.4)
    found = Heuristic().verify(Exchange("", [Passage("1", TOWER)], "Sure, it is 330 metres tall."))
    assert (found.label, found.score) == (AnswerLabel.BASELESS, 1.0)
