"""Untrusted text for services of others."""

from __future__ import annotations

import re
from urllib.parse import unquote

from otel_rt4chart.core.text import encodable, printable


def secrets_in(url: str) -> tuple[str, ...]:
    """Every part of an address that may be secret and be said back, the longest first."""
    parts = {url, *re.split(r"[/:@?&=,;#]+", url)}
    return tuple(sorted(parts | {unquote(part) for part in parts}, key=len, reverse=True))


def line(text: str, most: int) -> str:
    """One line of at most `most` characters, without anything invisible."""
    clean = " ".join(printable(encodable(text)).split())
    return clean if len(clean) <= most else clean[: most - 1] + "…"


def slack(text: str, most: int) -> str:
    """Text for Slack, where & < and > are control characters (docs.slack.dev, "Formatting")."""
    escaped = line(text, most).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return escaped if len(escaped) <= most else re.sub("&[a-z]*$", "", escaped[: most - 1]) + "…"
