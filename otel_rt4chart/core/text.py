"""Sanitizing of untrusted text for terminals, logs, requests and tokenizers."""

from __future__ import annotations

import hashlib

# The longest name of a route, a service, a model, a version or an environment. Each name is a row
# of the console and a series of metrics, and the console's addresses take as many characters.
MAX_NAME_CHARS = 500
_HASH_CHARS = 8


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
