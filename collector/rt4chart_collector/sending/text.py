"""Untrusted text for services of others."""

from __future__ import annotations

import re

from otel_rt4chart.plain import printable
from otel_rt4chart.verify.encoding import encodable


def line(text: str, most: int) -> str:
    """One line of at most `most` characters, without anything invisible."""
    clean = " ".join(printable(encodable(text)).split())
    return clean if len(clean) <= most else clean[: most - 1] + "…"


def slack(text: str, most: int) -> str:
    """Text for Slack, where & < and > are control characters (docs.slack.dev, "Formatting")."""
    escaped = line(text, most).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return escaped if len(escaped) <= most else re.sub("&[a-z]*$", "", escaped[: most - 1]) + "…"
