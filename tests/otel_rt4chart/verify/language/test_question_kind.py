"""The kinds of questions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.language.question_kind import LONG_CHARACTERS, question_kind


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How do I reset the router?", "how"),
        ("How many days of leave do I have?", "how many"),
        ("Hello, can you please tell me whether it is waterproof?", "yes or no"),
        ("I bought it in May. When does the warranty end?", "who, when or where"),
        ("Why? Tell me.", "task"),
        ("Summarize the document.", "task"),
        ("warranty router", "other"),
        ("Wie lange ist die Garantie und wer bezahlt den Versand?", "German"),
        ("保証期間はどのくらいですか", "Japanese"),
        ("  ", ""),
    ],
)
def test_a_question_has_one_kind(question: str, kind: str) -> None:
    """By its language or its form."""
    assert question_kind(question) == kind


def test_a_long_question_is_of_another_kind() -> None:
    """However it is asked."""
    question = "Is it waterproof, " + "and does it float, " * 12 + "if I drop it?"

    assert len(question) > LONG_CHARACTERS
    assert question_kind(question) == "yes or no, long"


@given(st.text(max_size=300))
def test_any_text_has_one_of_few_kinds(text: str) -> None:
    """The name is short, and blanks around the question change nothing."""
    kind = question_kind(text)

    assert len(kind) <= 30
    assert (kind == "") == (not text.strip())
    assert question_kind(f" {text}\n") == kind
