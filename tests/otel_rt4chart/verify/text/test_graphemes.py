from __future__ import annotations

import regex
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.core.model import AnswerRange
from otel_rt4chart.verify.text.sentences import boundary, whole_graphemes

TEXTS = st.text(min_size=1, max_size=80) | st.text(
    "ab é\u0301🇩🇪👩\u200d👧🏽\u0e33\u0600ก\r\n한\u1100\u1161क्ष1", min_size=1, max_size=80
)


@given(TEXTS, st.data())
def test_a_range_is_widened_to_the_boundaries_of_the_whole_text(
    text: str, data: st.DataObject
) -> None:
    """The shortcut around the position finds what segmenting everything would."""
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    edges = [0, *(match.end() for match in regex.finditer(r"\X", text))]

    found = whole_graphemes(text, AnswerRange(start, end))

    assert found.start == max(edge for edge in edges if edge <= start)
    assert found.end == min(edge for edge in edges if edge >= end)


def test_a_family_emoji_is_never_split() -> None:
    """What a reader sees as one character is marked whole."""
    answer = "The 👩‍👩‍👧 ticket"

    assert whole_graphemes(answer, AnswerRange(4, 5)) == (4, 9)


def test_positions_between_plain_letters_stay() -> None:
    """Most ranges need no look at the text around them."""
    assert [boundary("a plain line", at) for at in range(13)] == list(range(13))
