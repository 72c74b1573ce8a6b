from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rt4chart_collector.console.answers.segments import (
    Segment,
    TextMark,
    fitting,
    segments,
    widened,
    windows,
)

TEXT = "The trial lasts 30 days."
TEXTS = st.text(alphabet=st.sampled_from("ab \n<é\u0301🙂👩\u200dש\r"), max_size=60)
MARKS = st.lists(
    st.builds(
        TextMark, st.integers(-3, 70), st.integers(-3, 70), st.integers(0, 9), st.integers(0, 4)
    ),
    max_size=12,
)


@given(TEXTS, MARKS)
def test_the_segments_together_are_the_text(text: str, marks: list[TextMark]) -> None:
    """Whatever overlaps, nests or does not fit, not a character is lost, moved or doubled."""
    fits, unfit = fitting(text, marks)

    found = segments(text, widened(text, fits))

    assert "".join(one.text for one in found) == text
    assert len(fits) + len(unfit) == len(marks)
    assert all(one.text for one in found)


@given(TEXTS, MARKS)
def test_every_segment_names_the_claims_of_all_marks_over_it(
    text: str, marks: list[TextMark]
) -> None:
    """No more, no fewer; the heaviest first."""
    fits = widened(text, fitting(text, marks)[0])
    at = 0

    for one in segments(text, fits):
        over = [mark for mark in fits if mark.start <= at and at + len(one.text) <= mark.end]
        at += len(one.text)
        if len(over) <= 8:
            assert set(one.claims) == {mark.claim for mark in over}
        if over:
            heaviest = max(mark.weight for mark in over)
            assert one.claims[0] in {mark.claim for mark in over if mark.weight == heaviest}


@given(TEXTS, MARKS, st.integers(1, 40), st.integers(0, 9))
def test_windows_are_parts_of_the_text_in_order(
    text: str, marks: list[TextMark], longest: int, around: int
) -> None:
    """What is skipped and what is shown follow each other as in the text."""
    fits = widened(text, fitting(text, marks)[0])
    at = 0

    for one in windows(text, fits, longest=longest, around=around):
        at += one.skipped
        shown = "".join(piece.text for piece in one.segments)
        assert text[at : at + len(shown)] == shown
        at += len(shown)
    assert at <= len(text)


def test_a_range_inside_another_is_shown_by_the_heavier_one() -> None:
    """The clashing value inside an entailed sentence."""
    found = segments(TEXT, [TextMark(0, 24, 1, 1), TextMark(16, 18, 2, 4)])

    assert found == [
        Segment("The trial lasts ", (1,), starts=(1,)),
        Segment("30", (2, 1), starts=(2,), ends=True),
        Segment(" days.", (1,), ends=True),
    ]


def test_a_range_never_splits_what_a_reader_sees_as_one_character() -> None:
    """A family of emoji joined by invisible characters is marked whole."""
    family = "👩\u200d👩\u200d👧"
    found = widened(f"a{family}b", [TextMark(2, 3, 0, 1)])

    assert found == [TextMark(1, 1 + len(family), 0, 1)]


def test_ranges_that_do_not_fit_are_given_back() -> None:
    """Empty, reversed, negative, and past the end."""
    wrong = [
        TextMark(2, 2, 0, 1),
        TextMark(3, 1, 1, 1),
        TextMark(-1, 2, 2, 1),
        TextMark(20, 25, 3, 1),
    ]
    assert fitting(TEXT, wrong) == ([], wrong)


def test_of_many_claims_over_the_same_words_eight_are_named() -> None:
    """The others are counted."""
    (found,) = segments("ab", [TextMark(0, 2, number, 1) for number in range(20)])

    assert (found.claims, found.more) == (tuple(range(8)), 12)


def test_a_long_text_is_shown_around_its_marks() -> None:
    """Neighbouring surroundings are one; without marks its beginning is shown."""
    text = "x" * 1000
    marks = [TextMark(500, 510, 1, 1), TextMark(520, 530, 2, 1), TextMark(900, 905, 3, 1)]

    found = windows(text, marks, longest=200, around=20)

    assert [(one.skipped, sum(len(piece.text) for piece in one.segments)) for one in found] == [
        (480, 70),
        (330, 45),
    ]
    assert [one.skipped for one in windows(text, [], longest=50, around=5)] == [0]
