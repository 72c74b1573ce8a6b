from __future__ import annotations

import regex
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.core.model import AnswerRange, Clash, DraftClaim, Judgement, Label
from otel_rt4chart.verify.decompose.grounding import narrow_range

CONTRADICTED = Judgement(Label.CONTRADICTED, (0,), 0.9)


def draft(answer: str, text: str) -> DraftClaim:
    """The claim that the answer makes with these words."""
    start = answer.index(text)
    return DraftClaim(text, 0, AnswerRange(start, start + len(text)))


def test_the_clashing_value_is_the_range() -> None:
    """Of a contradicted claim only the wrong value is marked."""
    answer = "It is free. The trial lasts 30 days."
    judgement = Judgement(
        Label.CONTRADICTED, (0,), 0.9, clashes=(Clash("number", "30 days", "14 days"),)
    )

    found = narrow_range(answer, draft(answer, "The trial lasts 30 days."), judgement, "")

    assert answer[slice(*found)] == "30 days"


def test_the_value_is_looked_for_in_the_claim_not_before_it() -> None:
    """The same value in an earlier sentence is another claim's."""
    answer = "30 days is long. The trial lasts 30 days."
    judgement = Judgement(Label.CONTRADICTED, (0,), clashes=(Clash("number", "30 days"),))

    found = narrow_range(answer, draft(answer, "The trial lasts 30 days."), judgement, "")

    assert found.start > answer.index("lasts")


def test_words_that_the_nearest_sentence_lacks_are_the_range() -> None:
    """Where no value clashes, the claim's own words are marked."""
    answer = "The trial includes priority email support."
    baseless = Judgement(Label.BASELESS)

    found = narrow_range(
        answer, draft(answer, answer), baseless, "The trial includes email support."
    )

    assert answer[slice(*found)] == "priority"


def test_a_value_is_found_as_a_word_of_its_own() -> None:
    """The digits of another number are not the clashing value."""
    answer = "14 days for 1 seat and a whole lot of storage."
    judgement = Judgement(Label.CONTRADICTED, (0,), clashes=(Clash("number", "1", "2"),))

    found = narrow_range(answer, draft(answer, answer), judgement, "")

    assert found == (12, 13)


def test_a_claim_in_a_judges_own_words_is_marked_in_the_answers() -> None:
    """The wording may be longer than what the answer says; the range stays inside the answer."""
    answer = "It was 24 April, at the old pad."
    claim = DraftClaim(
        "The launch of the Hubble telescope happened on 24 April at the old pad",
        0,
        AnswerRange(0, len(answer)),
    )

    found = narrow_range(answer, claim, Judgement(Label.BASELESS), "The launch was on 24 April.")

    assert answer[slice(*found)] == "old pad"


def test_the_whole_claim_is_the_range_where_most_of_it_is_strange() -> None:
    """A narrow range that says little is worse than the claim."""
    answer = "Bananas grow on Mars."

    found = narrow_range(
        answer, draft(answer, answer), Judgement(Label.BASELESS), "The trial is free."
    )

    assert found == (0, len(answer))


TEXTS = st.text(max_size=60) | st.text(
    "ab ,.é\u0301🇩🇪👩\u200d👧\u0e33\u0600ก\r\n한국1", max_size=60
)


@given(TEXTS, TEXTS, TEXTS, st.data())
def test_a_range_is_a_slice_of_the_answer_on_grapheme_boundaries(
    answer: str, claimed: str, nearest: str, data: st.DataObject
) -> None:
    """Whatever the judge says clashes, the range lies inside the answer and splits no grapheme."""
    start = data.draw(st.integers(0, max(0, len(answer) - 1)))
    end = data.draw(st.integers(min(start + 1, len(answer)), len(answer)))
    claim = DraftClaim(answer[start:end], 0, AnswerRange(start, end))
    judgement = Judgement(Label.CONTRADICTED, (0,), clashes=(Clash("term", claimed),))

    found = narrow_range(answer, claim, judgement, nearest)

    edges = {0, *(match.end() for match in regex.finditer(r"\X", answer))}
    assert 0 <= found.start <= found.end <= len(answer)
    assert (found.end > found.start) is bool(answer)
    assert {found.start, found.end} <= edges
