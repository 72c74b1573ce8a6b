"""Units that convert into each other, and the signs of money."""

from __future__ import annotations

import re

from otel_rt4chart.verify.local.tokens import Token

# For each family its units, as written, with their factor to the family's base.
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
    "mass": {"mg milligram milligrams": 0.001, "g gram grams": 1,
             "kg kgs kilo kilos kilogram kilograms": 1000, "tonne tonnes ton tons": 1e6,
             "lb lbs": 453.59237, "oz ounce ounces": 28.349523},
    "volume": {"ml millilitre millilitres milliliter milliliters": 0.001,
               "litre litres liter liters": 1},
    "data": {"kb kilobyte kilobytes": 1e3, "mb megabyte megabytes": 1e6,
             "gb gigabyte gigabytes": 1e9, "tb terabyte terabytes": 1e12},
}  # fmt: skip
_MONEY = {"$": "dollar dollars usd", "€": "euro euros eur", "£": "gbp", "¥": "yen jpy",
          "₹": "rupee rupees inr"}  # fmt: skip
SIGNS = frozenset(_MONEY)
# By unit, its family and factor.
UNITS: dict[str, tuple[str, float]] = {
    name.split()[0]: (family, factor)
    for family, members in _WRITTEN.items()
    for name, factor in members.items()
} | dict.fromkeys(SIGNS, ("money", 1.0))
# Values of two of these are never the same one.
FAMILIES = frozenset(family for family, _ in UNITS.values()) | {"%", "#"}
_BY_NAME = {
    name: names.split()[0]
    for members in _WRITTEN.values()
    for names in members
    for name in names.split()
} | {name: sign for sign, names in _MONEY.items() for name in names.split()}
# Letters that are units only right behind the number: "5 m", not "5 years' m".
_LETTERS = {"s", "h", "m", "g"}
# "pounds" are money beside such words, else weight.
_PRICED = re.compile(
    r"[£$€]|\b(?:sterling|million|billion|cost|price|pa(?:y|id)|fee|fine|charge|worth|salar|wage"
    r"|budget|revenue|profit|tax|bill|spen[dt]|earn|fund|debt|sale|sold|buy|bought|award|rais)",
    re.IGNORECASE,
)


def read_unit(token: Token, text: str, after: int) -> str:
    """The unit that a word behind a number names; "" where it names none that converts."""
    if token.norm in _LETTERS and text[after : token.start].strip():
        return ""
    if token.stem == "pound":
        return "£" if _PRICED.search(text) else "lb"
    return _BY_NAME.get(token.norm, "")
