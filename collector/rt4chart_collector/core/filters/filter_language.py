"""The language of filters: `route:refunds status:contradicted "exact words" -verdict:undecided`.

A term is a word, `"several words"` or KEY:VALUE, and with `-` before it what must not hold. Of one
key, any of its values may hold; of different keys and words, all must.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum

from otel_rt4chart.core.errors import InputError

MAX_CHARS, MAX_TERMS = 500, 30
_TERM = re.compile(r'(-?)(?:([^\W\d]\w*):)?(?:"((?:[^"\\]|\\.)*)"|(\S*))', re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


class KeyMatch(StrEnum):
    """How the value of a key is compared."""

    PART = "part"
    """It has the value in it, ignoring case; an empty value is nothing but empty."""
    WHOLE = "whole"
    """It is the value."""
    CHOICE = "choice"
    """It is the value, which is one of a few."""


class FilterError(InputError):
    """A filter that cannot be read; the text says what was expected."""


@dataclass(frozen=True, slots=True)
class FilterKey:
    """A key with what it means in words, and its values if it has a few."""

    name: str
    meaning: str
    match: KeyMatch = KeyMatch.PART
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FilterTerm:
    """What must hold, or with `is_excluded` must not: words in a text if the key is ""."""

    key: str
    value: str
    is_excluded: bool = False


def parse_filter(text: str, keys: Sequence[FilterKey]) -> tuple[FilterTerm, ...]:
    """The terms of a text, in their order; FilterError names the keys, or the values of a key."""
    if len(text) > MAX_CHARS:
        raise FilterError(f"expected a filter of at most {MAX_CHARS} characters, got {len(text)}")
    # Between terms, the pattern matches nothing.
    found = [_term(match, text, keys) for match in _TERM.finditer(text) if match.group()]
    if len(found) > MAX_TERMS:
        raise FilterError(f"expected at most {MAX_TERMS} terms, got {len(found)}")
    return tuple(term for term in found if term.key or term.value)


def written_filter(terms: Iterable[FilterTerm]) -> str:
    """The text that has these terms."""
    return " ".join(map(_written, terms))


def searched_words(terms: Iterable[FilterTerm]) -> tuple[str, ...]:
    """The words that a text must have."""
    return tuple(term.value for term in terms if not term.key and not term.is_excluded)


def holds(terms: Sequence[FilterTerm], is_met: Callable[[FilterTerm], bool]) -> bool:
    """Whether the terms hold for something that meets each alone as `is_met` says."""
    return all(any(map(is_met, group)) is not group[0].is_excluded for group in alternatives(terms))


def alternatives(terms: Sequence[FilterTerm]) -> list[tuple[FilterTerm, ...]]:
    """The terms in groups, of each of which one must hold; of an excluded group, none may."""
    groups: dict[tuple[object, ...], tuple[FilterTerm, ...]] = {}
    for number, term in enumerate(terms):
        name = (term.key, term.is_excluded) if term.key or term.is_excluded else (number,)
        groups[name] = (*groups.get(name, ()), term)
    return list(groups.values())


def is_match(term: FilterTerm, found: str, match: KeyMatch = KeyMatch.PART) -> bool:
    """Whether a text is as the term's value says."""
    if match is KeyMatch.PART and term.value:
        return term.value.casefold() in found.casefold()
    return term.value == found


def _term(match: re.Match[str], text: str, keys: Sequence[FilterKey]) -> FilterTerm:
    minus, name, quoted, plain = match.groups()
    is_excluded = bool(minus)
    if quoted is None and plain.startswith('"'):
        raise FilterError(f"expected a closing quotation mark after {text[match.start() :][:60]}")
    value = _ESCAPE.sub(r"\1", quoted) if quoted is not None else plain
    if not name:
        # A minus alone is a word.
        return FilterTerm("", value or minus, is_excluded and bool(value))
    key = next((one for one in keys if one.name == name.lower()), None)
    if key is None:
        raise _unknown(name, keys, f'"{match.group().removeprefix(minus)}"')
    if quoted is None and not value:
        raise FilterError(f'{name}: expected a value, such as {_example(key)}, or "" for none')
    if key.match is KeyMatch.CHOICE and value not in key.values:
        raise FilterError(f"{name}: expected {' or '.join(key.values)}, got {value[:60]!r}")
    return FilterTerm(key.name, value, is_excluded)


def _unknown(name: str, keys: Sequence[FilterKey], quoted: str) -> FilterError:
    near = get_close_matches(name.lower(), [key.name for key in keys], 1)
    meant = f" (did you mean {near[0]}?)" if near else ""
    known = ", ".join(key.name for key in keys)
    return FilterError(
        f"expected one of the keys {known}, got {name[:60]!r}{meant}; words with a colon stand in "
        f"quotation marks: {quoted[:80]}"
    )


def _example(key: FilterKey) -> str:
    return f"{key.name}:{key.values[0] if key.values else 'name'}"


def _written(term: FilterTerm) -> str:
    plain = re.fullmatch(r'[^\s"\-:][^\s:]*' if not term.key else r'[^\s"]\S*', term.value)
    value = term.value
    if plain is None:
        value = '"{}"'.format(re.sub(r'(["\\])', r"\\\1", value))
    return f"{'-' * term.is_excluded}{term.key}{':' * bool(term.key)}{value}"
