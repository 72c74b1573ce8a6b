"""Keys and values of structured data in English words."""

from __future__ import annotations

import re

from otel_rt4chart.verify.text.json_offsets import JsonKind, one_line

_LONG = 80
# Every sentence repeats its key or header: an endless one would make the output quadratic.
_KEY_LENGTH = 80
_CLOSERS = "\"')]}”’»"
_TERMINALS = (".", "!", "?", "…", "。", "！", "？")
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
_NAMES = {name.lower(): name for name in f"WiFi TV BYOB ID URL API USA UK {_DAYS}".split()}
_BORDER = re.compile(r"[_\s-]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PREDICATE = re.compile(
    r"\b(?:good for|is|has|accepts|allows|allowed|serves|offers|supports)\b"
    r"|^(?:shows|includes|needs|requires|covers|uses|contains|provides|comes|works|runs|can|was"
    r"|are|have|verify|enable|allow|show|use|require|include)\b"
)
# The last word of a key that ascribes a property: "waterproof", "winter sports covered".
_PROPERTY = re.compile(
    r"\b(?:\w+(?:proof|able|ible|less|free|ous|ful|resistant|friendly)|\w{3,}(?<!se)(?<!fe)ed"
    r"|open|closed|active|public|private|free|paid|vegan|vegetarian|organic|halal|kosher|safe"
    r"|wireless|optional|mandatory|new|included|compatible|legal|toxic|addictive|permanent"
    r"|available|required|valid|online|automatic|taken|built|sold|shown|given)$"
)
_PROPERTY_NOUNS = frozenset({"cable", "table", "speed", "seed", "bed", "need", "tax free"})
_FLAGS = {
    "yes": JsonKind.TRUE,
    "true": JsonKind.TRUE,
    "no": JsonKind.FALSE,
    "false": JsonKind.FALSE,
} | dict.fromkeys("✓✔✅☑", JsonKind.TRUE) | dict.fromkeys("✗✘❌✕", JsonKind.FALSE)  # fmt: skip
# Keys of values, not of flags: "available: no" denies, "state: no" does not.
_MEASURE = re.compile(
    r"\b(?:hours|name|title|address|city|state|country|price|stars|rating|date|time|phone|number"
    r"|count|ID|URL|email|code|type|categor(?:y|ies)|size|age|year|level|l(?:at|ong)itude"
    r"|language|currency|symbol|region|capital|status|answer|response|result|value|limit|amount"
    r"|fee|cost|unit|brand|model|sex|gender|user|author|owner)$"
)
_HOURS = re.compile(r"([0-9]{1,2}):([0-9]{1,2})-([0-9]{1,2}):([0-9]{1,2})")
_NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?")
# The unit that a key ends with, as it is written behind a number: "storage gb", "price (USD)".
_UNITS = {
    name: written
    for written, names in {
        "GB": "gb", "MB": "mb", "TB": "tb", "KB": "kb", "USD": "usd", "EUR": "eur", "GBP": "gbp",
        "$": "$", "€": "€", "£": "£", "%": "% percent pct", "kg": "kg", "g": "g grams gram",
        "mg": "mg", "km": "km", "cm": "cm", "mm": "mm", "m": "m metres meters", "ml": "ml",
        "litres": "l litres liters", "miles": "mi miles", "inches": "in inches", "feet": "ft feet",
        "ms": "ms", "seconds": "s sec secs seconds", "minutes": "min mins minutes",
        "hours": "h hr hrs hours", "days": "days", "weeks": "weeks", "months": "months",
        "years": "years yrs", "thousand": "thousands thousand", "million": "millions million",
        "billion": "billions billion", "W": "w watts", "mAh": "mah", "km/h": "km/h kmh kph",
        "mph": "mph", "°C": "°c celsius", "°F": "°f fahrenheit",
    }.items()
    for name in names.split()
}  # fmt: skip
_KEY_UNIT = re.compile(
    r"(?P<key>.*\w\)?) (?:\((?:in )?(?P<inside>[^()]+)\)|in (?P<named>\S+)|(?P<last>\S+))"
)
# Single letters, and words that are no unit without brackets: "log in", "version s".
_BARE_ONLY = frozenset({"in", "m", "l", "w", "min"})


def end_sentence(words: str) -> str:
    """The words on one line, with a full stop if they have no final punctuation."""
    line = one_line(words)
    return line if line.rstrip(_CLOSERS).endswith(_TERMINALS) else f"{line}."


def as_sentence(words: str, owner: str = "") -> str:
    """The words as a sentence, with the owner in brackets before the full stop."""
    capital = words[:1].upper() + words[1:]
    if not owner:
        return end_sentence(capital)
    return f"{capital.removesuffix('.').rstrip()} ({owner}).".lstrip()


def words_from_key(key: str) -> str:
    """The words of a key such as `single_sign_on` or `BusinessParking`."""
    key = key[:_KEY_LENGTH].replace("Wi-Fi", "Wifi").replace("WiFi", "Wifi")
    words = _BORDER.split(one_line(key))
    keep = not key.isupper()
    return " ".join(_word(word, keep=keep) for word in words if word)


def _word(word: str, *, keep: bool) -> str:
    """The word in lower case, unless it is a name or, with `keep`, an acronym."""
    acronym = keep and len(word) > 1 and word.isupper()
    return _NAMES.get(word.lower(), word if acronym else word.lower())


def kind_of_flag(key: str, kind: JsonKind, text: str) -> JsonKind:
    """TRUE or FALSE for a string "yes" or "no" under a key that may be a flag; else its kind.

    "NO" is also Norway, and "no" under "deductible amount" does not mean "not available".
    """
    is_flag = kind is JsonKind.STRING and text != "NO" and not _MEASURE.search(key)
    return _FLAGS.get(text.lower(), kind) if is_flag else kind


_NONE = frozenset({"none", "not included", "not available", "not covered", "not supported"})
_FULL = frozenset({"included", "available", "covered", "supported"})


def flag_value(name: str, value: str) -> bool | None:
    """True or False for a value that says whether there is what it is named after; else None."""
    kind = kind_of_flag(name, JsonKind.STRING, value)
    if kind is JsonKind.TRUE or value.lower() in _FULL:
        return True
    return False if kind is JsonKind.FALSE or value.lower() in _NONE else None


def with_unit(key: str, value: str) -> tuple[str, str]:
    """The key and a bare number with the unit that the key ends with moved behind the number."""
    match = _KEY_UNIT.fullmatch(key) if _NUMBER.fullmatch(value) else None
    if match is None:
        return key, value
    name = (match["inside"] or match["named"] or match["last"]).strip().lower()
    if name not in _UNITS or (match["last"] and name in _BARE_ONLY):
        return key, value
    unit = _UNITS[name]
    if unit in "$€£":
        return match["key"], f"{unit}{value}"
    return match["key"], f"{value}{'' if unit == '%' else ' '}{unit}"


def flag_text(key: str, context: str = "", *, yes: bool) -> str:
    """What a flag says: "is not waterproof", "winter sports are not covered", "has TV: yes"."""
    if _PREDICATE.search(context + key):
        return f"{context}{key}: {'yes' if yes else 'no'}"
    *before, last = key.split()
    denial = "" if yes else "not "
    if _PROPERTY.search(key) and key not in _PROPERTY_NOUNS:
        plural = bool(before) and before[-1].endswith("s") and not before[-1].endswith("ss")
        verb = "are" if plural else "is"
        return f"{context}{' '.join([*before, verb])} {denial}{last}"
    return f"{context}{key} is {denial}available"


def fact_text(key: str, kind: JsonKind, text: str, context: str = "") -> str:
    """A key and its value in words, without a full stop."""
    if not text:
        return f"{context}{key} is not given"
    if kind in (JsonKind.TRUE, JsonKind.FALSE):
        return flag_text(key, context, yes=kind is JsonKind.TRUE)
    if kind is JsonKind.NULL:
        plain = not _PREDICATE.search(context + key) and not _MEASURE.search(key)
        return f"{context}{f'whether {key} is available' if plain else key} is unknown"
    if kind is JsonKind.ARRAY or len(text) > _LONG or re.search(r"[.!?]\s", text):
        return f"{context}{key}: {text}"
    key, text = with_unit(key, text)
    return f"{context}{key} is {text}"


def format_hours(text: str) -> str:
    """Opening hours in readable form; any other text unchanged."""
    match = _HOURS.fullmatch(text)
    if match is None:
        return text
    opens, minutes, closes, last = match.groups()
    return f"{opens}:{minutes.zfill(2)} to {closes}:{last.zfill(2)}"
