"""Sanitizing of untrusted text for terminals, logs, requests and tokenizers."""

from __future__ import annotations


def printable(text: str, replacement: str = " ", *, keep: str = "") -> str:
    """Replace control, bidirectional and other invisible characters, one for one.

    Otherwise a text from a trace could rewrite a terminal or reverse what is read. Offsets into the
    text stay valid. `keep` lists characters to preserve, such as a line feed.
    """
    return "".join(c if c.isprintable() or c in keep else replacement for c in text)


def one_line(text: str, limit: int) -> str:
    """One line of at most `limit` characters that can be encoded, without invisible characters."""
    clean = " ".join(printable(encodable(text)).split())
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"


def encodable(text: str) -> str:
    """Replace lone surrogates, which JSON escapes can produce and UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")
