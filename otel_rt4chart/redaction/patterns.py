"""The patterns to redact: e-mail and IP addresses, phone, card and account numbers.

The built-in expressions take linear time: each repetition is bounded, and no nested repetitions can
match the same characters in different ways. A pattern of your own takes what Python's `re` takes,
which is exponential for nested repetitions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from ipaddress import ip_address

from otel_rt4chart.core.errors import SettingsError

_SEPARATOR = re.compile(r"[ \-]")
# Probably meant as names: as a regular expression it would only match itself.
_WORD_LIST = re.compile(r"[\w\s,\-]+")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A kind of text: `expression` finds candidates, `length` checks one (0: no match)."""

    name: str
    expression: re.Pattern[str]
    length: Callable[[str], int] = len

    def find_ranges(self, text: str) -> Iterator[tuple[int, int]]:
        """The ranges in the text, in order; they do not overlap."""
        at = 0
        while at <= len(text) and (found := self.expression.search(text, at)):
            start = found.start()
            length = self.length(found[0])
            if length:
                yield start, start + length
            at = start + length if length else max(found.end(), start + 1)


def patterns_from(setting: str) -> tuple[Pattern, ...]:
    """The named patterns (`email, phone`), a regular expression, or all built-in ones if empty."""
    names = [name.strip() for name in setting.split(",") if name.strip()]
    if not names:
        return BUILT_IN
    known = {pattern.name for pattern in BUILT_IN}
    unknown = [name for name in names if name not in known]
    if not unknown:
        return tuple(pattern for pattern in BUILT_IN if pattern.name in names)
    if len(unknown) < len(names) or _WORD_LIST.fullmatch(setting):
        raise _pattern_error(f"{', '.join(map(repr, unknown))}; to redact a word, write (?:word)")
    try:
        expression = re.compile(setting)
    except (re.error, RecursionError, OverflowError) as error:
        raise _pattern_error(f"an invalid one: {error}") from error
    return (Pattern("redacted", expression),)


def _pattern_error(got: str) -> SettingsError:
    known = ", ".join(pattern.name for pattern in BUILT_IN)
    return SettingsError(
        f"RT4CHART_REDACT_PATTERN: expected names of {known}, or a regular expression, got {got}"
    )


def _longest_match(is_valid: Callable[[str], bool], text: str) -> int:
    """The length of the longest valid prefix: text after a separator may not belong to it."""
    ends = [len(text), *(found.start() for found in _SEPARATOR.finditer(text))]
    return next((end for end in sorted(ends, reverse=True) if is_valid(text[:end])), 0)


def _card_length(text: str) -> int:
    return _longest_match(_is_card, text)


def _is_card(text: str) -> bool:
    """13 to 19 digits, not all alike, with Luhn's check digit (ISO/IEC 7812-1, annex B)."""
    digits = [int(char) for char in text if char.isdigit()]
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1:
        return False
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(doubled) + sum(digits[-1::-2])) % 10 == 0


def _iban_length(text: str) -> int:
    return _longest_match(_is_iban, text)


def _is_iban(text: str) -> bool:
    """15 to 34 characters with the check digits of ISO 13616."""
    compact = text.replace(" ", "")
    if not 15 <= len(compact) <= 34:
        return False
    return int("".join(str(int(char, 36)) for char in compact[4:] + compact[:4])) % 97 == 1


def _ip_length(text: str) -> int:
    try:
        ip_address(text)
    except ValueError:
        return 0
    return len(text) if len(text) > 3 else 0


def _phone_length(text: str) -> int:
    """Numbers without a country code need nine digits, because dates have eight."""
    digits = sum(char.isdigit() for char in text)
    return len(text) if (7 if text.startswith("+") else 9) <= digits <= 17 else 0


_PHONE = r"""
    (?<![\w.,+]) (?:
        (?:\+|00) [1-9] (?: \)? [ .\-/]? \(? [0-9] ){6,16} \)?
      | \( [0-9]{2,5} \) [ .\-/]? [0-9]{3,4} (?: [ .\-/]? [0-9]{2,4} ){1,2}
      | [0-9]{3} ([ .\-]) [0-9]{3} \1 [0-9]{4}
      | 0[0-9]{1,4} ([ .\-/]) [0-9]{2,8} (?: \2 [0-9]{2,4} ){0,3}
      | 0[0-9]{9,10}
    ) (?![0-9A-Za-z])
"""
# In order of strictness: account numbers before card numbers, phone numbers last.
BUILT_IN = (
    Pattern("email", re.compile(r"[\w.%+\-]{1,64}@[\w.\-]{1,253}\.[^\W\d_]{2,24}")),
    Pattern(
        "iban",
        re.compile(
            r"\b[A-Z]{2}[0-9]{2}(?:[0-9A-Z]{11,30}|(?: [0-9A-Z]{4}){2,7}(?: [0-9A-Z]{1,4})?)\b"
        ),
        _iban_length,
    ),
    Pattern("card", re.compile(r"(?<![\d.])[0-9](?:[ \-]?[0-9]){12,18}(?![\d])"), _card_length),
    Pattern(
        "ip",
        re.compile(
            r"(?<![\w.:])(?:(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![\w]|\.[0-9])"
            r"|(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?![\w:]))"
        ),
        _ip_length,
    ),
    Pattern("phone", re.compile(_PHONE, re.VERBOSE), _phone_length),
)
