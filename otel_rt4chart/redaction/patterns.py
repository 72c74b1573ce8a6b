"""What is found in texts and redacted: addresses, numbers of phones, cards and accounts.

The built-in expressions take time linear in the text: each repetition is bounded, and none holds
another that could share its characters out differently. One of your own takes what Python's `re`
takes, which nested repetitions make exponential.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from ipaddress import ip_address

from otel_rt4chart.core.errors import SettingsError

_SEPARATOR = re.compile(r"[ \-]")
# What was meant as names: as an expression it would find itself alone.
_WORDS = re.compile(r"[\w\s,\-]+")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A kind of text: where it may stand, and how much of that it is (0: it is something else)."""

    name: str
    expression: re.Pattern[str]
    length: Callable[[str], int] = len

    def places(self, text: str) -> Iterator[tuple[int, int]]:
        """The ranges in the text, in order; they do not overlap."""
        at = 0
        while at <= len(text) and (found := self.expression.search(text, at)):
            start = found.start()
            length = self.length(found[0])
            if length:
                yield start, start + length
            at = start + length if length else max(found.end(), start + 1)


def patterns_from(told: str) -> tuple[Pattern, ...]:
    """All built-in ones for nothing, those named (`email, phone`), or a regular expression."""
    names = [name.strip() for name in told.split(",") if name.strip()]
    if not names:
        return BUILT_IN
    known = {one.name for one in BUILT_IN}
    unknown = [name for name in names if name not in known]
    if not unknown:
        return tuple(one for one in BUILT_IN if one.name in names)
    if len(unknown) < len(names) or _WORDS.fullmatch(told):
        raise _refusal(f"{', '.join(map(repr, unknown))}; to redact a word, write (?:word)")
    try:
        expression = re.compile(told)
    except (re.error, RecursionError, OverflowError) as error:
        raise _refusal(f"one with a mistake: {error}") from error
    return (Pattern("redacted", expression),)


def _refusal(got: str) -> SettingsError:
    known = ", ".join(one.name for one in BUILT_IN)
    return SettingsError(
        f"RT4CHART_REDACT_PATTERN: expected names of {known}, or a regular expression, got {got}"
    )


def _longest(is_one: Callable[[str], bool], text: str) -> int:
    """The longest beginning that is one: what follows after a separator may not belong to it."""
    ends = [len(text), *(found.start() for found in _SEPARATOR.finditer(text))]
    return next((end for end in sorted(ends, reverse=True) if is_one(text[:end])), 0)


def _card(text: str) -> int:
    return _longest(_is_card, text)


def _is_card(text: str) -> bool:
    """13 to 19 digits, not all alike, with Luhn's check digit (ISO/IEC 7812-1, annex B)."""
    digits = [int(one) for one in text if one.isdigit()]
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1:
        return False
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(doubled) + sum(digits[-1::-2])) % 10 == 0


def _iban(text: str) -> int:
    return _longest(_is_iban, text)


def _is_iban(text: str) -> bool:
    """15 to 34 characters with the check digits of ISO 13616."""
    plain = text.replace(" ", "")
    if not 15 <= len(plain) <= 34:
        return False
    return int("".join(str(int(one, 36)) for one in plain[4:] + plain[:4])) % 97 == 1


def _ip(text: str) -> int:
    try:
        ip_address(text)
    except ValueError:
        return 0
    return len(text) if len(text) > 3 else 0


def _phone(text: str) -> int:
    """Numbers without a country's code need nine digits: dates have eight."""
    digits = sum(one.isdigit() for one in text)
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
# An account's number is looked for before a card's, and a phone's last: it is the loosest.
BUILT_IN = (
    Pattern("email", re.compile(r"[\w.%+\-]{1,64}@[\w.\-]{1,253}\.[^\W\d_]{2,24}")),
    Pattern(
        "iban",
        re.compile(
            r"\b[A-Z]{2}[0-9]{2}(?:[0-9A-Z]{11,30}|(?: [0-9A-Z]{4}){2,7}(?: [0-9A-Z]{1,4})?)\b"
        ),
        _iban,
    ),
    Pattern("card", re.compile(r"(?<![\d.])[0-9](?:[ \-]?[0-9]){12,18}(?![\d])"), _card),
    Pattern(
        "ip",
        re.compile(
            r"(?<![\w.:])(?:(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![\w]|\.[0-9])"
            r"|(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?![\w:]))"
        ),
        _ip,
    ),
    Pattern("phone", re.compile(_PHONE, re.VERBOSE), _phone),
)
