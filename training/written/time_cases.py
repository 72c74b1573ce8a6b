"""Made cases on clock times, opening hours, days, dates, years, ages and durations."""

from __future__ import annotations

import datetime
import random

from written.number_words import (
    MONTHS,
    PEOPLE,
    WEEKDAYS,
    Clock,
    Family,
    NumberCase,
    build,
    spelled,
    two,
)

_SHOPS = (
    ("the library", "the archive"),
    ("the pharmacy", "the clinic"),
    ("the museum", "the museum café"),
    ("the town hall", "the tax office"),
    ("the bakery", "the butcher's shop"),
    ("the swimming pool", "the sauna"),
    ("the bike shop", "the repair shop"),
    ("the visitor centre", "the car park"),
    ("the bank branch", "the post office"),
)


def _hours(chance: random.Random) -> NumberCase:
    """Opens and closes, at a time in any format."""
    shop, other = chance.choice(_SHOPS)
    start = chance.randint(14, 22) * 30
    end = chance.randint(30, 42) * 30
    # `7:00` could be read as 7 pm.
    within = [at for at in range(start + 30, end, 30) if at + 720 != end]
    inside = chance.choice(within)
    return build(
        chance,
        "opening hours",
        [
            "{shop} is open daily from {start} to {end}.",
            "Opening hours of {shop}: every day, {start} to {end}.",
            "{shop} opens at {start} and closes at {end}, seven days a week.",
            "Every day, {shop} opens its doors at {start}. It stays open until {end}.",
        ],
        [
            "{shop} opens at {start}.",
            "{shop} closes at {end}.",
            "{shop} is open at {inside}.",
            "{shop} is still closed at {before}.",
            "{shop} is no longer open at {after}.",
            "{shop} is open until {end}.",
            "One can go to {shop} on a Sunday at {inside}.",
        ],
        [
            "{shop} opens at {before}.",
            "{shop} closes at {after}.",
            "{shop} opens at {end}.",
            "{shop} closes at {inside}.",
            "{shop} is not open at {inside}.",
            "{shop} is already open at {before}.",
            "{shop} is closed on Sundays.",
        ],
        [
            "{other} is open daily from {start} to {end}.",
            "{shop} is never crowded before {inside}.",
            "{other} closes at {end}.",
            "The staff of {shop} do not arrive before {before}.",
            "{shop} used to close at {after}.",
        ],
        shop=shop,
        other=other,
        start=Clock(start),
        end=Clock(end),
        inside=Clock(inside),
        before=Clock(start - chance.choice((30, 60))),
        after=Clock(end + chance.choice((30, 60, 90))),
    )


def _closed_days(chance: random.Random) -> NumberCase:
    """Days on which it is closed; other hours at the weekend."""
    shop, other = chance.choice(_SHOPS)
    start = chance.randint(14, 20) * 30
    end = chance.randint(34, 40) * 30
    late = start + chance.choice((30, 60, 90))
    early = end - chance.choice((30, 60, 120))
    closed = chance.choice(WEEKDAYS[:5])
    weekday = chance.choice([day for day in WEEKDAYS[:5] if day != closed])
    return build(
        chance,
        "closed days",
        [
            "{shop} is open from {start} to {end} on weekdays except {closed}, when it is "
            "closed. On "
            "Saturday and Sunday it is open from {late} to {early}.",
            "{shop}: weekdays {start} – {end}, weekend {late} – {early}, {closed} closed all day.",
            "On {closed}, {shop} stays closed. On all other weekdays it is open from {start} to "
            "{end}, and "
            "at the weekend from {late} to {early}.",
        ],
        [
            "{shop} is not open on {closed}.",
            "{shop} is closed on {closed}.",
            "On Sunday, {shop} opens at {late}.",
            "On {weekday}, {shop} closes at {end}.",
            "{shop} closes earlier on Saturday than on {weekday}.",
            "On {weekday}, {shop} opens at {start}.",
            "{shop} is open on six days of the week.",
        ],
        [
            "{shop} is open on {closed}.",
            "{shop} is closed on {weekday}.",
            "{shop} is closed at the weekend.",
            "On Sunday, {shop} opens at {start}.",
            "On {weekday}, {shop} opens at {late}.",
            "{shop} closes later on Saturday than on {weekday}.",
            "{shop} is not closed on any day of the week.",
        ],
        [
            "{other} is not open on {closed}.",
            "{shop} is closed on public holidays.",
            "On {closed}, {other} is open from {start} to {end}.",
            "{shop} has more visitors on Sunday than on {weekday}.",
        ],
        shop=shop,
        other=other,
        start=Clock(start),
        end=Clock(end),
        late=Clock(late),
        early=Clock(early),
        closed=closed,
        weekday=weekday,
    )


_JOURNEYS = (
    ("train", "Harwick", "Dunmore"),
    ("bus", "Old Mill", "Airport North"),
    ("ferry", "Port Ellis", "Sand Island"),
    ("flight", "Tarnow", "Calder"),
    ("night coach", "Redcliff", "Westmere"),
    ("tram", "Central Station", "Lakeside"),
)


def _timetable(chance: random.Random) -> NumberCase:
    """Departure, arrival, duration."""
    what, start, end = chance.choice(_JOURNEYS)
    if chance.random() < 0.5:
        start, end = end, start
    leaves = chance.randint(74, 200) * 5
    hours = chance.choice((1, 2, 3))
    minutes = chance.choice((0, 0, 15, 20, 30, 45))
    arrives = leaves + hours * 60 + minutes
    long = f"{spelled(hours)} hour{'s' * (hours > 1)}" + (
        f" and {minutes} minutes" if minutes else ""
    )
    wrong = f"{spelled(hours + 1)} hours" + (f" and {minutes} minutes" if minutes else "")
    number = chance.randint(3, 99) * 10 + chance.randint(1, 9)
    return build(
        chance,
        "departure and arrival",
        [
            "The {what} {nr:d} leaves {a} at {t} and arrives in {b} at {u}.",
            "{what} {nr:d}: departure {a} {t}, arrival {b} {u}, non-stop.",
            "At {t} the {what} {nr:d} departs from {a}; it reaches {b} {long} later, at {u}.",
        ],
        [
            "The {what} {nr:d} gets to {b} at {u}.",
            "The {what} {nr:d} leaves {a} at {t}.",
            "The {what} {nr:d} goes from {a} to {b}.",
            "The journey of the {what} {nr:d} from {a} to {b} takes {long}.",
            "The {what} {nr:d} does not get to {b} before {u}.",
            "The {what} {nr:d} is scheduled to take {m} minutes from {a} to {b}.",
        ],
        [
            "The {what} {nr:d} gets to {b} at {t}.",
            "The {what} {nr:d} leaves {a} at {u}.",
            "The {what} {nr:d} goes from {b} to {a}.",
            "The journey of the {what} {nr:d} from {a} to {b} takes {wrong}.",
            "The {what} {nr:d} leaves {b} at {t}.",
            "The {what} {nr:d} has not yet left {a} at {u}, according to the timetable.",
        ],
        [
            "The {what} back leaves {b} at {u}.",
            "The {what} {nr:d} is never late.",
            "The next {what} leaves {a} {long} later.",
            "There are {nr:d} seats in the {what}.",
            "The {what} {nr:d} leaves from platform {hours:d}.",
        ],
        what=what,
        nr=number,
        a=start,
        b=end,
        t=Clock(leaves),
        u=Clock(arrives),
        m=arrives - leaves,
        long=long,
        wrong=wrong,
        hours=hours,
    )


_MEETINGS = (
    "workshop",
    "lecture",
    "training session",
    "concert",
    "panel discussion",
    "exam",
    "rehearsal",
)


def _start_and_length(chance: random.Random) -> NumberCase:
    """When it starts and how long it lasts give the end."""
    what, other = chance.sample(_MEETINGS, 2)
    start = chance.randint(17, 38) * 30
    length = chance.choice((45, 60, 90, 120, 150))
    shown = {45: "45 minutes", 60: "one hour", 90: "an hour and a half", 120: "two hours"}
    wrong = chance.choice([one for one in (30, 60, 90, 120, 180) if one != length])
    return build(
        chance,
        "start, length and end",
        [
            "The {what} starts at {s} and lasts exactly {long}.",
            "The {what} runs for exactly {n} minutes, starting at {s}.",
            "The {what} starts at {s} and ends at {e}.",
        ],
        [
            "The {what} ends at {e}.",
            "The {what} takes {n} minutes.",
            "The {what} takes {long}.",
            "The {what} does not start before {s}.",
            "At {after}, the {what} is already over.",
        ],
        [
            "The {what} ends at {wrong_e}.",
            "The {what} starts at {e}.",
            "The {what} takes {wrong} minutes.",
            "At {after}, the {what} is not yet over.",
            "The {what} is already over at {s}.",
        ],
        [
            "The {other} ends at {e}.",
            "The {other} takes {n} minutes.",
            "Doors open {n} minutes before the {what}.",
            "There is a break at half-time of the {what}.",
            "The {what} is not longer than the {other}.",
        ],
        what=what,
        other=other,
        s=Clock(start),
        e=Clock(start + length),
        after=Clock(start + length + chance.choice((5, 15, 30))),
        wrong_e=Clock(start + wrong),
        n=length,
        wrong=wrong,
        long=shown.get(length, "two and a half hours"),
    )


def _interval(chance: random.Random) -> NumberCase:
    """Every so many minutes."""
    every = chance.choice((5, 10, 15, 20, 30))
    wrong = chance.choice([one for one in (5, 10, 15, 20, 30) if one != every])
    line, other = chance.sample(range(1, 60), 2)
    what = chance.choice(("bus", "tram", "shuttle", "ferry"))
    return build(
        chance,
        "every so many minutes",
        [
            "During the day, {what} {l:d} runs exactly every {n} minutes; at night it does not "
            "run.",
            "{what} {l:d}: one departure every {n} minutes in the daytime, none at night.",
            "In the daytime there is a {what} {l:d} every {n} minutes, that is {per} times an "
            "hour. At "
            "night there is none.",
        ],
        [
            "{what} {l:d} leaves {per} times an hour during the day.",
            "In the daytime one never has to wait longer than {n} minutes for {what} {l:d} if it "
            "is on time.",
            "There are {per} departures of {what} {l:d} in each hour of the day service.",
            "At night, {what} {l:d} does not operate.",
        ],
        [
            "{what} {l:d} leaves {wrong_per} times an hour during the day.",
            "{what} {l:d} leaves every {wrong} minutes during the day.",
            "At night, {what} {l:d} runs every {n} minutes.",
            "{what} {l:d} leaves {n} times an hour during the day.",
            "{what} {l:d} runs day and night.",
        ],
        [
            "{what} {k:d} leaves every {n} minutes during the day.",
            "{what} {l:d} takes {n} minutes to the terminus.",
            "{what} {l:d} has {per} stops.",
            "{what} {l:d} is never more than {per} minutes late.",
        ],
        what=what,
        l=line,
        k=other,
        n=every,
        per=60 // every,
        wrong=wrong,
        wrong_per=60 // wrong,
    )


_FIRMS = (
    "the bakery",
    "the orchestra",
    "the sawmill",
    "the newspaper",
    "the brewery",
    "the theatre",
)


def _lifetime(chance: random.Random) -> NumberCase:
    """Years of founding and closing."""
    firm, other = chance.sample(_FIRMS, 2)
    first, last = two(chance, 1890, 2015)
    while last - first < 4:
        first, last = two(chance, 1890, 2015)
    return build(
        chance,
        "years and durations",
        [
            "{firm} was founded in {a:d} and closed in {b:d}.",
            "Founded in {a:d}, {firm} existed until {b:d}.",
            "From {a:d}, when it was founded, until it closed in {b:d}, {firm} was widely known.",
        ],
        [
            "{firm} existed for about {n} years.",
            "{firm} was closed in {b:d}.",
            "{firm} came into being in {a:d}.",
            "{firm} already existed in {mid:d}.",
            "{firm} did not exist in {late:d} any more.",
            "In {early:d}, {firm} did not exist yet.",
        ],
        [
            "{firm} existed for about {wrong} years.",
            "{firm} was founded in {b:d} and closed in {a:d}.",
            "{firm} was closed in {a:d}.",
            "{firm} did not exist in {mid:d}.",
            "{firm} was founded after {mid:d}.",
            "{firm} still existed in {late:d}.",
        ],
        [
            "{other} was founded in {a:d}.",
            "{firm} was sold in {mid:d}.",
            "{firm} had {n} employees.",
            "{firm} was not closed for lack of money.",
            "{other} was already closed in {b:d}.",
        ],
        firm=firm,
        other=other,
        a=first,
        b=last,
        n=last - first,
        wrong=(last - first) * 2 + 5,
        mid=chance.randint(first + 1, last - 1),
        late=last + chance.randint(2, 8),
        early=first - chance.randint(1, 20),
    )


def _age(chance: random.Random) -> NumberCase:
    """An age from birth and a later event; months tell whether the birthday was before."""
    who, other = chance.sample(PEOPLE, 2)
    birth, later = (MONTHS[at] for at in two(chance, 0, 11))
    year = chance.randint(1930, 1985)
    age = chance.randint(19, 38)
    did = chance.choice(
        (
            "opened a restaurant",
            "moved to the coast",
            "won the regional prize",
            "joined the navy",
            "got married",
        )
    )
    return build(
        chance,
        "age",
        [
            "{who} was born in {birth} {y:d} and {did} in {later} {z:d}.",
            "{who} {did} in {later} {z:d}, at the age of {n}.",
            "{who}, born in {birth} {y:d}, {did} in {later} {z:d}, aged {n}.",
        ],
        [
            "{who} {did} {n} years after being born.",
            "{who} {did} after turning {young}.",
            "At {n}, {who} {did}.",
            "{who} {did} before turning {old}.",
        ],
        [
            "{who} {did} only after turning {old}.",
            "{who} {did} before turning {young}.",
            "At {old}, {who} {did}.",
            "{who} {did} in {z:d}, at the age of {young}.",
        ],
        [
            "{other} was {n} years old in {z:d}.",
            "{who} had made the plan at the age of {young}.",
            "{other} {did} in {z:d}.",
            "{who} and {other} are of the same age.",
            "{who} {did}, but not alone.",
        ],
        who=who,
        other=other,
        did=did,
        birth=birth,
        later=later,
        y=year,
        z=year + age,
        n=age,
        young=age - chance.randint(1, 8),
        old=age + chance.randint(1, 9),
    )


_ACTS = (
    ("the contract", "was signed", "was drafted"),
    ("the bridge", "was opened", "was inspected"),
    ("the report", "was published", "was commissioned"),
    ("the invoice", "was paid", "was disputed"),
    ("version 4", "was released", "was announced"),
    ("the satellite", "was launched", "was insured"),
    ("the law", "came into force", "was amended"),
    ("the warranty", "ends", "was extended"),
)


def _date(chance: random.Random) -> NumberCase:
    """One date in several formats; before and after."""
    what, did, other = chance.choice(_ACTS)
    day = datetime.date(chance.randint(1990, 2026), chance.randint(1, 12), chance.randint(1, 28))
    shift = datetime.timedelta(days=chance.choice((1, 7, 30, 100, 365)))
    next_month = day.replace(month=day.month % 12 + 1)
    return build(
        chance,
        "date formats",
        [
            "{what} {did} on {day}.",
            "{day}: {what} {did}.",
            "According to the file, {what} {did} on {day}.",
        ],
        [
            "{what} {did} on {day}.",
            "{what} {did} in {month} {year:d}.",
            "The year in which {what} {did} is {year:d}.",
            "{what} {did} after {before}.",
            "{what} {did} before {after}.",
            "{what} {did} on a date that is not later than {day}.",
        ],
        [
            "{what} {did} on {after}.",
            "{what} {did} on {next}.",
            "{what} {did} in {wrong} {year:d}.",
            "{what} {did} before {before}.",
            "{what} {did} after {after}.",
            "{what} {did} in {month} {wrong_year:d}.",
        ],
        [
            "{what} {other} on {day}.",
            "{what} {other} in {month} {year:d}.",
            "Few people knew that {what} {did} on {day}.",
            "{what} {other} before {before}.",
        ],
        what=what,
        did=did,
        other=other,
        day=day,
        before=day - shift,
        after=day + shift,
        next=next_month,
        month=MONTHS[day.month - 1],
        wrong=MONTHS[next_month.month - 1],
        year=day.year,
        wrong_year=day.year + chance.choice((-10, -1, 1, 2)),
    )


TIME_FAMILIES: tuple[Family, ...] = (
    _hours,
    _closed_days,
    _timetable,
    _start_and_length,
    _interval,
    _lifetime,
    _age,
    _date,
)
