from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from otel_rt4chart.verify.core.model import Sentence
from otel_rt4chart.verify.neural.premise import Reading, Search, pieces, readings, windows


def sentences(*texts: str) -> tuple[Sentence, ...]:
    """A context, numbered from 10 on."""
    return tuple(Sentence(10 + n, 0, len(text), text, "p") for n, text in enumerate(texts))


@given(st.text(max_size=200), st.integers(1, 50))
def test_pieces_fit_and_lose_nothing(text: str, limit: int) -> None:
    """Whatever the text is made of."""
    found = list(pieces(text, lambda piece: len(piece) <= limit))

    assert "".join(found) == text
    assert all(len(piece) <= limit for piece in found)


@given(st.lists(st.text("abc", min_size=1, max_size=8), min_size=1, max_size=60))
def test_pieces_are_cut_between_words(words: list[str]) -> None:
    """Where every word fits."""
    found = list(pieces(" ".join(words), lambda piece: len(piece) <= 20))

    assert [word for piece in found for word in piece.split()] == words


def test_what_fits_together_is_one_premise_in_the_documents_order() -> None:
    """Nearest first decides what is in it; each sentence is read alone, too."""
    near = sentences("one", "two", "three")[::-1]

    found = list(readings(near, lambda text: len(text) <= 9))

    assert found == [
        Reading("three", (12,)),
        Reading("two", (11,)),
        Reading("one", (10,)),
        Reading("two three", (11, 12)),
    ]


def test_a_long_sentence_is_read_in_pieces() -> None:
    """All of them are the same sentence's."""
    found = list(readings(sentences("aa bb cc dd"), lambda text: len(text) <= 6))

    assert [one.premise for one in found] == ["aa ", "bb ", "cc dd"]
    assert {one.sentences for one in found} == {(10,)}


def test_a_context_is_read_whole_in_as_few_premises_as_hold_it() -> None:
    """Each sentence is in one."""
    found = list(windows(sentences("one", "two", "three", "four"), lambda text: len(text) <= 9))

    assert found == [
        Reading("one two", (10, 11)),
        Reading("three", (12,)),
        Reading("four", (13,)),
    ]


def test_of_few_sentences_all_are_near() -> None:
    """The linked ones first; of many, only those."""
    few = sentences("Dogs are welcome.", "The pool is heated.")
    many = sentences(*["Breakfast is served."] * 5, "The pool is heated.")

    assert [one.index for one in Search(few).nearest("The pool is warm.")] == [11, 10]
    assert [one.index for one in Search(many).nearest("The pool is warm.")] == [15]
    assert Search(many).nearest("Kids wander.") == []


def test_the_part_to_look_at_first_adds_its_own() -> None:
    """Though others are as near."""
    context = sentences(*["The pool is heated."] * 12)
    found = Search(context, context[8:]).nearest("The pool is warm.")

    assert [one.index for one in found] == [10, 11, 12, 13, 14, 18, 19, 20, 21]
