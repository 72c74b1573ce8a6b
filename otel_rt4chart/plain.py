"""Untrusted text for terminals and logs."""

from __future__ import annotations


def printable(text: str, replacement: str = " ", *, keep: str = "") -> str:
    """The text with control, bidirectional and other invisible characters replaced, one for one.

    Offsets into it stay right. `keep` names characters, such as a line feed, to leave alone.
    """
    return "".join(c if c.isprintable() or c in keep else replacement for c in text)
