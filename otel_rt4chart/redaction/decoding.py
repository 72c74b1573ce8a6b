"""Decodes a text for detection, with the place in the original of each decoded character.

A secret may be percent-encoded (`%40`), escaped (`\\u0040`, `&#64;`) or written with other digits
and spaces than ASCII's. It is found in the decoded text and cut out of the original.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator

# Bounded repetitions, so that a hostile text takes linear time. `%2540` is encoded twice, and
# JSON in JSON has more than one backslash.
_TOKEN = re.compile(
    r"(?P<percent>(?:%(?:25){0,4}[0-9A-Fa-f]{2}){1,64})"
    r"|\\{1,8}(?:u(?P<high>[dD][89abAB][0-9A-Fa-f]{2})\\{1,8}u(?P<low>[dD][c-fC-F][0-9A-Fa-f]{2})"
    r"|u(?P<four>[0-9A-Fa-f]{4})|x(?P<two>[0-9A-Fa-f]{2})|(?P<escape>[nrtbf\"'/]))"
    r"|&\#(?:[xX](?P<hex>[0-9A-Fa-f]{1,6})|(?P<decimal>[0-9]{1,7}));"
    r"|(?P<char>[\u00a0\u00ad\u00b2\u00b3\u00b9\u0660-\u0669\u06f0-\u06f9\u07c0-\u07c9\u0966-\u096f"
    r"\u09e6-\u09ef\u0e50-\u0e59\u2000-\u209f\u2100-\u214f\u2212\u2460-\u24ff\u3000\ufe00-\ufe0f"
    r"\ufe50-\ufe6f\ufeff\uff00-\uffef\U0001d400-\U0001d7ff])"
)
_UNIT = re.compile(r"%(?:25){0,4}([0-9A-Fa-f]{2})")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_MAX_CODE = 0x10FFFF
_Piece = tuple[str, int, int]


class DecodedText:
    """The decoded `text` of an original text, and the way back."""

    def __init__(self, original: str) -> None:
        """`text` is the original itself if nothing in it `is_encoded`."""
        self._starts: list[int] = []
        self._pieces: list[_Piece] = []
        parts: list[str] = []
        length = 0
        for piece in _pieces(original):
            self._starts.append(length)
            self._pieces.append(piece)
            parts.append(piece[0])
            length += len(piece[0])
        self.text = "".join(parts) if parts else original
        self.is_encoded = bool(parts)

    def original_range(self, start: int, end: int) -> tuple[int, int]:
        """The range in the original of a range of `text` that is not empty."""
        if not self._pieces:
            return start, end
        return self._place(start)[0], self._place(end - 1)[1]

    def _place(self, position: int) -> tuple[int, int]:
        number = bisect_right(self._starts, position) - 1
        decoded, start, end = self._pieces[number]
        if len(decoded) != end - start:
            return start, end
        start += position - self._starts[number]
        return start, start + 1


def _pieces(original: str) -> Iterator[_Piece]:
    """The decoded pieces in order; one of unchanged length has a place for each character."""
    position = 0
    if original.isascii() and not any(mark in original for mark in ("%", "\\", "&#")):
        return
    for found in _TOKEN.finditer(original):
        if position < found.start():
            yield original[position : found.start()], position, found.start()
        if found["percent"]:
            yield from _percent_pieces(found[0], found.start())
        elif decoded := _decode_token(found):
            yield decoded, *found.span()
        position = found.end()
    if position and position < len(original):
        yield original[position:], position, len(original)


def _decode_token(found: re.Match[str]) -> str:
    """The characters that the token stands for; none for an invisible one."""
    if found["escape"]:
        return _ESCAPES.get(found["escape"], found["escape"])
    if found["high"]:
        high, low = int(found["high"], 16), int(found["low"], 16)
        return _plain(chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)))
    digits = found["four"] or found["two"] or found["hex"]
    if digits or found["decimal"]:
        code = int(digits, 16) if digits else int(found["decimal"])
        return _plain(chr(code)) if code <= _MAX_CODE else found[0]
    return _plain(found["char"])


def _percent_pieces(encoded: str, offset: int) -> Iterator[_Piece]:
    """The characters of percent-encoded UTF-8; bytes that are none stay as they are."""
    units = [(int(unit[1], 16), *unit.span()) for unit in _UNIT.finditer(encoded)]
    at = 0
    while at < len(units):
        lead = units[at][0]
        length = 1 if lead < 0xC0 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
        group = units[at : at + length]
        start, end = group[0][1], group[-1][2]
        try:
            decoded = _plain(bytes(unit[0] for unit in group).decode())
        except UnicodeDecodeError:
            start, end, length = units[at][1], units[at][2], 1
            decoded = encoded[start:end]
        if decoded:
            yield decoded, offset + start, offset + end
        at += length


def _plain(char: str) -> str:
    """The ASCII characters that look the same; nothing for an invisible one."""
    if char.isascii():
        return char
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    category = unicodedata.category(char)
    if category == "Pd" or char == "\u2212":
        return "-"
    if category in ("Cf", "Mn"):
        return ""
    compatible = unicodedata.normalize("NFKC", char)
    return compatible if compatible.isascii() else char
