"""The one home of word lists: which of them must not change, and that users share them."""

from __future__ import annotations

import hashlib
import re

import pytest

from otel_rt4chart.verify.language.word_lists import (
    COMMON_HEDGE,
    COMMON_PARTIAL,
    COMMON_UNIVERSAL,
    FINGERPRINT_CUES,
    JUDGE_CONTRASTS,
    JUDGE_DENIALS,
    JUDGE_NEGATIONS,
    JUDGE_UNDENIED,
    JUDGE_WORDS,
    RESTRICTION_WORDS,
)

FITTED_ON = "4bb522d19988aab7"


def test_the_judges_words_are_those_that_its_weights_were_fitted_on() -> None:
    """After a change, fit the weights again (training/), then write the new digest here."""
    sets = (JUDGE_NEGATIONS, JUDGE_DENIALS, JUDGE_UNDENIED, JUDGE_CONTRASTS)
    lines = [f"{kind}={words}" for kind, words in JUDGE_WORDS.items()]
    lines += [" ".join(sorted(words)) for words in sets]

    assert hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16] == FITTED_ON


@pytest.mark.parametrize(
    ("words", "users"),
    [
        (COMMON_UNIVERSAL, [JUDGE_WORDS["universal"], FINGERPRINT_CUES["universal"]]),
        (COMMON_PARTIAL, [JUDGE_WORDS["partial"], FINGERPRINT_CUES["partial"]]),
        (COMMON_HEDGE, [JUDGE_WORDS["hedge"], FINGERPRINT_CUES["hedge"]]),
    ],
    ids=["universal", "partial", "hedge"],
)
def test_common_words_are_in_the_lists_of_judge_and_fingerprint(
    words: str, users: list[str]
) -> None:
    """A quantifier or hedge that both know is written once."""
    assert [words in one for one in users] == [True, True]


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("exclusion", "All plans except trials"),
        ("condition", "It is free if you register"),
        ("eligibility", "It is open to members aged 16"),
        ("time_limit", "Cancel within 14 days"),
        ("bound", "Upload up to 5 files"),
        ("quantifier", "Only premium accounts qualify"),
    ],
)
def test_a_restriction_pattern_finds_its_kind_alone(kind: str, sentence: str) -> None:
    """No pattern fires on another kind's example."""
    found = [
        name
        for name, words in RESTRICTION_WORDS.items()
        if re.search(words, sentence, re.IGNORECASE | re.VERBOSE)
    ]

    assert found == [kind]
