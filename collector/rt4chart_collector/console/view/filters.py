"""Template filters: figures and times as text."""

from __future__ import annotations

import json
from collections.abc import Iterable

from markupsafe import Markup

from otel_rt4chart.core.text import clip, find_words, quoted_words
from otel_rt4chart.verify.core.model import status_label
from otel_rt4chart.verify.core.rates import Rate
from rt4chart_collector.core.filters.filter_language import FilterKey
from rt4chart_collector.core.times import iso, utc_time
from rt4chart_collector.store.answers.verifications import AnswerDecision

MINUTE, HOUR, DAY = 60, 3600, 86_400
SECOND_NS = 10**9
UNKNOWN = "–"
# Signs beside the colors of labels, for readers who cannot tell the colors apart.
SIGNS = {
    "entailed": "✓",
    "contradicted": "✗",
    "baseless": "!",
    "misleading": "◐",
    "undecided": "–",
    "no_claims": "∅",
    "not_a_claim": "·",
    "none": "∅",
}

# Unicode's control pictures; tabs and newlines stay, a carriage return before a newline goes. C1
# controls and the characters that override the direction of text become the replacement character:
# with them, a name could be displayed as another one.
PICTURES = {
    **{code: 0x2400 + code for code in range(0x20) if code not in (0x09, 0x0A, 0x0D)},
    0x0D: None,
    0x7F: 0x2421,
    **dict.fromkeys((*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)), 0xFFFD),
}


def visible(text: str) -> str:
    """The text with a visible symbol for each character that would hide or reorder others."""
    # Of what is printable, none is replaced, and asking is much faster than replacing.
    return text if text.isprintable() else text.translate(PICTURES)


def finalize(value: object) -> object:
    """What a template prints of a value: markup as it is, any other text with `visible`."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def count(value: float | None) -> str:
    """1234567 as 1,234,567."""
    return UNKNOWN if value is None else f"{value:,.0f}"


def plural(number: float, noun: str) -> str:
    """1 as "1 claim", 1234 as "1,234 claims"."""
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"


def hourly(value: float) -> str:
    """How often something happens in an hour; a rare event is not rounded to never."""
    if 0 < value < 0.1:
        return "< 0.1"
    return f"{value:.1f}" if 0 < value < 9.95 else count(value)


def percent(share: float | None) -> str:
    """0.0831 as 8.3%; small shares with two digits."""
    if share is None:
        return UNKNOWN
    digits = 1 if share >= 0.001 or share == 0 else 2
    return f"{share * 100:.{digits}f}%"


def interval(rate: Rate) -> str:
    """A rate's 95% interval, as 6.1–11.2%."""
    if rate.low is None or rate.high is None:
        return ""
    return f"{rate.low * 100:.1f}–{rate.high * 100:.1f}%"


def duration(seconds: float | None) -> str:
    """Seconds in the largest fitting unit, as 12 min."""
    if seconds is None:
        return UNKNOWN
    for size, unit in ((DAY, "d"), (HOUR, "h"), (MINUTE, "min")):
        if seconds >= 2 * size or (size < DAY and seconds >= size):
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 1 or seconds == 0 else f"{seconds * 1000:.0f} ms"


def when(at_ns: int | None, now_ns: int | None = None) -> Markup:
    """A time in UTC, or how long ago it was if `now_ns` is given."""
    if not at_ns:
        return Markup("–")
    exact, text = iso(at_ns), utc_time(at_ns)
    if now_ns is not None:
        past_s = (now_ns - at_ns) / SECOND_NS
        text = f"{duration(past_s)} ago" if past_s >= 0 else f"in {duration(-past_s)}"
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        exact, exact.replace("T", " ").replace("Z", " UTC"), text
    )


def label(name: str) -> Markup:
    """A verdict's label with its color and sign."""
    return Markup(
        '<span class="label label-{0}"><span aria-hidden="true">{1}</span> {2}</span>'
    ).format(name if name in SIGNS else "none", SIGNS.get(name, "·"), name.replace("_", " "))


def verdict_label(found: AnswerDecision) -> Markup:
    """The label of an answer; one that is entailed and misleads is not called entailed."""
    misleads = found.label == "entailed" and found.misleading.count > 0
    return label("misleading" if misleads else found.label)


def link(url: str, text: str) -> Markup:
    """A link; a dash stands for an empty text."""
    return Markup('<a href="{}">{}</a>').format(url, visible(text) or UNKNOWN)


_READ = 8_000  # characters of a text that is to be shortened


def shortened(text: str, length: int = 140, around: Iterable[str] = ()) -> str:
    """The start of the text on one line, or its part with the first of these words that it has."""
    return clip(" ".join(text[:_READ].split()), length, around)


def with_marked_words(text: str, length: int, words: Iterable[str]) -> Markup:
    """As `shortened`, the first of these words that the text has marked as different."""
    given = tuple(words)
    line = visible(shortened(text, length, given))
    start, end = find_words(line, given)
    if start == end:
        return Markup("{}").format(line)
    return Markup('{}<mark class="differs">{}</mark>{}').format(
        line[:start], line[start:end], line[end:]
    )


def filter_keys(keys: Iterable[FilterKey]) -> str:
    """The keys of a filter and their values, for the script that suggests them."""
    return json.dumps({key.name: key.values for key in keys})


FILTERS = {
    "filter_keys": filter_keys,
    "figure": count,
    "plural": plural,
    "hourly": hourly,
    "percent": percent,
    "interval": interval,
    "duration": duration,
    "iso": iso,
    "when": when,
    "utc": utc_time,
    "label": label,
    "status_label": status_label,
    "verdict_label": verdict_label,
    "shortened": shortened,
    "with_marked_words": with_marked_words,
    "quoted_words": quoted_words,
}
