"""What the network reads: the claim with its values as the passages write them."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify.language.slots import read_context, read_slots
from otel_rt4chart.verify.local.features import read_claim
from otel_rt4chart.verify.neural.rewording import in_passage_words


def reworded(claim: str, *passages: str) -> str:
    """The claim as the network reads it."""
    return in_passage_words(read_claim(read_slots(claim), read_context(passages)))


@pytest.mark.parametrize(
    ("claim", "passage", "expected"),
    [
        ("A jar holds 1,500 g of honey.", "Each jar holds 1.5 kg of honey.",
         "A jar holds 1.5 kg of honey."),
        ("The gate closes at 19:30.", "The gate closes at 7:30 pm.", "The gate closes at 7:30 pm."),
        ("The fee is $144 a year.", "The fee is $12 a month.", "The fee is $12 a month."),
        ("A parcel of 3 kg goes by bike.", "Parcels of less than 4 kg go by bike.",
         "A parcel of less than 4 kg goes by bike."),
        ("An order placed at 9:45 is shipped.", "Orders placed by 11:30 am ship.",
         "An order placed by 11:30 am is shipped."),
        ("They may lose 5 million dollars.", "If we are late, we may lose 5 mln bucks.",
         "They may lose 5 mln bucks."),
        ("Take the tablets for a week.", "Take the tablets for seven days.",
         "Take the tablets for seven days."),
        ("The lyrics are uncomplicated.", "The lyrics are easy.", "The lyrics are easy."),
    ],
)  # fmt: skip
def test_an_equal_or_admitted_value_is_read_as_the_passage_writes_it(
    claim: str, passage: str, expected: str
) -> None:
    """Units, times of day, rates, and cases within a limit."""
    assert reworded(claim, passage) == expected


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("A jar holds 150 g of honey.", "Each jar holds 1.5 kg of honey."),
        ("The lyrics are uncomplicated.", "The lyrics are complicated."),
        ("Take it twice a week.", "Take it for seven days."),
        ("Returns take 10 working days.", "Returns take two weeks."),
        ("Returns take two weeks.", "Returns take 14 working days."),
        ("The plan pays 60 euros for lenses.", "The plan pays up to 90 euros for lenses."),
        ("A parcel of 6 kg goes by bike.", "Parcels of less than 4 kg go by bike."),
        ("The rate is 14.4% a year.", "The rate is 1.2% a month."),
        ("Members earn 24 hours of unpaid leave a year.",
         "Members earn 2 hours of unpaid leave a month and 24 hours of paid leave a year."),
    ],
)  # fmt: skip
def test_another_value_and_one_with_more_words_stay(claim: str, passage: str) -> None:
    """No word of a claim is lost, and nothing is read as what it is not."""
    assert reworded(claim, passage) == claim
