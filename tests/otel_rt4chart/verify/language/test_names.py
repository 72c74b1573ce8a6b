"""Names: finding and linking them."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify.language.names import missing_parts
from otel_rt4chart.verify.language.slots import read_slots


def named(text: str) -> list[str]:
    """The names of a text as written."""
    slots = read_slots(text)
    return [text[name.start : name.end] for name in slots.names]


def missing(claim: str, passage: str) -> list[str]:
    """The words of the claim's names that a passage does not know."""
    slots, known = read_slots(claim), read_slots(passage)
    return [
        slots.tokens[at].text
        for name in slots.names
        for at in missing_parts(name, slots.tokens, known.positions, known.initials)
    ]


def test_a_name_is_a_run_of_capitals_wherever_it_stands() -> None:
    """Runs with a small word inside, and at the start if the word is no common one."""
    text = "Yesterday the Bank of England met Margaret Fleming in Inverkip."

    assert named(text) == ["Bank of England", "Margaret Fleming", "Inverkip"]


def test_a_common_word_at_the_start_is_no_name() -> None:
    """A capital there says nothing."""
    assert named("Police searched the house.") == []


def test_lower_cased_text_has_names_where_words_are_unheard_of() -> None:
    """Case alone does not make a name."""
    assert "inverkip" in named("police searched a house in inverkip.")


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("It praised Fleming.", "It praised Margaret Fleming."),
        ("It joined the EU.", "It joined the European Union."),
        ("It joined the European Union.", "It joined the EU."),
        ("He lives in the U.K. today.", "He lives in the UK."),
    ],
)
def test_surnames_and_acronyms_link(claim: str, passage: str) -> None:
    """A shorter or abbreviated name is known."""
    assert missing(claim, passage) == []


def test_only_the_unknown_part_of_a_name_is_missing() -> None:
    """`Space Shuttle` is known, `Atlantis` is not."""
    passage = "It was deployed from Space Shuttle Discovery."

    assert missing("It came from Space Shuttle Atlantis.", passage) == ["Atlantis"]


def test_numbers_and_linking_words_are_no_names() -> None:
    """However they are written, and wherever they stand."""
    assert named("Moreover, it costs 12.50 euros.") == []
