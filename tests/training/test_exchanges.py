"""Which form of a word can stand for which."""

from __future__ import annotations

from pathlib import Path

import pytest
from exchanges import Exchanges
from wordnet import read_wordnet


@pytest.fixture
def exchanges(folder: Path) -> Exchanges:
    """Of the small WordNet."""
    return Exchanges(read_wordnet(folder))


@pytest.mark.parametrize(
    ("form", "kept", "broken"),
    [
        ("doctor", ["physician"], ["dentist"]),
        ("doctors", ["physicians"], ["dentists"]),
        ("hired", ["engaged"], ["fired"]),
        ("hiring", ["engaging"], ["firing"]),
        ("massive", [], ["small"]),
        ("swiftly", ["fleetly"], []),
        ("unheard", [], []),
    ],
)
def test_a_form_is_exchanged_by_the_same_form(
    exchanges: Exchanges, form: str, kept: list[str], broken: list[str]
) -> None:
    """Synonyms keep a claim, opposites and siblings break it."""
    assert exchanges.of(form, keeps=True) == kept
    assert exchanges.of(form, keeps=False) == broken


def test_a_form_that_no_rule_gives_replaces_nothing(exchanges: Exchanges) -> None:
    """`man` stands for `woman`, and `mans` for nobody."""
    assert exchanges.of("woman", keeps=False) == ["man"]
    assert exchanges.of("womans", keeps=False) == []
