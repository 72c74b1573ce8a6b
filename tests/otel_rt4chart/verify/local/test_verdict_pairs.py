"""Claims beside one passage each, with the verdict that any reader would give."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify.core.model import AnswerRange, DraftClaim, Judgement, Label, Passage
from otel_rt4chart.verify.local.rules_judge import RulesJudge
from otel_rt4chart.verify.text.segment import segment_passages

PLANS = "Basic costs $10. Pro costs $49."
TABLE = "| Plan | Price |\n|---|---|\n| Basic | $10 |\n| Pro | $49 |\n"
LEADS = "Anna leads sales. Ben leads support."
CITIES = "Sales rose 4 percent in Lyon and fell 3 percent in Nice."
STOCK = "Warehouse 33 holds 100 pallets. Warehouse 99 holds 297 pallets."


def judged(claim: str, passage: str) -> Judgement:
    """The verdict on one claim."""
    draft = DraftClaim(claim, 0, AnswerRange(0, len(claim)))
    sentences = segment_passages([Passage("p1", passage)])
    (judgement,) = RulesJudge().resolve([draft], sentences, hint=None, question="")
    return judgement


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The river is 777 km long.", "The river is 777 kilometres long."),
        ("The river is 777 kilometres long.", "The river is 777 km long."),
        ("The road is 3 miles long.", "The road is 3 mi long."),
        ("The board is 2 m wide.", "The board is 200 cm wide."),
        ("The shop opens at 09:00.", "The shop opens at 9:00."),
        ("The shop opens at 9 am.", "The shop opens at 9:00."),
        ("The film lasts 120 minutes.", "The film lasts 2 hours."),
        ("The film lasts 2 h.", "The film lasts 120 min."),
        ("The trial lasts 14 days.", "The trial lasts 2 weeks."),
        ("Revenue was 1.2 billion.", "Revenue was 1,200 million."),
        ("Revenue was $1.2 billion.", "Revenue was 1,200 million USD."),
        ("The fine is 50 EUR.", "The fine is €50."),
        ("The fine is 50 pounds.", "The fine is £50."),
        ("The parcel weighs 5 lb.", "The parcel weighs 5 pounds."),
        ("The parcel weighs 5 kg.", "The parcel weighs 5,000 g."),
        ("The file is 2 GB.", "The file is 2,000 MB."),
        ("Sales rose 5%.", "Sales rose 5 percent."),
        ("The population is about 5 million.", "The population is 4.9 million."),
        ("The population is 5 million.", "The population is 4.96 million."),
    ],
)
def test_the_same_value_written_otherwise_is_borne_out(claim: str, passage: str) -> None:
    """Units convert, clocks and scales are read, and a rounded value truly rounds."""
    assert judged(claim, passage).label is Label.ENTAILED


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("The population rose to 4 million.", "The population rose to 5 million."),
        ("Revenue rose to 4 million.", "Revenue rose to 5 million in 2020."),
        ("The shop opens at 9 pm.", "The shop opens at 9 am."),
        ("The parcel weighs 5 pounds.", "The parcel weighs 5 kg."),
        ("The fee is $5.", "The fee is €5."),
        ("The trial lasts 14 weeks.", "The trial lasts 14 days."),
    ],
)
def test_another_value_in_the_same_words_is_contradicted(claim: str, passage: str) -> None:
    """However close it looks as a word."""
    assert judged(claim, passage).label is Label.CONTRADICTED


def test_what_only_may_be_is_not_entailed_as_what_is() -> None:
    """Unless another sentence says it without a doubt."""
    doubtful = "The drug may reduce pain."
    claim = "The drug reduces pain."

    assert judged(claim, doubtful).label.is_unfaithful
    assert judged("The drug may reduce pain in adults.", doubtful).label is not Label.CONTRADICTED
    assert judged(claim, f"{doubtful} The drug reduces pain quickly.").label is Label.ENTAILED


@pytest.mark.parametrize(
    ("claim", "passage", "found"),
    [
        ("Pro costs $10.", PLANS, "$49"),
        ("Pro costs $10.", TABLE, "$49"),
        ("Pro costs $10.", "Basic costs $10 and Pro costs $49.", "$49"),
        ("Ben leads sales.", LEADS, "support"),
        ("Sales rose 4 percent in Nice.", CITIES, "Lyon"),
        ("Bob sued Alice.", "Alice sued Bob.", "Alice"),
        ("Alice was sued by Bob.", "Alice sued Bob.", "Bob"),
        ("Warehouse 99 holds 100 pallets.", STOCK, "297 pallets"),
        ("Warehouse 99 holds 170 pallets.", STOCK, "297 pallets"),
    ],
)
def test_a_value_that_stands_with_another_subject_is_contradicted(
    claim: str, passage: str, found: str
) -> None:
    """All the words are there; the clause of the claim's subject has another value."""
    judgement = judged(claim, passage)

    assert judgement.label is Label.CONTRADICTED
    assert judgement.clashes[0].found == found


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Pro costs $49.", PLANS),
        ("Pro costs $49.", TABLE),
        ("Ben leads support.", LEADS),
        ("Ben leads sales.", "Ben leads support. He also leads sales."),
        ("Anna leads support.", "Anna leads sales and support."),
        ("Sales fell 3 percent in Nice.", CITIES),
        ("Alice was sued by Bob.", "Bob sued Alice."),
        ("Bob met Alice.", "Alice met Bob."),
        ("Warehouse 99 holds 297 pallets.", STOCK),
    ],
)
def test_a_value_that_stands_with_its_subject_is_borne_out(claim: str, passage: str) -> None:
    """In its clause, by a pronoun, in the passive, or of what is mutual."""
    assert judged(claim, passage).label is Label.ENTAILED
