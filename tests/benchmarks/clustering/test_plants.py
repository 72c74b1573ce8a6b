"""What is planted is an error of its kind, and nothing else is changed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from benchmarks.clustering.plants import conditions_of, exclusions_of, slips_of
from otel_rt4chart.bench.dataset import LabelledAnswer
from otel_rt4chart.verify import Exchange, Passage


def faithful(answer: str, *passages: str, group: str = "g") -> LabelledAnswer:
    """A faithful answer on those passages."""
    given = tuple(Passage(f"p{at}", text) for at, text in enumerate(passages))
    exchange = Exchange("", given, answer)
    return LabelledAnswer("1", "1", "", "set", group, "dev", exchange, False, None, ())


def test_a_number_becomes_one_that_no_passage_has_and_that_is_no_rounding() -> None:
    """It grows by more than a quarter; the rest of the answer stays as it was."""
    row = faithful("About 870 cases were seen.", "870 cases were seen, 1088 were feared.")

    (slip,) = slips_of([row])

    assert slip.answer == "About 1089 cases were seen."
    assert slip.passages == row.exchange.passages


@pytest.mark.parametrize(
    "answer",
    [
        "It opens at 9 pm.",
        "It opened on 12 May 2020.",
        "They use Windows 10.",
        "The score was 3-2.",
        "It has 7 rooms.",
    ],
)
def test_dates_names_scores_and_numbers_of_its_own_are_left_alone(answer: str) -> None:
    """A changed one would be another kind of failure, or one more."""
    row = faithful(answer, "9 pm, 12 May 2020, Windows 10, 3-2")

    assert list(slips_of([row])) == []


def test_one_document_gives_one_slip() -> None:
    """Summaries of one document say the same."""
    rows = [faithful(f"It {verb} 40 rooms.", "It has 40 rooms.") for verb in ("has", "offers")]

    assert [one.answer for one in slips_of(rows)] == ["It has 51 rooms."]


def told(sentence: str) -> list[tuple[Sequence[str], int]]:
    """The only sentence of a text."""
    return [([sentence], 0)]


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        (
            "All the steps were the same, except for the dye.",
            "All the steps were the same.",
        ),
        (
            "With the exception of gametes, all cells have 46 chromosomes.",
            "All cells have 46 chromosomes.",
        ),
        ("All ratings, except thirst, showed the same effect.",
         "All ratings showed the same effect."),
    ],
)  # fmt: skip
def test_an_exclusion_is_left_out_of_what_another_passage_says(sentence: str, said: str) -> None:
    """The answer says what the first passage says, and the second one limits it."""
    (exchange,) = exclusions_of(told(sentence))

    assert [one.text for one in exchange.passages] == [said, sentence]
    assert exchange.answer == said


@pytest.mark.parametrize(
    "sentence",
    [
        "Apart from the mayor, three other people were found guilty.",
        "We ran the same analysis by excluding patients who died.",
        "Rates were equal in both of the groups when excluding the dead.",
    ],
)
def test_what_takes_nothing_from_a_statement_is_no_exclusion(sentence: str) -> None:
    """The rest would be true, or no sentence."""
    assert list(exclusions_of(told(sentence))) == []


def test_a_condition_is_left_out_of_a_rule_but_not_of_a_story() -> None:
    """The passage has it still."""
    rule = "We offer a discount of 5% if you pay annually."
    (exchange,) = conditions_of(told(rule))

    assert exchange.answer == "We offer a discount of 5%."
    assert [one.text for one in exchange.passages] == [rule]
    assert list(conditions_of(told("She asked the whole committee if they were ready."))) == []
    assert list(conditions_of(told("He walked home every day if the weather was fine."))) == []
