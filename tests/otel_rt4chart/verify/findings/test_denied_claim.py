"""The denial of a claim, and the parts that it asserts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.findings.denied_claim import claim_parts, deny


@pytest.mark.parametrize(
    ("claim", "denied"),
    [
        ("The drug is safe.", "The drug is not safe."),
        ("The policy covers MRI.", "The policy does not covers MRI."),
        ("Safe drug.", "Safe not drug."),
        ("Safe", "Safe not"),
    ],
)
def test_a_claim_is_denied_at_its_verb(claim: str, denied: str) -> None:
    """For an encoder, which does not mind the grammar."""
    assert deny(claim) == denied


@pytest.mark.parametrize(
    ("claim", "parts"),
    [
        ("The policy covers imaging, including MRI.", ("The policy covers MRI.",)),
        ("The policy covers imaging such as MRI and CT.", ("The policy covers MRI.",
                                                           "The policy covers CT.")),
        ("The policy covers imaging.", ()),
        ("Coverage is given for imaging, including MRI.", ()),
    ],
)  # fmt: skip
def test_examples_behind_a_full_verb_are_parts(claim: str, parts: tuple[str, ...]) -> None:
    """ "Is" before an example would say something else."""
    assert claim_parts(claim) == parts


@given(st.text(max_size=80))
def test_no_text_breaks_them(text: str) -> None:
    """A denial always has "not"; parts are at most four."""
    assert "not" in deny(text)
    assert len(claim_parts(text)) <= 4
