"""Made cases on tables, lists of keys and values, CSV lines and JSON."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass

from written.number_words import TOWNS, Family, NumberCase, shown_number


@dataclass(frozen=True, slots=True)
class _Column:
    """A column: its key, how one tells a cell, how one tells that two rows differ."""

    key: str
    title: str
    says: tuple[str, ...]  # {r} is the row, {v} the value
    draw: Callable[[random.Random], int]
    more: str = ""  # {r} and {o}: the greater and the smaller
    less: str = ""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class _Topic:
    """What a table is about."""

    noun: str  # of a row, as `product`
    rows: tuple[str, ...]
    columns: tuple[_Column, ...]
    missing: tuple[str, ...]  # what it does not tell, {r} the row and {v} a number


def _between(low: int, high: int, step: int = 1) -> Callable[[random.Random], int]:
    return lambda chance: chance.randrange(low, high + 1, step)


TOPICS = (
    _Topic(
        "laptop",
        ("Aero 13", "Nimbus 15", "Quartz X", "Delta S", "Vega 14", "Tern Pro", "Lark Mini"),
        (
            _Column(
                "price_eur",
                "Price (EUR)",
                (
                    "The {r} costs {v} euros.",
                    "The price of the {r} is €{v}.",
                    "One pays {v} euros for the {r}.",
                ),
                _between(390, 2400, 10),
                "The {r} is more expensive than the {o}.",
                "The {o} is cheaper than the {r}.",
            ),
            _Column(
                "weight_g",
                "Weight (g)",
                ("The {r} weighs {v} grams.", "The weight of the {r} is {v} g."),
                _between(850, 2500, 10),
                "The {r} is heavier than the {o}.",
                "The {o} weighs less than the {r}.",
            ),
            _Column(
                "battery_hours",
                "Battery (h)",
                (
                    "The battery of the {r} lasts {v} hours.",
                    "The {r} has a battery life of {v} hours.",
                ),
                _between(5, 24),
                "The battery of the {r} lasts longer than that of the {o}.",
                "The {o} has a shorter battery life than the {r}.",
            ),
            _Column(
                "memory_gb",
                "Memory (GB)",
                ("The {r} has {v} GB of memory.", "The memory of the {r} is {v} gigabytes."),
                lambda chance: chance.choice(
                    (4, 6, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64, 96, 128)
                ),
                "The {r} has more memory than the {o}.",
                "The {o} does not have as much memory as the {r}.",
            ),
        ),
        (
            "The {r} has a guarantee of {v} months.",
            "The screen of the {r} does not reflect.",
            "The {r} is available in {v} shops.",
            "The {r} was not tested by a magazine.",
        ),
    ),
    _Topic(
        "town",
        tuple(TOWNS),
        (
            _Column(
                "population",
                "Population",
                (
                    "{r} has {v} inhabitants.",
                    "The population of {r} is {v}.",
                    "{v} people live in {r}.",
                ),
                _between(2000, 900_000, 10),
                "More people live in {r} than in {o}.",
                "{o} has fewer inhabitants than {r}.",
            ),
            _Column(
                "schools",
                "Schools",
                ("{r} has {v} schools.", "There are {v} schools in {r}."),
                _between(2, 80),
                "{r} has more schools than {o}.",
                "There are not as many schools in {o} as in {r}.",
            ),
            _Column(
                "altitude_m",
                "Altitude (m)",
                ("{r} is {v} metres above sea level.", "The altitude of {r} is {v} m."),
                _between(3, 1900),
                "{r} lies higher than {o}.",
                "{o} lies lower than {r}.",
            ),
            _Column(
                "founded",
                "Founded",
                ("{r} was founded in {v}.", "The founding year of {r} is {v}."),
                _between(1105, 1899),
                "{r} was founded later than {o}.",
                "{o} is older than {r}.",
            ),
        ),
        (
            "{r} has {v} cinemas.",
            "The mayor of {r} has held the office for {v} years.",
            "{r} has no railway station.",
            "{r} had {v} visitors last year.",
        ),
    ),
    _Topic(
        "room",
        ("Birch", "Maple", "Willow", "Cedar", "Alder", "Rowan", "Hazel", "Aspen"),
        (
            _Column(
                "seats",
                "Seats",
                (
                    "Room {r} has {v} seats.",
                    "{v} people can sit in room {r}.",
                    "There are {v} seats in room {r}.",
                ),
                _between(4, 120),
                "Room {r} has more seats than room {o}.",
                "Room {o} has fewer seats than room {r}.",
            ),
            _Column(
                "floor",
                "Floor",
                ("Room {r} is on floor {v}.", "To get to room {r}, go to floor {v}."),
                _between(2, 24),
                "Room {r} is on a higher floor than room {o}.",
                "Room {o} is on a lower floor than room {r}.",
            ),
            _Column(
                "fee_per_hour_usd",
                "Fee per hour (USD)",
                ("Room {r} costs {v} dollars per hour.", "The hourly fee of room {r} is ${v}."),
                _between(15, 190, 5),
                "An hour in room {r} costs more than one in room {o}.",
                "Room {o} is cheaper than room {r}.",
            ),
            _Column(
                "size_m2",
                "Size (m²)",
                ("Room {r} has an area of {v} m².", "Room {r} measures {v} square metres."),
                _between(9, 240),
                "Room {r} is larger than room {o}.",
                "Room {o} has a smaller area than room {r}.",
            ),
        ),
        (
            "Room {r} has {v} windows.",
            "Room {r} is booked until {v} o'clock.",
            "Room {r} is not heated at night.",
            "Room {r} was last painted {v} years ago.",
        ),
    ),
    _Topic(
        "team",
        ("Falcons", "Lions", "Rovers", "Hornets", "Wolves", "Comets", "Otters", "Sharks"),
        (
            _Column(
                "won",
                "Won",
                (
                    "The {r} won {v} matches.",
                    "{v} matches were won by the {r}.",
                    "The {r} have {v} wins.",
                ),
                _between(2, 28),
                "The {r} won more matches than the {o}.",
                "The {o} did not win as many matches as the {r}.",
            ),
            _Column(
                "lost",
                "Lost",
                ("The {r} lost {v} matches.", "The {r} were beaten in {v} matches."),
                _between(2, 28),
                "The {r} lost more matches than the {o}.",
                "The {o} lost fewer matches than the {r}.",
            ),
            _Column(
                "goals_for",
                "Goals scored",
                ("The {r} scored {v} goals.", "{v} goals were scored by the {r}."),
                _between(20, 99),
                "The {r} scored more goals than the {o}.",
                "The {o} scored fewer goals than the {r}.",
            ),
            _Column(
                "goals_against",
                "Goals conceded",
                ("The {r} conceded {v} goals.", "Opponents scored {v} goals against the {r}."),
                _between(20, 99),
                "The {r} conceded more goals than the {o}.",
                "The {o} conceded fewer goals than the {r}.",
            ),
        ),
        (
            "The {r} had {v} players who were injured.",
            "The {r} have never changed their coach.",
            "The {r} won {v} matches the season before.",
            "The {r} were founded {v} years ago.",
        ),
    ),
    _Topic(
        "drink",
        ("Elder Fizz", "Ginger Kick", "Plum Soda", "Mint Cooler", "Berry Tonic", "Lime Splash"),
        (
            _Column(
                "kcal_per_bottle",
                "Energy per bottle (kcal)",
                ("A bottle of {r} has {v} kcal.", "There are {v} kcal in a bottle of {r}."),
                _between(10, 220),
                "A bottle of {r} has more kcal than one of {o}.",
                "A bottle of {o} has fewer kcal than one of {r}.",
            ),
            _Column(
                "sugar_g_per_bottle",
                "Sugar per bottle (g)",
                (
                    "A bottle of {r} contains {v} g of sugar.",
                    "There are {v} grams of sugar in a bottle of {r}.",
                ),
                _between(2, 60),
                "There is more sugar in a bottle of {r} than in one of {o}.",
                "A bottle of {o} contains less sugar than one of {r}.",
            ),
            _Column(
                "bottle_volume_ml",
                "Bottle volume (ml)",
                (
                    "A bottle of {r} holds {v} ml.",
                    "The bottle of {r} has a volume of {v} millilitres.",
                ),
                _between(200, 1000, 10),
                "The bottle of {r} is larger than that of {o}.",
                "The bottle of {o} holds less than that of {r}.",
            ),
            _Column(
                "price_cents_per_bottle",
                "Price per bottle (cents)",
                ("A bottle of {r} costs {v} cents.", "{r} is sold at {v} cents a bottle."),
                _between(60, 390, 5),
                "A bottle of {r} is more expensive than one of {o}.",
                "{o} costs less per bottle than {r}.",
            ),
        ),
        (
            "A bottle of {r} contains {v} mg of caffeine.",
            "{r} has been on the market for {v} years.",
            "{r} is not suitable for children.",
            "{r} is drunk more often in summer than in winter.",
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class _Table:
    """Some rows of a topic, with different numbers in every cell."""

    topic: _Topic
    columns: list[_Column]
    names: list[str]
    cells: dict[tuple[str, str], int]
    strange: str  # a row that is not in it


def _table(chance: random.Random, rows: int) -> _Table:
    topic = chance.choice(TOPICS)
    columns = chance.sample(topic.columns, chance.randint(2, len(topic.columns)))
    *names, strange = chance.sample(topic.rows, min(rows + 1, len(topic.rows)))
    cells: dict[tuple[str, str], int] = {}
    for name in names:
        for column in columns:
            value = column.draw(chance)
            while value in cells.values():
                value = column.draw(chance)
            cells[name, column.key] = value
    return _Table(topic, columns, names, cells, strange)


def _markdown(table: _Table, chance: random.Random) -> str:
    heads = [table.topic.noun.capitalize(), *(column.title for column in table.columns)]
    rule = chance.choice(("---", ":--", "-----"))
    lines = [heads, [rule] * len(heads)]
    lines += [
        [name, *(f"{table.cells[name, column.key]}" for column in table.columns)]
        for name in table.names
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _csv(table: _Table, chance: random.Random) -> str:
    comma = chance.choice((",", ";", ",", "\t"))
    lines = [[table.topic.noun, *(column.key for column in table.columns)]]
    lines += [
        [name, *(str(table.cells[name, column.key]) for column in table.columns)]
        for name in table.names
    ]
    return "\n".join(comma.join(line) for line in lines)


def _json(table: _Table, chance: random.Random) -> str:
    by_name = {
        name: {column.key: table.cells[name, column.key] for column in table.columns}
        for name in table.names
    }
    told: object = by_name
    if chance.random() < 0.6:
        told = [{table.topic.noun: name, **cells} for name, cells in by_name.items()]
    return json.dumps(told, indent=chance.choice((None, None, 2)))


def _listed(table: _Table, chance: random.Random) -> str:
    mark, colon = chance.choice((("- ", ": "), ("* ", " = "), ("", ": "), ("", " – ")))
    blocks = [
        "\n".join(
            [
                f"{table.topic.noun.capitalize()} {name}",
                *(
                    f"{mark}{column.title}{colon}{table.cells[name, column.key]}"
                    for column in table.columns
                ),
            ]
        )
        for name in table.names
    ]
    return "\n\n".join(blocks)


def _told(chance: random.Random, name: str, column: _Column, value: int) -> str:
    year = column.key == "founded"
    shown = str(value) if year or chance.random() < 0.5 else shown_number(value, chance)
    text = chance.choice(column.says).format(r=name, v=shown)
    return text[:1].upper() + text[1:]


def _claims(table: _Table, chance: random.Random, kind: str, passage: str) -> NumberCase:
    """Right cell, wrong cells of the same row and column, what is missing, comparisons."""
    name = chance.choice(table.names)
    column, beside = chance.sample(table.columns, 2)
    right = table.cells[name, column.key]
    entailed = [_told(chance, name, column, right)]
    entailed.append(_told(chance, name, beside, table.cells[name, beside.key]))
    contradicted = [_told(chance, name, column, table.cells[name, beside.key])]
    missing = chance.choice(table.topic.missing)
    small = sorted(table.cells.values())[:2]
    baseless = [
        missing.format(r=name, v=chance.choice(small)),
        _told(chance, table.strange, column, right),
    ]
    absent = [one for one in table.topic.columns if one not in table.columns]
    if absent:
        other = chance.choice(absent)
        seen = other.draw(chance) if other.key == "founded" or chance.random() < 0.5 else right
        baseless.append(_told(chance, name, other, seen))
    if len(table.names) > 1:
        rival = chance.choice([one for one in table.names if one != name])
        contradicted.append(_told(chance, name, column, table.cells[rival, column.key]))
        more, less = sorted((name, rival), key=lambda one: -table.cells[one, column.key])
        told = chance.choice((column.more, column.less))
        entailed.append(told.format(r=more, o=less))
        contradicted.append(chance.choice((column.more, column.less)).format(r=less, o=more))
        baseless.append(column.more.format(r=table.strange, o=rival))
        same = f"“{column.title}” is the same for {name} and {rival}."
        contradicted.append(same)
        entailed.append(same.replace("the same", "not the same"))
        ranked = sorted(table.names, key=lambda one: table.cells[one, column.key])
        words = f"Of the {table.topic.noun}s listed, {{}} has the {{}} value of “{column.title}”."
        entailed.append(
            words.format(*chance.choice(((ranked[0], "lowest"), (ranked[-1], "highest"))))
        )
        wrong = ((ranked[0], "highest"), (ranked[-1], "lowest"))
        contradicted.append(words.format(*chance.choice(wrong)))
    else:
        wrong_value = column.draw(chance)
        while wrong_value == right:
            wrong_value = column.draw(chance)
        contradicted.append(_told(chance, name, column, wrong_value))
    most = chance.randint(2, 4)
    return NumberCase(
        kind,
        passage,
        _some(chance, entailed, most),
        _some(chance, contradicted, most),
        _some(chance, baseless, chance.randint(1, 3)),
    )


def _some(chance: random.Random, claims: list[str], most: int) -> tuple[str, ...]:
    known = list(dict.fromkeys(one[:1].upper() + one[1:] for one in claims))
    return tuple(chance.sample(known, min(most, len(known))))


def _family(
    kind: str, write: Callable[[_Table, random.Random], str], fewest: int, most: int
) -> Family:
    def family(chance: random.Random) -> NumberCase:
        table = _table(chance, chance.randint(fewest, most))
        return _claims(table, chance, kind, write(table, chance))

    return family


TABLE_FAMILIES: tuple[Family, ...] = (
    _family("Markdown table", _markdown, 2, 5),
    _family("Markdown table", _markdown, 3, 6),
    _family("CSV lines", _csv, 2, 5),
    _family("JSON records", _json, 2, 4),
    _family("JSON object", _json, 1, 1),
    _family("list of keys and values", _listed, 1, 1),
    _family("lists of keys and values", _listed, 2, 3),
)
