from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.core.model import Sentence
from otel_rt4chart.verify.neural.premise import (
    Premise,
    SentenceSearch,
    candidate_premises,
    premise_windows,
    split_to_fit,
)


def sentences(*texts: str) -> tuple[Sentence, ...]:
    """A context, numbered from 10 on."""
    return tuple(Sentence(10 + n, 0, len(text), text, "p") for n, text in enumerate(texts))


@given(st.text(max_size=200), st.integers(1, 50))
def test_pieces_fit_and_lose_nothing(text: str, limit: int) -> None:
    """Whatever the text is made of."""
    found = list(split_to_fit(text, lambda piece: len(piece) <= limit))

    assert "".join(found) == text
    assert all(len(piece) <= limit for piece in found)


@given(st.lists(st.text("abc", min_size=1, max_size=8), min_size=1, max_size=60))
def test_pieces_are_cut_between_words(words: list[str]) -> None:
    """Where every word fits."""
    found = list(split_to_fit(" ".join(words), lambda piece: len(piece) <= 20))

    assert [word for piece in found for word in piece.split()] == words


def test_what_fits_together_is_one_premise_in_the_documents_order() -> None:
    """Nearest first decides what is in it; each sentence is read alone, too."""
    near = sentences("one", "two", "three")[::-1]

    found = list(candidate_premises(near, lambda text: len(text) <= 9))

    assert found == [
        Premise("three", (12,)),
        Premise("two", (11,)),
        Premise("one", (10,)),
        Premise("two three", (11, 12)),
    ]


def test_a_long_sentence_is_read_in_pieces() -> None:
    """All of them are the same sentence's."""
    found = list(candidate_premises(sentences("aa bb cc dd"), lambda text: len(text) <= 6))

    assert [one.text for one in found] == ["aa ", "bb ", "cc dd"]
    assert {one.sentences for one in found} == {(10,)}


def test_a_context_is_read_whole_in_as_few_premises_as_hold_it() -> None:
    """Each sentence is in one."""
    found = list(
        premise_windows(sentences("one", "two", "three", "four"), lambda text: len(text) <= 9)
    )

    assert found == [
        Premise("one two", (10, 11)),
        Premise("three", (12,)),
        Premise("four", (13,)),
    ]


def test_of_few_sentences_all_are_near() -> None:
    """The linked ones first; of many, only those."""
    few = sentences("Dogs are welcome.", "The pool is heated.")
    many = sentences(*["Breakfast is served."] * 5, "The pool is heated.")

    assert [one.index for one in SentenceSearch(few).nearest("The pool is warm.")] == [11, 10]
    assert [one.index for one in SentenceSearch(many).nearest("The pool is warm.")] == [15]
    assert SentenceSearch(many).nearest("Kids wander.") == []


def test_the_part_to_look_at_first_adds_its_own() -> None:
    """Though others are as near."""
    context = sentences(*["The pool is heated."] * 12)
    found = SentenceSearch(context, context[8:]).nearest("The pool is warm.")

    assert [one.index for one in found] == [10, 11, 12, 13, 14, 18, 19, 20, 21]
