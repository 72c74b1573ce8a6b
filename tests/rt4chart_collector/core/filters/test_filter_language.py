"""The language of filters, read and written."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rt4chart_collector.core.filters.filter_language import (
    FilterError,
    FilterKey,
    FilterTerm,
    KeyMatch,
    holds,
    is_match,
    parse_filter,
    searched_words,
    written_filter,
)

KEYS = (
    FilterKey("route", "a part of the route"),
    FilterKey("status", "the status", KeyMatch.CHOICE, ("contradicted", "undecided")),
    FilterKey("release", "the release", KeyMatch.WHOLE),
)
PLAIN = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)
TERMS = st.one_of(
    st.builds(FilterTerm, st.just(""), PLAIN, st.booleans()),
    st.builds(FilterTerm, st.sampled_from(["route", "release"]), st.text(max_size=30)),
    st.builds(FilterTerm, st.just("status"), st.sampled_from(KEYS[1].values), st.booleans()),
)


def test_a_filter_is_words_and_keys_with_values() -> None:
    """Each as it was written, in their order."""
    text = 'route:refunds status:contradicted release:2.4.0 "exact words" -status:undecided late'

    assert parse_filter(text, KEYS) == (
        FilterTerm("route", "refunds"),
        FilterTerm("status", "contradicted"),
        FilterTerm("release", "2.4.0"),
        FilterTerm("", "exact words"),
        FilterTerm("status", "undecided", is_excluded=True),
        FilterTerm("", "late"),
    )


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", ()),
        (" \t\n ", ()),
        ('""', ()),
        ("-", (FilterTerm("", "-"),)),
        ("-late", (FilterTerm("", "late", is_excluded=True),)),
        ('-"very late"', (FilterTerm("", "very late", is_excluded=True),)),
        ('5" disk', (FilterTerm("", '5"'), FilterTerm("", "disk"))),
        ('"a \\"b\\" \\\\"', (FilterTerm("", 'a "b" \\'),)),
        ('"a"b', (FilterTerm("", "a"), FilterTerm("", "b"))),
        ('ROUTE:"a b"', (FilterTerm("route", "a b"),)),
        ('release:""', (FilterTerm("release", ""),)),
        ("route:a:b", (FilterTerm("route", "a:b"),)),
        ('"12:30"', (FilterTerm("", "12:30"),)),
        ("12:30", (FilterTerm("", "12:30"),)),
    ],
)
def test_terms_are_read(text: str, terms: tuple[FilterTerm, ...]) -> None:
    """Quotation marks keep words together, and a minus excludes."""
    assert parse_filter(text, KEYS) == terms


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rout:x", "keys route, status, release, got 'rout' (did you mean route?)"),
        ("https://example.org", '"https://example.org"'),
        ("status:bad", "status: expected contradicted or undecided, got 'bad'"),
        ("route:", 'route: expected a value, such as route:name, or "" for none'),
        ('"open', 'expected a closing quotation mark after "open'),
        ('route:"open', "expected a closing quotation mark"),
        ("x" * 501, "at most 500 characters, got 501"),
        ("x " * 31, "at most 30 terms, got 31"),
    ],
)
def test_what_cannot_be_read_is_said(text: str, said: str) -> None:
    """With the keys, or the values of the key."""
    with pytest.raises(FilterError) as refused:
        parse_filter(text, KEYS)

    assert said in str(refused.value)


@given(st.lists(TERMS, max_size=8))
def test_written_terms_are_read_again(terms: list[FilterTerm]) -> None:
    """Whatever their words are."""
    assert list(parse_filter(written_filter(terms), KEYS)) == terms


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    """A reader never sees another error, and what was read can be written."""
    with suppress(FilterError):
        terms = parse_filter(text, KEYS)
        assert parse_filter(written_filter(terms), KEYS) == terms


def test_of_one_key_any_value_holds() -> None:
    """Of different keys and words all must, and nothing that is excluded."""

    def is_found(text: str, *, route: str, words: str) -> bool:
        found = {"route": route, "": words}
        terms = parse_filter(text, KEYS)
        return holds(terms, lambda term: is_match(term, found[term.key]))

    shown = {"route": "support/Refunds", "words": "Paid within five days"}
    assert is_found("route:refunds route:search paid", **shown)
    assert is_found("paid five", **shown)
    assert is_found("", **shown)
    assert not is_found("paid six", **shown)
    assert not is_found("route:search paid", **shown)
    assert not is_found("-route:refunds", **shown)
    assert not is_found("-six -five", **shown)
    assert not is_found('route:""', **shown)


def test_searched_words_are_those_to_find() -> None:
    """Not the excluded ones, nor the values of keys."""
    assert searched_words(parse_filter('a "b c" -d route:e', KEYS)) == ("a", "b c")
