"""Units and currencies: how texts write them, and which convert into each other."""

from __future__ import annotations

import re

from otel_rt4chart.verify.language.tokens import Token

# For each family of units their spellings, with their factor to the base unit of the family.
_WRITTEN: dict[str, dict[str, float]] = {
    "time": {"second seconds sec secs s": 1, "minute minutes min mins": 60,
             "hour hours hr hrs h": 3600, "day days": 86400, "week weeks": 604800,
             "fortnight fortnights": 1209600},
    "months": {"month months": 1, "quarter quarters": 3, "year years yr yrs": 12,
               "decade decades": 120, "century centuries": 1200},
    "length": {"mm millimetre millimetres millimeter millimeters": 0.001,
               "cm centimetre centimetres centimeter centimeters": 0.01,
               "m metre metres meter meters": 1,
               "km kilometre kilometres kilometer kilometers": 1000,
               "mi mile miles": 1609.344, "foot feet ft": 0.3048, "inch inches": 0.0254,
               "yard yards": 0.9144},
    "mass": {"mcg µg microgram micrograms": 1e-6, "mg milligram milligrams": 0.001,
             "g gram grams": 1, "kg kgs kilo kilos kilogram kilograms": 1000,
             "tonne tonnes ton tons": 1e6, "lb lbs": 453.59237, "oz ounce ounces": 28.349523},
    "volume": {"ml millilitre millilitres milliliter milliliters": 0.001,
               "cl centilitre centilitres centiliter centiliters": 0.01,
               "litre litres liter liters l": 1, "cup cups": 0.2365882,
               "gallon gallons": 3.785412,
               "tablespoon tablespoons tbsp": 0.01478676, "teaspoon teaspoons tsp": 0.00492892},
    "data": {"kb kilobyte kilobytes": 1e3, "mb megabyte megabytes": 1e6,
             "gb gigabyte gigabytes": 1e9, "tb terabyte terabytes": 1e12,
             "kib": 1024, "mib": 1024**2, "gib": 1024**3, "tib": 1024**4},
    "speed": {"km/h kmh kph": 1, "mph": 1.609344, "knots": 1.852, "m/s": 3.6},
    "bits": {"kbit/s kbps": 1e3, "mbit/s mbps": 1e6, "gbit/s gbps": 1e9},
    "area": {"m²": 1, "ft²": 0.09290304, "acre acres": 4046.8564, "hectare hectares ha": 10000},
    "energy": {"wh": 1, "kwh": 1e3, "mwh": 1e6, "kj": 1 / 3.6, "kcal": 1.163},
    "power": {"watt watts": 1, "kw kilowatt kilowatts": 1e3, "megawatt megawatts": 1e6},
    "frequency": {"hz hertz": 1, "khz kilohertz": 1e3, "mhz megahertz": 1e6,
                  "ghz gigahertz": 1e9},
    "charge": {"mah": 1, "ah": 1e3},
    "current": {"ma": 1e-3, "amp amps ampere amperes": 1},
    "voltage": {"volt volts": 1},
    "pressure": {"psi": 6894.757, "bar": 1e5},
    "sound": {"db decibel decibels": 1},
    "pixels": {"pixel pixels px": 1, "megapixel megapixels mp": 1e6},
    # Not by a factor: a value of one is never told from a value of the other.
    "°C": {"°c": 1}, "°F": {"°f": 1},
    "cents": {"cent cents ct": 1},
}  # fmt: skip
# Currencies by their sign or code: the words for them, and what stands before an amount.
_MONEY = {
    "$": "dollar dollars buck bucks usd", "€": "euro euros eur", "£": "gbp", "¥": "yen jpy",
    "₹": "rupee rupees inr", "A$": "aud", "C$": "cad", "R$": "brl", "S$": "sgd", "HK$": "hkd",
    "NZ$": "nzd", "MX$": "mxn", "CHF": "chf franc francs", "kr": "kr", "SEK": "sek", "NOK": "nok",
    "DKK": "dkk", "zł": "zł pln zloty", "Kč": "kč czk", "RM": "myr ringgit", "฿": "thb baht",
    "₩": "krw", "₺": "lira", "₽": "rub ruble rubles rouble roubles", "₪": "ils shekel shekels",
    "AED": "aed dirham dirhams", "CNY": "cny rmb yuan", "ZAR": "zar", "BTC": "btc bitcoin bitcoins",
    "ETH": "eth ether",
}  # fmt: skip
SIGNS = frozenset(_MONEY)
_CROWNS = frozenset(("kr", "SEK", "NOK", "DKK"))
_BEFORE = {
    "us$": "$", "au$": "A$", "ca$": "C$", "cad$": "C$", "sg$": "S$", "rs": "₹", "rs.": "₹",
    "kr.": "kr", "rm": "RM", "r": "ZAR",
} | {sign.lower(): sign for sign in SIGNS} | {
    name: sign for sign, names in _MONEY.items() for name in names.split() if len(name) == 3
}  # fmt: skip
# A sign or code before an amount; codes are in capitals.
CURRENCY = (
    r"(?:[€£¥₹฿₩₺₽₪]\s?|(?:(?<![\w$])(?-i:US|AU?|C(?:AD?)?|R|SG?|HK|NZ|MX))?\$\s?"
    r"|(?<![\w$])(?-i:Rs\.?|R|kr\.?|RM|CHF|USD|EUR|GBP|JPY|INR|AUD|CAD|BRL|SGD|HKD|NZD|MXN|SEK|NOK"
    r"|DKK|PLN|CZK|MYR|THB|KRW|RUB|ILS|AED|CNY|ZAR)\s?(?=\d))"
)
# The family and factor of each unit.
UNITS: dict[str, tuple[str, float]] = {
    name.split()[0]: (family, factor)
    for family, members in _WRITTEN.items()
    for name, factor in members.items()
} | dict.fromkeys(SIGNS, ("money", 1.0))
# Values of two different families are never equal.
UNIT_FAMILIES = frozenset(family for family, _ in UNITS.values()) | {"%", "#"}
_BY_NAME = {
    name: names.split()[0]
    for members in _WRITTEN.values()
    for names in members
    for name in names.split()
    if names not in ("bar", "°c", "°f")
} | {name: sign for sign, names in _MONEY.items() for name in names.split()}
# All words and signs for units.
UNIT_NAMES = frozenset(_BY_NAME)
# Letters that are units only right after the number: "5 m", not "5 years' m".
_LETTERS = {"s", "h", "m", "g", "l"}
# Units that are no single word, or whose letters mean another thing in another case.
_SIGNED = {
    "°c": r"°\s?C|℃|degrees?\s+(?:[Cc]elsius|[Cc]entigrade|C)",
    "°f": r"°\s?F|℉|degrees?\s+(?:[Ff]ahrenheit|F)",
    "km/h": r"km/hr?|(?:km|kilomet(?:re|er)s?)\s+(?:per|an)\s+hour",
    "mph": r"mi/h|miles?\s+(?:per|an)\s+hour",
    "m/s": r"m/s|met(?:re|er)s?\s+(?:per|a)\s+second",
    "kbit/s": r"kbit/s|kb/s",
    "mbit/s": r"Mbit/s|Mb/s",
    "gbit/s": r"Gbit/s|Gb/s",
    "m²": r"m²|m2|sqm|sq\.?\s?m|square\s+met(?:re|er)s?",
    "ft²": r"ft²|sq\.?\s?ft|square\s+(?:feet|foot)",
    "watt": r"W",
    "megawatt": r"MW",
    "volt": r"V",
    "ma": r"mA",
    "amp": r"A",
    "bar": r"bar(?!\s+\w)",
}
_SIGNED_UNIT = re.compile(
    r"[\s-]?(?:"
    + "|".join(f"(?P<u{at}>{written})" for at, written in enumerate(_SIGNED.values()))
    + r")(?![\w²/-])"
)
# "Pounds" are money in a text with such words, else weight.
_PRICED = re.compile(
    r"[£$€]|\b(?:sterling|million|billion|cost|price|pa(?:y|id)|fee|fine|charge|worth|salar|wage"
    r"|budget|revenue|profit|tax|bill|spen[dt]|earn|fund|debt|sale|sold|buy|bought|award|rais)",
    re.IGNORECASE,
)


# A bare C or F is a temperature in a text with such words, else a seat or a size.
_BARE_DEGREES = re.compile(r"\s?(?P<scale>[CF])(?![\w²/'’-])")
_HEATED = re.compile(
    r"\b(?:temperatures?|heat\w*|hot|warm\w*|cold|cool\w*|fr[eo]ez\w*|chill\w*|boil\w*|bak(?:e|ed|ing)"
    r"|roast\w*|cook\w*|ovens?|fridges?|refrigerat\w+|saunas?|wash\w*|stor(?:e|ed|age)|ke(?:ep|pt)"
    r"|fever|thaw\w*|brew\w*|melt\w*)\b",
    re.IGNORECASE,
)


def read_unit(token: Token, text: str, after: int) -> str:
    """The unit that a word after a number names; "" where it is no unit that converts."""
    if token.norm in _LETTERS and text[after : token.start].strip():
        return ""
    if token.stem == "pound":
        return "£" if _PRICED.search(text) else "lb"
    return _BY_NAME.get(token.norm, "")


def read_signed_unit(text: str, after: int) -> tuple[str, int]:
    """The unit right after a number that is no single word, and its end; "" without one."""
    match = _SIGNED_UNIT.match(text, after)
    if match is None:
        bare = _BARE_DEGREES.match(text, after)
        if bare is None or _HEATED.search(text) is None:
            return "", after
        return f"°{bare['scale'].lower()}", bare.end()
    return list(_SIGNED)[int((match.lastgroup or "u0")[1:])], match.end()


def read_currency(written: str) -> str:
    """The currency of a sign or code before an amount."""
    return _BEFORE[re.sub(r"\s", "", written).lower()]


def are_other_currencies(one: str, other: str) -> bool:
    """True for two currencies; a krone may be that of several countries."""
    if one == other or not {one, other} <= SIGNS:
        return False
    return not ("kr" in (one, other) and {one, other} <= _CROWNS)


def is_measure(unit: str) -> bool:
    """True for a unit that a number cannot have beside another one: `%`, `$`, `kg`."""
    return unit in UNITS or unit == "%"
