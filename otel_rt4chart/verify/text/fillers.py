"""Words that join an answer's sentences and claim nothing: "then", "still", "also", "too"."""

from __future__ import annotations

import re

# "And then" and "first … then" tell an order, "if … then" a condition; "a still" is a thing, and
# "too late" a judgement.
_FILLER = re.compile(
    r"(?<=[\w’'] )(?<!\ba )(?<!\ban )(?<!\bno )(?:also|still)(?= \w)"
    r"|(?<=[\w’'] )(?<!\band )(?<!\bor )(?<!\bsince )(?<!\bby )(?<!\buntil )then(?= [a-z])"
    r"|,? too(?=[.!;,]|$)",
    re.IGNORECASE,
)
_ORDERS = re.compile(r"\b(?:first|before|after|if|when|once)\b", re.IGNORECASE)


def blank_fillers(text: str) -> str:
    """The text with these words replaced by spaces, so that all offsets stay."""
    tells_order = _ORDERS.search(text) is not None

    def blank(match: re.Match[str]) -> str:
        is_kept = tells_order and match.group() == "then"
        return match.group() if is_kept else " " * len(match.group())

    return _FILLER.sub(blank, text)
