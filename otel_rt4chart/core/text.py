"""Sanitizing of untrusted text for terminals, logs, requests and tokenizers."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

# The longest name of a route, a service, a model, a version or an environment. Each name is a row
# of the console and a series of metrics, and the console's addresses take as many characters.
MAX_NAME_CHARS = 500
_HASH_CHARS = 8
# A spreadsheet evaluates a cell that starts with one of these (OWASP, CSV injection).
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_LEADING = 64  # characters of a cell in which a formula may begin


def printable(text: str, replacement: str = " ", *, keep: str = "") -> str:
    """Replace control, bidirectional and other invisible characters, one for one.

    Otherwise a text from a trace could rewrite a terminal or reverse what is read. Offsets into the
    text stay valid. `keep` lists characters to preserve, such as a line feed.
    """
    return "".join(c if c.isprintable() or c in keep else replacement for c in text)


def formula_escaped(cell: str) -> str:
    """The text of a CSV cell, with an apostrophe before what a spreadsheet would evaluate."""
    # A spreadsheet may drop invisible characters before it looks for a formula.
    seen = "".join(c for c in cell[:_LEADING] if c in FORMULA or c.isprintable()).lstrip(" ")
    is_formula = cell.lstrip(" ").startswith(FORMULA) or seen.startswith(FORMULA)
    return f"'{cell}" if is_formula else cell


def one_line(text: str, limit: int, around: Iterable[str] = ()) -> str:
    """One line of at most `limit` characters that can be encoded, without invisible characters.

    A longer text is clipped around the first of the words in `around` that it has.
    """
    clean = " ".join(printable(encodable(text)).split())
    return clip(clean, limit, (" ".join(printable(words).split()) for words in around))


def clip(text: str, limit: int, around: Iterable[str] = ()) -> str:
    """At most `limit` characters of a text, with "…" at each end that is cut off.

    They are the start of the text, unless the first of the words in `around` that it has would be
    cut off: then these stand in the middle.
    """
    if len(text) <= limit:
        return text
    start, end = find_words(text, around)
    if end < limit:
        return text[: limit - 1] + "…"
    room = limit - 2
    left = start - max(0, room - (end - start)) // 2
    if left + room >= len(text):
        return "…" + text[len(text) - limit + 1 :]
    return "…" + text[left : left + room] + "…"


# Thai, Lao, Khmer, Japanese, Chinese and Korean: no space, or none alone, ends a word.
SPACELESS_SCRIPTS = "\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_IN_WORD = re.compile(rf"[^\W{SPACELESS_SCRIPTS}]{{2}}")
_REST_OF_WORD = re.compile(rf"[^\W{SPACELESS_SCRIPTS}]*")


def find_words(text: str, around: Iterable[str]) -> tuple[int, int]:
    """The range of the first of these words that the text has as whole words; (0, 0) for none.

    Case does not matter.
    """
    for words in filter(None, around):
        sought = re.compile(re.escape(words), re.IGNORECASE)
        found = sought.search(text)
        while found is not None:
            if not _is_in_word(text, found.start()) and not _is_in_word(text, found.end()):
                return found.span()
            found = sought.search(text, _next_start(text, found.start()))
    return 0, 0


def find_phrase(text: str, phrase: str) -> int:
    """Where a text has a phrase as whole words; -1 where it does not. Case matters."""
    at = text.find(phrase) if phrase else -1
    while at >= 0 and (_is_in_word(text, at) or _is_in_word(text, at + len(phrase))):
        at = text.find(phrase, _next_start(text, at))
    return at


def _is_in_word(text: str, at: int) -> bool:
    """True between two letters or digits of a script that has spaces between words."""
    return at > 0 and _IN_WORD.match(text, at - 1) is not None


def _next_start(text: str, at: int) -> int:
    """The next place where words that are not at `at` may begin: not within the same word."""
    found = _REST_OF_WORD.match(text, at)
    return max(at + 1, found.end() if found else at)


_IN_QUOTES = re.compile("“([^”]+)”")


def quoted_words(reason: str) -> list[str]:
    """The texts that a reason quotes."""
    # Without what follows the last closing mark, in which each opening one would search to the end.
    return _IN_QUOTES.findall(reason[: reason.rfind("”") + 1])


def bounded_name(name: str) -> str:
    """A name without control characters, of at most `MAX_NAME_CHARS`.

    A longer one ends with "…" and a hash of the whole, so that names with a common beginning stay
    different.
    """
    if len(name) <= MAX_NAME_CHARS:
        return name if name.isprintable() else printable(encodable(name))
    name = encodable(name)
    digest = hashlib.sha256(name.encode()).hexdigest()[:_HASH_CHARS]
    return f"{printable(name[: MAX_NAME_CHARS - _HASH_CHARS - 1])}…{digest}"


def encodable(text: str) -> str:
    """Replace lone surrogates, which JSON escapes can produce and UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")
