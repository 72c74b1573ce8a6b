"""Modifiers are found by where they stand in a sentence that says the rest of the claim."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.findings.modifiers import modifiers_left_out


@pytest.mark.parametrize(
    ("sentence", "claim", "kind", "text"),
    [
        ("In adults, the drug is safe.", "The drug is safe.", "population", "In adults"),
        ("And in adults, the drug is safe.", "The drug is safe.", "population", "And in adults"),
        ("Parking is free until noon.", "Parking is free.", "time_limit", "until noon"),
        (
            "Assuming a doctor ordered it, MRI is covered.",
            "MRI is covered.",
            "condition",
            "Assuming a doctor ordered it",
        ),
        ("MRI is covered, scans of the knee aside.", "MRI is covered.", "exclusion",
         "scans of the knee aside"),
        ("Parts are covered save the battery.", "Parts are covered.", "exclusion",
         "save the battery"),
        ("Sessions are paid to a ceiling of 500 euros.", "Sessions are paid.", "bound",
         "to a ceiling of 500 euros"),
        ("The plan pays for glasses for small children.", "The plan pays for glasses.",
         "population", "for small children"),
        ("Employees in Berlin can stay home.", "Employees can stay home.", "population",
         "Employees in Berlin"),
        ("Retired members get dental care.", "Members get dental care.", "population",
         "Retired members"),
        ("A small majority of customers prefer email.", "Customers prefer email.", "quantifier",
         "A small majority of customers"),
        ("The merger is expected to close.", "The merger will close.", "hedge", "is expected to"),
        ("An aide alleged that the mayor took bribes.", "The mayor took bribes.", "source",
         "An aide alleged that"),
        ("According to its maker, it is the fastest phone.", "It is the fastest phone.", "source",
         "According to its maker"),
    ],
)  # fmt: skip
def test_each_place_of_a_modifier_is_known(sentence: str, claim: str, kind: str, text: str) -> None:
    """The words are those of the sentence."""
    assert (kind, text) in [(one.kind, one.text) for one in modifiers_left_out(sentence, claim)]


@pytest.mark.parametrize(
    ("sentence", "claim"),
    [
        ("The museum, which stands by the river, opened in 1985.", "The museum opened in 1985."),
        ("In 1998, Anna founded the company.", "Anna founded the company."),
        ("The trial lasts 14 days and includes support.", "The trial lasts 14 days."),
        ("In addition, the trial lasts 14 days.", "The trial lasts 14 days."),
        ("The store closes in May.", "The store closes."),
        ("The route may be long, and it is safe.", "The route is safe."),
        ("The gym opens at nine in the old mill.", "The gym opens at nine."),
        ("Anna Berg of Oslo leads the firm.", "Anna Berg leads the firm."),
        ("In adults, the drug is safe.", "The pool is heated."),
        (
            "Flow keeps plans and files in one place, making it the ideal partner for Elm Designs.",
            "Flow keeps plans and files in one place, making it the ideal partner.",
        ),
        (
            "Flow keeps plans in one place, making it a perfect partner for small shops.",
            "Flow keeps plans in one place, making it a perfect partner.",
        ),
        (
            "The lodge has six rooms, which makes it a quiet retreat for large families.",
            "The lodge has six rooms, which makes it a quiet retreat.",
        ),
        ("The plan pays for glasses for Elm Stores.", "The plan pays for glasses."),
        ("The kit is a fine present for small children.", "The kit is a fine present for anyone."),
    ],
    ids=["aside", "story", "second clause", "joint", "month", "other verb", "place", "name",
         "another claim", "result for a name", "result for a group", "description",
         "group with a name", "another group"],
)  # fmt: skip
def test_a_detail_is_no_restriction(sentence: str, claim: str) -> None:
    """An answer may be shorter than its source."""
    kinds = {one.kind for one in modifiers_left_out(sentence, claim)}
    assert kinds <= ({"time_limit"} if "in May" in sentence else set())


@given(st.text(max_size=120), st.text(max_size=60))
def test_no_text_breaks_the_search(sentence: str, claim: str) -> None:
    """What is left out is in the sentence; a sentence leaves nothing of itself out."""
    assert all(one.text in sentence for one in modifiers_left_out(sentence, claim))
    assert list(modifiers_left_out(sentence, sentence)) == []
