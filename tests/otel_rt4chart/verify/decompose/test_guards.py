from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.core.model import AnswerRange, DraftClaim
from otel_rt4chart.verify.decompose.grounding import (
    claim_signal,
    grounding_problem,
    locate_claim,
    missing_content,
    repair_drafts,
    split_claim,
)
from otel_rt4chart.verify.text.segment import segment

TRIAL = "The free trial lasts 14 days for new users only."


@pytest.mark.parametrize(
    ("claim", "own", "before"),
    [
        ("The free trial lasts 14 days.", TRIAL, []),
        ("The trial is for new users only.", TRIAL, []),
        ("Hubble was launched in 1990.", "It was launched in 1990.", ["Hubble is a telescope."]),
        ("Ada Lovelace wrote it.", "She wrote it.", ["The notes are by Ada Lovelace."]),
        ("The pool isn't heated.", "The pool is not heated.", []),
        ("MRI requires prior auth.", "The policy covers MRI and requires prior auth.", []),
    ],
)
def test_a_claim_of_its_sentences_words_is_grounded(
    claim: str, own: str, before: list[str]
) -> None:
    """Pronouns may be replaced by names from the sentences before."""
    assert grounding_problem(claim, own, before) is None


@pytest.mark.parametrize(
    ("claim", "own", "before", "told"),
    [
        ("The trial lasts 30 days.", TRIAL, [], "“30” is not in the sentence"),
        ("The trial lasts 7 days.", TRIAL, ["It can be extended by 7 days."], "“7”"),
        ("Acme's free trial lasts 14 days.", TRIAL, [], "is not in the answer so far"),
        ("Users may cancel their subscription early.", TRIAL, [], "most of its words"),
        ("The free trial does not last 14 days.", TRIAL, [], "denies"),
    ],
)
def test_what_the_sentence_does_not_say_is_named(
    claim: str, own: str, before: list[str], told: str
) -> None:
    """A verifier that verifies an invented claim is worse than none."""
    problem = grounding_problem(claim, own, before)

    assert problem is not None
    assert told in problem


@pytest.mark.parametrize(
    ("own", "claims", "missing"),
    [
        (TRIAL, ["The free trial lasts 14 days.", "The trial is for new users only."], ()),
        (TRIAL, ["The free trial lasts days."], ("14", "only")),
        ("Dogs are not allowed.", ["Dogs are allowed."], ("not",)),
        ("It may rain.", ["It rains."], ("may",)),
        ("It is free unless you cancel.", ["It is free."], ("unless",)),
    ],
)
def test_a_qualifier_that_no_claim_keeps_is_told(
    own: str, claims: list[str], missing: tuple[str, ...]
) -> None:
    """Support often breaks exactly there."""
    assert missing_content(own, claims) == missing


INSURED = "The plan covers dental care and the insurer pays the surgeon."


@pytest.mark.parametrize(
    ("own", "claims", "others", "missing"),
    [
        (INSURED, ["The plan covers dental care."], (), ("insurer pays the surgeon",)),
        (INSURED, ["The plan covers dental care.", "The surgeon is paid."], (), ()),
        (INSURED, ["The plan covers dental care."], ("The insurer pays the surgeon.",), ()),
        ("Based on the retrieved pages, dogs come.", ["Dogs come."], (), ()),
        ("Dogs come, as clearly stated in the passage.", ["Dogs come."], (), ()),
    ],
)
def test_a_run_of_words_that_no_claim_keeps_is_told(
    own: str, claims: list[str], others: tuple[str, ...], missing: tuple[str, ...]
) -> None:
    """A clause that is dropped is never verified; what only points at the sources may go."""
    assert missing_content(own, claims, others) == missing


@pytest.mark.parametrize(
    ("own", "word"),
    [
        ("It costs $30.", "30"),
        ("The plan never covers surgery.", "never"),
        ("Only adults are covered.", "Only"),
        ("Dogs are not allowed.", "not"),
        ("The passages do not say whether dogs come.", None),
        ("I cannot tell when the pool opens.", None),
        ("Don't forget to bring a towel.", None),
        ("That's all!", None),
        ("It is lovely to hear from you.", None),
    ],
)
def test_a_number_a_denial_or_a_limit_makes_a_claim(own: str, word: str | None) -> None:
    """But not a remark about the sources, nor an instruction."""
    assert claim_signal(own) == word


@pytest.mark.parametrize(
    ("claim", "count"),
    [
        ("Romeo and Juliet met in Verona.", 1),
        ("The policy covers outpatient MRI, requires prior auth, and excludes cosmetics.", 3),
        ("The pool is warm, and it is open until nine.", 2),
    ],
)
def test_a_compound_claim_is_seen_by_the_rules(claim: str, count: int) -> None:
    """Joint actions are one fact, lists of predicates are several."""
    assert len(split_claim(claim)) == count


def test_a_claim_is_placed_on_the_words_it_shares_with_its_sentence() -> None:
    """The narrowest range, with the function words that belong to it."""
    (sentence,) = segment("Sure, the pool is warm and the bar is closed.")

    start, end = locate_claim("The bar is closed today.", sentence)

    assert sentence.text[start:end] == "the bar is closed"


@given(st.text(min_size=1, max_size=120), st.text(max_size=80))
def test_a_placed_range_lies_in_its_sentence(answer: str, claim: str) -> None:
    """Whatever the model wrote."""
    for sentence in segment(answer):
        start, end = locate_claim(claim, sentence)
        assert sentence.start <= start < end <= sentence.end


@given(
    st.text(min_size=1, max_size=80),
    st.lists(
        st.tuples(st.text(max_size=20), st.integers(0, 9), st.integers(-9, 99), st.integers(-9, 99))
    ),
)
def test_drafts_of_any_judge_are_held_to_the_answer(
    answer: str, made: list[tuple[str, int, int, int]]
) -> None:
    """Unknown sentences and impossible ranges are mended; empty claims are dropped."""
    sentences = segment(answer)
    if not sentences:
        return
    drafts = [DraftClaim(text, at, AnswerRange(start, end)) for text, at, start, end in made]

    held = repair_drafts(drafts, sentences)

    known = {sentence.index: sentence for sentence in sentences}
    assert len(held) == sum(bool(draft.text.strip()) for draft in drafts)
    for draft in held:
        home = known[draft.sentence]
        assert home.start <= draft.range.start < draft.range.end <= home.end
