"""Untrusted text made safe for terminals, logs, requests and tokenizers."""

from __future__ import annotations


def printable(text: str, replacement: str = " ", *, keep: str = "") -> str:
    """The text with control, bidirectional and other invisible characters replaced, one for one.

    Offsets into it stay right. `keep` names characters, such as a line feed, to leave alone.
    """
    return "".join(c if c.isprintable() or c in keep else replacement for c in text)


def one_line(text: str, limit: int) -> str:
    """One line of at most `limit` characters that can be encoded, without invisible characters."""
    clean = " ".join(printable(encodable(text)).split())
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"


def encodable(text: str) -> str:
    """The text as UTF-8 can hold it: JSON may have escaped half a character, a lone surrogate."""
    return text.encode("utf-8", "replace").decode("utf-8")
