"""The patterns to redact: addresses, phone, card and account numbers, keys and tokens.

The built-in expressions take linear time: each repetition is bounded, and no nested repetitions can
match the same characters in different ways. A pattern of your own takes what Python's `re` takes,
which is exponential for nested repetitions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import ip_address

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.redaction.decoding import DecodedText

NAMES = ("email", "phone", "card", "iban", "ip", "secret")
_SEPARATOR = re.compile(r"[ \-]")
# Probably meant as names: as a regular expression it would only match itself.
_WORD_LIST = re.compile(r"[\w\s,\-]+")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A kind of text: `expression` finds candidates, `length` checks one (0: no match).

    `is_unmistakable` is True if no id looks like it by chance. A text shorter than `min_length`, or
    without the character `needs`, holds none: most attributes are not searched.
    """

    name: str
    expression: re.Pattern[str]
    length: Callable[[str], int] = len
    is_unmistakable: bool = False
    min_length: int = 0
    needs: str = ""

    def find_ranges(self, text: str) -> Iterator[tuple[int, int]]:
        """The ranges in the text, in order; they do not overlap."""
        at = 0
        if len(text) < self.min_length or self.needs not in text:
            return
        while at <= len(text) and (found := self.expression.search(text, at)):
            start = found.start()
            length = self.length(found[0])
            if length:
                yield start, start + length
            at = start + length if length else max(found.end(), start + 1)


@dataclass(frozen=True, slots=True, order=True)
class Match:
    """A range of a text, the pattern that found it, and its decoded text."""

    start: int
    end: int
    name: str
    text: str


# Takes the place of a match while the others are sought: no pattern matches it.
_BLANK = "\0"
_MAX_ROUNDS = 8


def find_matches(text: str, patterns: tuple[Pattern, ...]) -> list[Match]:
    """The matches in a text, in order; ranges are of the text as it is written.

    They are sought in the decoded text, then in the text as it is. Where a match ends, another may
    begin that was none beside it: so again without the matches, until there are no more.
    """
    found: list[Match] = []
    for _ in range(_MAX_ROUNDS):
        known = len(found)
        decoded = DecodedText(text)
        found += (
            Match(*decoded.original_range(start, end), name, matched)
            for start, end, name, matched in _ranges(decoded.text, patterns)
        )
        text = _without(text, found[known:])
        if decoded.is_encoded:
            as_written = [Match(*one) for one in _ranges(text, patterns)]
            text = _without(text, as_written)
            found += as_written
        if len(found) == known:
            break
    return sorted(found)


def _ranges(text: str, patterns: tuple[Pattern, ...]) -> Iterator[tuple[int, int, str, str]]:
    """Range, pattern and text of each match; earlier patterns take precedence."""
    for pattern in patterns:
        places = pattern.find_ranges(text)
        ranges = [(start, end) for start, end in places if _BLANK not in text[start:end]]
        for start, end in ranges:
            yield start, end, pattern.name, text[start:end]
        text = _blanked(text, ranges)


def _without(text: str, matches: Sequence[Match]) -> str:
    return _blanked(text, sorted((match.start, match.end) for match in matches))


def _blanked(text: str, ranges: Sequence[tuple[int, int]]) -> str:
    """The text with blanks in the ranges, which are in order."""
    parts, position = [], 0
    for start, end in ranges:
        parts += [text[position:start], _BLANK * (end - max(start, position))]
        position = max(position, end)
    return "".join(parts) + text[position:] if parts else text


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
    return SettingsError(
        f"RT4CHART_REDACT_PATTERN: expected names of {', '.join(NAMES)}, or a regular expression, "
        f"got {got}"
    )


def _longest_match(is_valid: Callable[[str], bool], text: str) -> int:
    """The length of the longest valid prefix: text after a separator may not belong to it."""
    ends = [len(text), *(found.start() for found in _SEPARATOR.finditer(text))]
    return next((end for end in sorted(ends, reverse=True) if is_valid(text[:end])), 0)


def _card_length(text: str) -> int:
    return _longest_match(_is_card, text)


def _is_card(text: str) -> bool:
    """13 to 19 digits, not all alike, with Luhn's check digit (ISO/IEC 7812-1, annex B).

    No card begins with 0, and only those of airlines, of 15 digits, with 1: times since 1970 do.
    """
    digits = [int(char) for char in text if char.isdigit()]
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1:
        return False
    if digits[0] == 0 or (digits[0] == 1 and len(digits) != 15):
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


def _aws_key_length(text: str) -> int:
    """The length of a random text: a path or a digest of that length is none."""
    counts = [sum(map(test, text)) for test in (str.isupper, str.islower, str.isdigit)]
    return len(text) if min(counts) >= 3 and text.count("/") <= 4 else 0


# Keys and tokens with a prefix of their issuer, JSON web tokens, private keys.
_KEY_OR_PEM = r"""
    (?<![A-Za-z0-9\-]) (?:
        sk-[A-Za-z0-9_\-]{16,250}
      | (?:[sr]k|whsec)_(?:live_|test_)?[A-Za-z0-9]{16,250}
      | gh[pousr]_[A-Za-z0-9]{30,255} | github_pat_[A-Za-z0-9_]{22,255}
      | glpat-[A-Za-z0-9_\-]{20,100}
      | x(?:ox[abeoprs]|app)-[A-Za-z0-9\-]{10,250}
      | (?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z0-9]{16}
      | AIza[A-Za-z0-9_\-]{35} | ya29\.[A-Za-z0-9_\-]{20,500}
      | SG\.[A-Za-z0-9_\-]{16,64}\.[A-Za-z0-9_\-]{16,64}
      | npm_[A-Za-z0-9]{36} | pypi-[A-Za-z0-9_\-]{50,500}
      | (?:hf|gsk|r8)_[A-Za-z0-9]{30,100} | do[opr]_v1_[a-f0-9]{64}
      | shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}
      | SK[a-f0-9]{32} | key-[a-z0-9]{32}
      | eyJ[A-Za-z0-9_\-]{8,4000}\.eyJ[A-Za-z0-9_\-]{8,4000}\.[A-Za-z0-9_\-]{0,1000}
    ) (?![A-Za-z0-9])
  | -----BEGIN\ (?:[A-Z]{1,20}\ ){0,3}PRIVATE\ KEY-----
    (?: [^-]{1,8000} -----END\ (?:[A-Z]{1,20}\ ){0,3}PRIVATE\ KEY-----
      | (?: \s{1,4} [A-Za-z0-9+/=]{16,100} ){0,200} )
"""
_PHONE = r"""
    (?<![A-Za-z0-9_.,+]) (?:
        (?:\+|00) [1-9] (?: \)? [ .\-/]? \(? [0-9] ){6,16} \)?
      | \( [0-9]{2,5} \) [ .\-/]? [0-9]{3,4} (?: [ .\-/]? [0-9]{2,4} ){1,2}
      | [0-9]{3} ([ .\-]) [0-9]{3} \1 [0-9]{4}
      | 0[0-9]{1,4} ([ .\-/]) [0-9]{2,8} (?: \2 [0-9]{2,4} ){0,3}
      | 0[0-9]{9,10}
    ) (?![0-9A-Za-z])
"""
# Beside a match only letters of ASCII count: Chinese and Japanese have no spaces.
# In order of strictness: keys hold digits, account numbers card numbers; phone numbers are last.
BUILT_IN = (
    Pattern("secret", re.compile(_KEY_OR_PEM, re.VERBOSE), is_unmistakable=True, min_length=20),
    Pattern(
        "secret",
        re.compile(r"(?<![A-Za-z0-9+/_.\-])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=_\-])"),
        _aws_key_length,
        is_unmistakable=True,
        min_length=40,
    ),
    Pattern(
        "email",
        re.compile(r"[\w.%+\-]{1,64}@[\w.\-]{1,253}\.[^\W\d_]{2,24}"),
        is_unmistakable=True,
        needs="@",
    ),
    Pattern(
        "iban",
        re.compile(
            r"(?<![A-Za-z0-9])[A-Z]{2}[0-9]{2}"
            r"(?:[0-9A-Z]{11,30}|(?: [0-9A-Z]{4}){2,7}(?: [0-9A-Z]{1,4})?)(?![A-Za-z0-9])"
        ),
        _iban_length,
        is_unmistakable=True,
        min_length=15,
    ),
    Pattern(
        "card",
        re.compile(r"(?<![\d.])[0-9](?:[ \-]?[0-9]){12,18}(?![\d])"),
        _card_length,
        min_length=13,
    ),
    Pattern(
        "ip",
        re.compile(
            r"(?<![A-Za-z0-9.:])(?:[0-9A-Fa-f]{0,4}:){2,6}(?:[0-9]{1,3}\.){3}[0-9]{1,3}"
            r"(?![A-Za-z0-9]|\.[0-9])"
            r"|(?<![A-Za-z0-9.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![A-Za-z0-9]|\.[0-9])"
            r"|(?<![A-Za-z0-9.:])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?![A-Za-z0-9:])"
        ),
        _ip_length,
    ),
    Pattern("phone", re.compile(_PHONE, re.VERBOSE), _phone_length, min_length=8),
)
