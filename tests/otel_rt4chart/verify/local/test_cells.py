from __future__ import annotations

import pytest

from otel_rt4chart.verify.core.model import Clash, Label, Passage
from otel_rt4chart.verify.language.slots import read_slots
from otel_rt4chart.verify.local.cells import CellIndex
from otel_rt4chart.verify.text.segment import segment_passages

CAMERAS = """\
Cameras

| Model | Price | Weight (g) | Warranty | Waterproof |
|---|---|---|---|---|
| X200 | $249 | 254 | none | no |
| X300 | $299 | 310 | 2 years | yes |
"""
POLICY = (
    '{"policy": "Travel Plus", "limit_eur": 5000, "winter_sports_covered": false, "ends": "3 May"}'
)
TRIPS = "|From Bergen to|Duration|Changes|\n|-|-|-|\n|Oslo|7 hours|0|\n| Rome | 22 hours | 2 |"
ALBUM = "| | Hot Space |\n|-|-|\n| Genres | Funk; disco; pop |\n| Released | 21 May 1982 |"
CONFIG = '{"retries": 3, "timeout_s": 20}'
E = Label.ENTAILED
C = Label.CONTRADICTED


@pytest.mark.parametrize(
    ("passage", "claim", "label", "reason"),
    [
        (CAMERAS, "The X200 costs $249.", E, "price of X200: $249"),
        (CAMERAS, "The X200 costs $299.", C, "price of X200: $249, not $299"),
        (CAMERAS, "The X300 weighs 0.31 kg.", E, "weight of X300: 310 g"),
        (CAMERAS, "The X300 weighs 254 g.", C, "weight of X300: 310 g, not 254 g"),
        (CAMERAS, "The X200 is not waterproof.", E, "waterproof of X200: no"),
        (CAMERAS, "The X200 is waterproof.", C, "waterproof of X200: no, not waterproof"),
        (CAMERAS, "The X200 has no warranty.", E, "warranty of X200: none"),
        (TRIPS, "The trip from Bergen to Oslo takes 22 hours.", C,
         "duration of Oslo: 7 hours, not 22 hours"),
        (POLICY, "Travel Plus does not cover winter sports.", E,
         "winter sports covered of Travel Plus: false"),
        (POLICY, "The limit of Travel Plus is 8,000 euros.", C,
         "limit of Travel Plus: 5000 EUR, not 8,000 euros"),
        (POLICY, "Travel Plus ends on 4 May.", C, "ends of Travel Plus: 3 May, not 4 May"),
        (ALBUM, "The genres of Hot Space include disco.", E,
         "genres of Hot Space: Funk; disco; pop"),
        (CONFIG, "A request is retried 20 times.", C, "retries: 3, not 20 times"),
    ],
)  # fmt: skip
def test_a_claim_on_one_value_is_compared_with_it(
    passage: str, claim: str, label: Label, reason: str
) -> None:
    """By header and unit; the reason names the value, and what the claim says instead."""
    found = CellIndex(segment_passages([Passage("p1", passage)])).judge(read_slots(claim))

    assert found is not None
    assert (found.label, found.reason) == (label, reason)


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        (CAMERAS, "The X200 costs less than $300."),
        (CAMERAS, "The X200 comes with a waterproof case."),
        (CAMERAS, "The X200 cost $299 at launch."),
        (CAMERAS, "The X200 and the X300 cost $249."),
        (CAMERAS, "The Z9 costs $249."),
        (CAMERAS, "The cheapest camera is the X200."),
        (CAMERAS, "The X200 may be waterproof."),
        (ALBUM, "Hot Space was recorded in 1981."),
        (POLICY, "If you ski, Travel Plus does not cover winter sports."),
        ("The X200 costs $249.", "The X200 costs $299."),
    ],
)
def test_what_is_not_about_one_value_alone_is_left_to_the_judge(passage: str, claim: str) -> None:
    """Comparisons, hedges, two things, other things, and words that no cell has."""
    index = CellIndex(segment_passages([Passage("p1", passage)]))

    assert index.judge(read_slots(claim)) is None


def test_the_evidence_is_the_row_and_the_clash_the_two_values() -> None:
    """A reader sees which row says what."""
    sentences = segment_passages([Passage("p1", CAMERAS)])

    found = CellIndex(sentences).judge(read_slots("The X300 has a price of $349."))

    assert found is not None
    assert [sentences[at].text for at in found.sentences] == [
        "| X300 | $299 | 310 | 2 years | yes |"
    ]
    assert found.clashes == (Clash("number", "$349", "$299"),)
