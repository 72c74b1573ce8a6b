from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify import Sentence
from otel_rt4chart.verify.neural.span_windows import answer_pieces, prompt_text, prompt_windows
from otel_rt4chart.verify.text.segment import segment

NUMBERED = [Sentence(n, 0, 9, f"Number {n:02}.", f"p{n // 4}") for n in range(40)]
TEXTS = st.lists(
    st.tuples(st.text("abc.", min_size=1, max_size=30), st.sampled_from([" ", "\n\n", ". "])),
    min_size=1,
    max_size=20,
).map(lambda pairs: "".join(word + space for word, space in pairs))


def words(prompt: str, answer: str = "") -> int:
    """A length that is easy to count: words and characters of long words."""
    return sum(1 + len(word) // 10 for word in f"{prompt} {answer}".split())


def test_the_prompt_is_the_one_that_the_detectors_were_trained_on() -> None:
    """RAGTruth's for a question, and that of a summary without one."""
    assert prompt_text("", ["One.", "Two."]) == (
        "Summarize the following text:\npassage 1: One.\npassage 2: Two.\noutput:"
    )
    assert prompt_text("Why?", ["One.", "Two."]) == (
        "Briefly answer the following question:\nWhy?\nBear in mind that your response should be "
        "strictly based on the following 2 passages:\npassage 1: One.\npassage 2: Two.\nIn case "
        "the passages do not contain the necessary information to answer the question, please "
        'reply with: "Unable to answer based on given passages."\noutput:'
    )


@pytest.mark.parametrize("most", [12, 17, 30, 55, 1000])
def test_every_sentence_stands_in_one_window_with_its_passage(most: int) -> None:
    """In order, and no window could take the next sentence, too."""
    windows = list(prompt_windows(NUMBERED, "", lambda prompt: words(prompt) <= most))

    listed = [line for window in windows for line in window.splitlines()[1:-1]]
    found = [part for line in listed for part in line.split(": ")[1].split(". ")]
    assert [part.strip(".") for part in found] == [f"Number {n:02}" for n in range(40)]
    assert all(words(window) <= most for window in windows)
    assert len(windows) == 1 or all(words(window) >= most - 4 for window in windows[:-1])


def test_a_sentence_too_long_for_a_window_is_split() -> None:
    """Between words, and all of it is read."""
    long = Sentence(0, 0, 99, " ".join(f"w{n}" for n in range(50)), "p")

    windows = list(prompt_windows([long], "", lambda prompt: words(prompt) <= 15))

    assert all(words(window) <= 15 for window in windows)
    read = [one for window in windows for one in window.split() if one[1:].isdecimal()]
    assert read == long.text.split()


def test_a_question_without_room_for_a_passage_is_refused() -> None:
    """It is not cut."""
    with pytest.raises(JudgeError, match="the question and the answer are too long"):
        list(prompt_windows(NUMBERED, "Why? " * 99, lambda prompt: words(prompt) <= 60))


@given(TEXTS, st.integers(2, 12))
def test_the_pieces_of_an_answer_hold_each_character_once(answer: str, most: int) -> None:
    """Each stands where it says, and only white space is left out between two."""
    pieces = list(answer_pieces(answer, segment(answer), words, most))

    at = 0
    for piece in pieces:
        assert answer[at : piece.start].strip() == ""
        assert answer.startswith(piece.text, piece.start)
        assert words("", piece.text) <= most or len(piece.text) == 1
        at = piece.start + len(piece.text)
    assert answer[at:].strip() == ""
