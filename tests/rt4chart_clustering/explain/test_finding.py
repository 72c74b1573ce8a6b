"""A finding as a model submits it, right and wrong."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.core.errors import InputError
from rt4chart_clustering.explain.finding import SCORES, finding_row, parse_finding

QUOTE = {"trace_id": "t", "span_id": "s", "passage_id": "", "text": "word for word"}
GOOD: dict[str, Any] = {
    "cause": "The limit cuts the passage.",
    "stage": "cut_from_prompt",
    "quotes": [QUOTE],
    "immediate_fix": "Raise the limit.",
    "scores": dict.fromkeys(SCORES, 3),
}


def test_a_finding_comes_back_as_it_was_given() -> None:
    """Every field, and nothing beside."""
    assert finding_row(parse_finding({**GOOD, "more": 1})) == GOOD


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"cause": ""}, "cause: expected"),
        (
            {"immediate_fix": "x" * 2001},
            "immediate_fix: expected a text of 1 to 2000 characters, got 2001",
        ),
        ({"immediate_fix": 7}, "immediate_fix: expected"),
        ({"stage": "somewhere"}, "stage: expected one of never_retrieved"),
        ({"quotes": []}, "quotes: expected a list of 1 to 6, got 0"),
        ({"quotes": [QUOTE] * 7}, "got 7"),
        ({"quotes": [{**QUOTE, "text": "short"}]}, "of 10 to 600 characters"),
        ({"quotes": [{**QUOTE, "text": "a \n        \t  b"}]}, "of 10 to 600 characters"),
        ({"quotes": ["no object"]}, "quotes: expected of each"),
        ({"scores": {**GOOD["scores"], "privacy_and_safety": 6}}, "for privacy_and_safety"),
        ({"scores": {**GOOD["scores"], "privacy_and_safety": True}}, "for privacy_and_safety"),
        ({"scores": None}, "a whole number from 1 to 5 for factual_grounding, privacy_and_safety"),
    ],
)
def test_what_is_wrong_is_named(wrong: dict[str, Any], told: str) -> None:
    """So that the model can put it right."""
    with pytest.raises(InputError, match=told):
        parse_finding({**GOOD, **wrong})


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(list(GOOD)), values))
def test_whatever_is_submitted_is_a_finding_or_an_error_of_input(given_: dict[str, Any]) -> None:
    """Nothing else comes of it."""
    with suppress(InputError):
        assert parse_finding(given_).cause == str(given_["cause"]).strip()
