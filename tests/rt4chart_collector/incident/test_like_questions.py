"""The nearest question by its words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rt4chart_collector.incident.like_questions import LikeQuestions

ASKED = {
    "a": "How fast do you answer e-mail?",
    "b": "Can I send the card reader back?",
    "c": "In which currency is a refund paid?",
    "d": "Who can ask for a refund?",
}


def test_the_question_with_the_same_rare_words_is_the_nearest() -> None:
    """Common words count little, case and punctuation nothing."""
    like = LikeQuestions(ASKED)

    assert like.nearest("HOW FAST is e-mail answered", ASKED) == "a"
    assert like.nearest("Which currency will my refund have?", ASKED) == "c"
    assert like.nearest("Which currency will my refund have?", ["a", "b"]) == ""
    assert like.nearest("Do you sell bicycles?", ["b", "c", "d"]) == ""
    assert like.nearest("", ASKED) == ""
    assert LikeQuestions({}).nearest("Anything?", []) == ""


@given(st.lists(st.text(max_size=40), max_size=6), st.text(max_size=40))
def test_any_text_can_be_asked(known: list[str], text: str) -> None:
    """The answer is one of the names, or none."""
    words = {str(number): one for number, one in enumerate(known)}

    assert LikeQuestions(words).nearest(text, list(words)) in {"", *words}
