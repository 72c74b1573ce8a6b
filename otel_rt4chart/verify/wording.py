"""Keys and values in words."""

from __future__ import annotations

import re
from typing import NamedTuple

from otel_rt4chart.verify.json_offsets import Kind, one_line
from otel_rt4chart.verify.prose import MAX_SENTENCE, spans

# A value or a line that is longer is told sentence by sentence.
LONG_TEXT = 300


class Rendered(NamedTuple):
    """`text[start:end]` is the source, `words` what it says in English."""

    start: int
    end: int
    words: str


class Line(NamedTuple):
    """A line that is not blank; `raw` still has the white space that the range leaves out."""

    start: int
    end: int
    raw: str


_LONG = 80
# Keys and headers come back in every sentence: an endless one would make the words quadratic.
_KEY_LENGTH = 80
_CLOSERS = "\"')]}”’»"
_TERMINALS = (".", "!", "?", "…", "。", "！", "？")
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
_NAMES = {name.lower(): name for name in f"WiFi TV BYOB ID URL API USA UK {_DAYS}".split()}
_BORDER = re.compile(r"[_\s-]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PREDICATE = re.compile(r"\b(?:good for|is|has|accepts|allows|allowed|serves|offers|supports)\b")
_SENTENCE = re.compile(r"[.!?]\s+[A-Z]|\?")
CODE = re.compile(r"[{};]|\w[(\[]|[=<>!]=|->|=>|\s=\s|[,(\[\\]$")
_FLAGS = {"yes": Kind.TRUE, "true": Kind.TRUE, "no": Kind.FALSE, "false": Kind.FALSE}
# Of these one asks what they are, not whether they are there.
_MEASURE = re.compile(
    r"\b(?:hours|name|title|address|city|state|country|price|stars|rating|date|time|phone|number"
    r"|count|ID|URL|email|code|type|categor(?:y|ies)|size|age|year|level|l(?:at|ong)itude"
    r"|language|currency|symbol|region|capital|status|answer|response|result|value|limit|amount"
    r"|fee|cost|unit|brand|model|sex|gender|user|author|owner)$"
)
_HOURS = re.compile(r"([0-9]{1,2}):([0-9]{1,2})-([0-9]{1,2}):([0-9]{1,2})")


def closed(words: str) -> str:
    """On one line, and with a sign at its end."""
    line = one_line(words)
    return line if line.rstrip(_CLOSERS).endswith(_TERMINALS) else f"{line}."


def sentence(words: str, owner: str = "") -> str:
    """Capitalised and closed, with whose it is before the full stop."""
    capital = words[:1].upper() + words[1:]
    if not owner:
        return closed(capital)
    return f"{capital.removesuffix('.').rstrip()} ({owner}).".lstrip()


def readable(key: str) -> str:
    """A key as words: of `single_sign_on`, `BusinessParking`."""
    key = key[:_KEY_LENGTH].replace("Wi-Fi", "Wifi").replace("WiFi", "Wifi")
    words = _BORDER.split(one_line(key))
    keep = not key.isupper()
    return " ".join(_word(word, keep=keep) for word in words if word)


def _word(word: str, *, keep: bool) -> str:
    """In lower case, unless it is a name or, with `keep`, an acronym among other words."""
    acronym = keep and len(word) > 1 and word.isupper()
    return _NAMES.get(word.lower(), word if acronym else word.lower())


def flagged(key: str, kind: Kind, said: str) -> Kind:
    """A string that says yes or no is a flag, unless its key asks what a thing is.

    "NO" is Norway, too, and no deductible is not a deductible that is not available.
    """
    is_flag = kind is Kind.STRING and said != "NO" and not _MEASURE.search(key)
    return _FLAGS.get(said.lower(), kind) if is_flag else kind


def fact(key: str, kind: Kind, text: str, context: str = "") -> str:
    """A value in words, without the full stop; a key that is a predicate is not a thing."""
    predicate = _PREDICATE.search(context + key)
    if not text:
        return f"{context}{key} is not given"
    if kind in (Kind.TRUE, Kind.FALSE):
        yes = kind is Kind.TRUE
        if predicate:
            return f"{context}{key}: {'yes' if yes else 'no'}"
        return f"{context}{key} is {'available' if yes else 'not available'}"
    if kind is Kind.NULL:
        plain = not predicate and not _MEASURE.search(key)
        return f"{context}{f'whether {key} is available' if plain else key} is unknown"
    if kind is Kind.ARRAY or len(text) > _LONG or re.search(r"[.!?]\s", text):
        return f"{context}{key}: {text}"
    return f"{context}{key} is {text}"


def clock(text: str) -> str:
    """Opening hours as one reads them; any other text as it is."""
    match = _HOURS.fullmatch(text)
    if match is None:
        return text
    opens, minutes, closes, last = match.groups()
    return f"{opens}:{minutes.zfill(2)} to {closes}:{last.zfill(2)}"


def is_sentence(value: str) -> bool:
    """True for what is no value, but says something by itself."""
    ended = value.endswith((".", "!")) and len(value.split()) > 3
    return ended or _SENTENCE.search(value) is not None


def divided(
    whole: Rendered, source: str, *, most: int = MAX_SENTENCE, owner: str = ""
) -> list[Rendered]:
    """The source's own sentences where it, or what it is told in, is longer than `most`."""
    if max(len(source), len(whole.words)) <= most:
        return [whole]
    return [
        Rendered(whole.start + at, whole.start + end, sentence(one_line(source[at:end]), owner))
        for at, end in spans(source)
    ]


def line_itself(line: Line) -> list[Rendered]:
    """A line that is no record, in its own words."""
    whole = Rendered(line.start, line.end, closed(line.raw))
    return divided(whole, line.raw.strip(), most=LONG_TEXT)
