from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_rt4chart.spans.graph.text_flow import Contained, TextIndex, words_of

LONG = "The board of Acme met in Turin and bought the valve maker Zenit for cash in the year 2019."


def found(texts: list[str], *prompts: str) -> dict[str, float]:
    """The texts that the prompts contain, with their shares; a later text has the higher rank."""
    index = TextIndex(texts)
    search = index.search(prompts, lambda number: (number,))
    return {texts[index.numbers.index(one.text)]: one.share for one in search.found}


def test_a_text_is_found_with_the_share_of_it_that_is_there() -> None:
    """The whole is 1, two thirds are two thirds, a few words in common are nothing."""
    words = LONG.split()

    assert found([LONG], f"Context: {LONG}") == {LONG: 1.0}
    assert found([LONG], " ".join(words[:12])) == {LONG: pytest.approx(12 / 19)}
    assert found([LONG], "The board of Acme met in Rome and did not buy anything there") == {}


def test_a_long_run_of_a_long_text_is_enough() -> None:
    """A window of a document: sixteen words in a row, however long the document is."""
    page = " ".join(f"word{n}" for n in range(1000))
    window = " ".join(f"word{n}" for n in range(500, 520))

    assert found([page], f"Read this: {window}.") == {page: pytest.approx(0.02)}
    assert found([page], " ".join(f"word{n}" for n in range(500, 510))) == {}


def test_the_longer_text_explains_the_words_that_two_have() -> None:
    """A text inside another one is there only where it stands by itself as well."""
    around = f"The minutes say: {LONG} Nothing else was decided on that day."

    assert found([LONG, around], f"Context: {around}") == {around: 1.0}
    assert found([LONG, around], f"Context: {around} And again: {LONG}") == {LONG: 1.0, around: 1.0}


def test_of_texts_that_are_nearly_the_same_the_right_one_is_found() -> None:
    """Three hundred texts that differ in one number."""
    texts = [f"{LONG} It was item {n} on the list of things to decide." for n in range(300)]

    assert found(texts, f"First: {texts[17]}\nSecond: {texts[230]}") == {
        texts[17]: 1.0,
        texts[230]: 1.0,
    }


def test_a_text_that_loses_its_words_gives_them_back() -> None:
    """What is not there as a whole takes no words from a text that is."""
    part = " ".join(LONG.split()[:11])
    other = f"{part} but then it turned out that all of this had been a dream of somebody's aunt"

    assert found([part, other], f"Context: {part}.") == {part: 1.0}


def test_a_short_text_must_stand_alone() -> None:
    """As a line, a quotation or a value; in a sentence it may stand by chance."""
    assert found(["14 days"], "The trial lasts 14 days.") == {}
    assert found(["14 days"], 'Result: "14 days"') == {"14 days": 1.0}
    assert found(["14 days"], json.dumps({"result": "14 days", "n": 2})) == {"14 days": 1.0}
    assert found(["42"], json.dumps({"result": 42})) == {"42": 1.0}


def test_a_text_that_does_not_count_takes_no_words() -> None:
    """The rank is None for what ended too late."""
    index = TextIndex([LONG, f"{LONG} And more."])

    search = index.search([f"{LONG} And more."], lambda number: (0,) if number == 0 else None)

    assert search.found == (Contained(0, 1.0),)
    assert search.explained == pytest.approx(19 / 21)


def test_texts_without_words_are_no_texts() -> None:
    """Punctuation alone has no number, and the same words in other signs are the same text."""
    assert TextIndex(["…", "", "A b c", "a, B – c!"]).numbers == [-1, -1, 0, 0]


@given(st.text(), st.integers(0, 3))
@settings(max_examples=300, deadline=None)
def test_words_are_the_same_however_often_json_escaped_them(text: str, times: int) -> None:
    """For any text without backslashes of its own: each level of JSON is undone."""
    plain = text.replace("\\", "").replace("&", "")
    shown = plain
    for _ in range(times):
        shown = json.dumps(shown)

    assert words_of(shown) == words_of(plain)


@given(
    st.lists(st.text(alphabet="abc \n", max_size=60), max_size=6), st.text("abc \n", max_size=300)
)
@settings(max_examples=200, deadline=None)
def test_any_texts_are_searched_within_bounds(texts: list[str], prompt: str) -> None:
    """Few words that repeat: shares stay between 0 and 1, and the work is bounded."""
    index = TextIndex(texts)

    search = index.search([prompt], lambda number: (number,))

    assert all(0 < one.share <= 1 for one in search.found)
    assert 0 <= search.explained <= 1
    assert index.work <= 400 * (1 + sum(len(words_of(one)) for one in [*texts, prompt]))
