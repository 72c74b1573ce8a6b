"""Guesses the language of a text, to find texts that cannot be compared by words."""

from __future__ import annotations

from collections.abc import Iterable

from otel_rt4chart.verify.language.tokens import STOPWORDS, Token, vocabulary

_MIN_WORDS = 5  # fewer words are too few to decide
# At least the first share of English words is English; less than the second is not.
_ENGLISH, _FOREIGN = 0.45, 0.3
# For each script the code point after its last one, in order.
_SCRIPTS = (
    (0x0250, "latin"),
    (0x0370, "marks"),
    (0x0400, "greek"),
    (0x0530, "cyrillic"),
    (0x0590, "armenian"),
    (0x0600, "hebrew"),
    (0x0700, "arabic"),
    (0x0900, "semitic"),
    (0x0E00, "indic"),
    (0x1100, "southeast asian"),
    (0x1200, "hangul"),
    (0x2E80, "other"),
    (0x3400, "kana"),
    (0xA000, "han"),
    (0xAC00, "other"),
    (0xD7B0, "hangul"),
)


def detect_language(tokens: Iterable[Token]) -> str | None:
    """The script, or for Latin letters `english` or `not english`; None where it is unclear."""
    words = [token for token in tokens if token.text[0].isalpha()]
    scripts = [_script(token.text) for token in words]
    if len(words) < _MIN_WORDS:
        return None
    script = max(set(scripts), key=scripts.count)
    if scripts.count(script) < 0.7 * len(scripts):
        return None
    if script != "latin":
        return script
    # Capitalised words may be names, which are spelt alike everywhere.
    plain = [token for token in words if not token.is_capital or token.starts_clause]
    known = sum(_is_english(token) for token in plain) / (len(plain) or 1)
    if known >= _ENGLISH:
        return "english"
    return "not english" if known < _FOREIGN and len(plain) >= _MIN_WORDS else None


def are_different_languages(left: str | None, right: str | None) -> bool:
    """True for two known languages that differ."""
    return left is not None and right is not None and left != right


def _is_english(token: Token) -> bool:
    return token.norm in STOPWORDS or vocabulary().is_common(token.stem)


def _script(word: str) -> str:
    code = ord(word[0])
    return next((name for first, name in _SCRIPTS if code < first), "other")
