"""Made cases on rules and identifiers: limits, leave, ages, shares of what, versions, order."""

from __future__ import annotations

import random

from written.number_words import PEOPLE, Family, Money, NumberCase, build, currency, two

_LIMITS = (
    ("passenger", "may check in", "bag|bags", "may carry on"),
    ("member", "may borrow", "book|books", "may reserve"),
    ("user", "may upload", "file|files", "may download"),
    ("household", "may put out", "bin|bins", "may buy"),
    ("customer", "may buy", "ticket|tickets", "may return"),
    ("account", "may invite", "guest|guests", "may block"),
)


def _limit(chance: random.Random) -> NumberCase:
    """A limit on how many one may."""
    who, may, noun, other = chance.choice(_LIMITS)
    number = chance.randint(2, 12)
    thing = "{n:" + noun + "}"
    more, fewer, far = (thing.replace("{n:", "{" + name + ":") for name in ("more", "fewer", "far"))
    return build(
        chance,
        "limit",
        [
            f"Each {who} {may} up to {thing}.",
            f"Each {who} {may} at most {thing}.",
            f"A {who} {may} {thing}, but no more than that.",
            f"No {who} {may} more than {thing}; anything up to that is fine.",
        ],
        [
            f"A {who} {may} {thing}.",
            f"It is not allowed for a {who} to go beyond the limit: nobody {may} {more}.",
            f"A {who} {may} {fewer}.",
            f"No {who} {may} as many as {far}.",
            f"The limit for a {who} is {thing}, not {more}.",
        ],
        [
            f"A {who} {may} {more}.",
            f"A {who} {may} up to {far}.",
            f"No {who} {may} as many as {thing}.",
            f"The limit for a {who} is {fewer}.",
            f"A {who} {may} any number of them without a limit: even {far} are fine.",
            f"A {who} {may} at most {fewer}.",
        ],
        [
            f"Each {who} {other} {thing}.",
            f"Most of them do not use the limit: a {who} usually has {fewer}.",
            f"Last year, a {who} {may.replace('may', 'could')} {more}.",
        ],
        n=number,
        more=number + 1,
        fewer=number - 1,
        far=number * chance.choice((2, 3)),
    )


def _codes(chance: random.Random) -> NumberCase:
    """Rooms, floors, gates, extensions."""
    one, another, third = chance.sample(
        ("the maths exam", "the yoga class", "the board meeting", "the workshop",
         "the job interview", "the book club", "the language test", "the blood donation"), 3
    )  # fmt: skip
    a, b, c = chance.sample(range(101, 620), 3)
    low, high = two(chance, 1, 9)
    return build(
        chance,
        "room numbers",
        [
            "{one} is in room {a:d} on floor {f:d}, {another} in room {b:d} on floor {g:d}.",
            "{one}: room {a:d}, floor {f:d}. {another}: room {b:d}, floor {g:d}.",
            "{another} takes place in room {b:d} (floor {g:d}), {one} in room {a:d} (floor {f:d}).",
        ],
        [
            "Room {a:d} is where {one} is.",
            "{another} is in room {b:d}.",
            "{another} is on a higher floor than {one}.",
            "{one} and {another} are not on the same floor.",
            "To get to {one} one has to go to floor {f:d}.",
        ],
        [
            "Room {b:d} is where {one} is.",
            "{another} is in room {a:d}.",
            "{one} is on a higher floor than {another}.",
            "{one} and {another} are on the same floor.",
            "{one} is in room {c:d}.",
            "{another} is not on floor {g:d}.",
        ],
        [
            "{third} is in room {a:d}.",
            "{one} starts before {another}.",
            "There are {b:d} people in {another}.",
            "{one} used to be in room {b:d}.",
            "{third} is not on floor {f:d}.",
        ],
        one=one,
        another=another,
        third=third,
        a=a,
        b=b,
        c=c,
        f=low,
        g=high,
    )


_FIRMS = ("the company", "the agency", "the clinic", "the institute", "the plant")


def _leave(chance: random.Random) -> NumberCase:
    """Days of leave for two groups and two kinds."""
    firm = chance.choice(_FIRMS)
    one, another, third = chance.sample(
        (
            "full-time employees",
            "trainees",
            "shift workers",
            "apprentices",
            "interns",
            "team leads",
        ),
        3,
    )
    kind, other = chance.sample(("annual leave", "study leave", "parental leave", "care leave"), 2)
    unit = chance.choice(("days", "days", "weeks"))
    wrong = "weeks" if unit == "days" else "days"
    low, high = two(chance, 3, 35)
    return build(
        chance,
        "leave rules",
        [
            "At {firm}, {a} get exactly {n} {unit} of {kind} per year, {b} get {m} {unit}.",
            "{kind} at {firm}: {n} {unit} a year for {a}, {m} {unit} a year for {b}.",
            "Every year, {firm} grants {b} {m} {unit} of {kind}. For {a} it is {n} {unit}.",
        ],
        [
            "At {firm}, {a} are entitled to {n} {unit} of {kind} per year.",
            "{b} at {firm} have {m} {unit} of {kind} per year.",
            "At {firm}, {b} get less {kind} than {a}.",
            "{a} at {firm} get {diff} {unit} of {kind} a year more than {b}.",
            "At {firm}, {b} do not get as much {kind} as {a}.",
        ],
        [
            "At {firm}, {a} are entitled to {m} {unit} of {kind} per year.",
            "{b} at {firm} have {n} {unit} of {kind} per year.",
            "At {firm}, {a} get less {kind} than {b}.",
            "At {firm}, {a} get {n} {wrong} of {kind} per year.",
            "{b} at {firm} are not entitled to any {kind}.",
            "{a} and {b} at {firm} get the same amount of {kind}.",
            "At {firm}, {b} get {m} {unit} of {kind} per month.",
        ],
        [
            "At {firm}, {c} get {n} {unit} of {kind} per year.",
            "{a} at {firm} get {m} {unit} of {other} per year.",
            "Unused {kind} at {firm} is not paid out.",
            "{a} at {firm} have to ask for {kind} {m} {unit} in advance.",
        ],
        firm=firm,
        a=one,
        b=another,
        c=third,
        kind=kind,
        other=other,
        unit=unit,
        wrong=wrong,
        n=high,
        m=low,
        diff=high - low,
    )


def _age_limit(chance: random.Random) -> NumberCase:
    """From some age on, or up to one."""
    what, other = chance.sample(
        ("the climbing wall", "the water slide", "the go-kart track", "the diving course",
         "the night tour", "the sauna", "the chess camp", "the ropes course"), 2
    )  # fmt: skip
    low, high = two(chance, 8, 70)
    while high - low < 5:
        low, high = two(chance, 8, 70)
    return build(
        chance,
        "age limits",
        [
            "{what} is open to everyone aged {low} to {high}, and to nobody else.",
            "Only people who are at least {low} and at most {high} years old may use {what}; all "
            "of them may.",
            "{what}: minimum age {low}, maximum age {high}. There are no other conditions.",
        ],
        [
            "A person of {mid} may use {what}.",
            "A person of {young} may not use {what}.",
            "A person of {old} is too old for {what}.",
            "One must be {low} or older for {what}.",
            "{what} is not open to a person of {old}.",
            "Nobody under {low} may use {what}.",
        ],
        [
            "A person of {mid} may not use {what}.",
            "A person of {young} may use {what}.",
            "A person of {old} is not too old for {what}.",
            "One must be {high} or older for {what}.",
            "{what} is open to a person of {old}.",
            "There is no age limit for {what}.",
            "The minimum age for {what} is {high}.",
        ],
        [
            "A person of {mid} may use {other}.",
            "{other} is not open to a person of {old}.",
            "Most people who use {what} are {mid} or older.",
            "The minimum age for {what} used to be {young}.",
        ],
        what=what,
        other=other,
        low=low,
        high=high,
        mid=chance.randint(low + 1, high - 1),
        young=low - chance.randint(1, 4),
        old=high + chance.randint(1, 9),
    )


def _percent_of_what(chance: random.Random) -> NumberCase:
    """Two shares of two groups."""
    did, other = chance.sample(
        ("own a car", "read a newspaper", "play an instrument", "speak a second language",
         "do sports", "shop online", "have a garden"), 2
    )  # fmt: skip
    one, another, third = chance.sample(
        ("men", "women", "children", "pensioners", "students", "farmers", "commuters"), 3
    )
    low, high = two(chance, 5, 95)
    while high == 50:
        low, high = two(chance, 5, 95)
    place = chance.choice(("in the region", "in the survey", "in the district"))
    return build(
        chance,
        "percent of what",
        [
            "{place}, {p:d}% of the {a} {did}, but only {q:d}% of the {b}.",
            "{p} percent of the {a} and {q} percent of the {b} {place} {did}.",
            "Share of those {place} who {did}: {a} {p:d}%, {b} {q:d}%.",
        ],
        [
            "{place}, {q:d}% of the {b} {did}.",
            "{p} percent of the {a} {place} {did}.",
            "{place}, the share of those who {did} is higher among the {a} than among the {b}.",
            "Not all of the {a} {place} {did}.",
            "Of the {b} {place}, {rest:d}% do not {did}.",
        ],
        [
            "{place}, {p:d}% of the {b} {did}.",
            "{q} percent of the {a} {place} {did}.",
            "{place}, the share of those who {did} is higher among the {b} than among the {a}.",
            "None of the {b} {place} {did}.",
            "All of the {a} {place} {did}.",
            "Of the {a} {place}, {p:d}% do not {did}.",
        ],
        [
            "{p:d}% of those {place} who {did} are {a}.",
            "{place}, {q:d}% of the {b} {other}.",
            "{place}, {p:d}% of the {c} {did}.",
            "{place}, {q} {b} {did}.",
            "{place}, more {a} than {b} {did}, counted in heads.",
        ],
        did=did,
        other=other,
        place=place,
        a=one,
        b=another,
        c=third,
        p=high,
        q=low,
        rest=100 - low,
    )


_APPS = ("Cobalt", "Lattice", "Parcelo", "Driftnote", "Mapwise", "Quarry", "Tidewater", "Inkwell")


def _version(chance: random.Random) -> NumberCase:
    """The newest version and the oldest one that is supported."""
    app, other = chance.sample(_APPS, 2)
    old, new = two(chance, 2, 15)
    minor, patch = chance.randint(1, 9), chance.randint(1, 19)
    a, b = f"{new}.{minor}.{patch}", f"{old}.{patch}"
    return build(
        chance,
        "version numbers",
        [
            "The latest version of {app} is {a}. All versions from {b} on are supported, older "
            "ones are not.",
            "{app} {a} is the newest release; the oldest release still supported is {b}.",
            "{app} – current version: {a}, minimum supported version: {b}.",
        ],
        [
            "The newest version of {app} is {a}.",
            "{b} is the oldest version of {app} that is supported.",
            "{app} {b} is older than {app} {a}.",
            "Version {older}.0 of {app} is not supported.",
            "{app} {b} is not the latest version.",
        ],
        [
            "The newest version of {app} is {b}.",
            "{a} is the oldest version of {app} that is supported.",
            "{app} {a} is older than {app} {b}.",
            "Version {older}.0 of {app} is supported.",
            "{app} {a} is not the latest version.",
            "The newest version of {app} is {newer}.{minor}.",
        ],
        [
            "The newest version of {other} is {a}.",
            "{app} {a} needs {old} GB of memory.",
            "{app} {a} has {new} bugs fewer than {app} {b}.",
            "{other} {b} is not supported.",
            "Most users have not installed {app} {a} yet.",
        ],
        app=app,
        other=other,
        a=a,
        b=b,
        older=str(old - 1),
        newer=str(new + 1),
        minor=str(minor),
        old=old,
        new=new,
    )


def _contact(chance: random.Random) -> NumberCase:
    """Phone extensions and who answers them."""
    who, another, third = chance.sample(PEOPLE, 3)
    one, two_, other = chance.sample(
        ("sales", "repairs", "billing", "returns", "bookings", "deliveries"), 3
    )
    first, second, strange = chance.sample(range(1000, 9999), 3)
    return build(
        chance,
        "phone numbers",
        [
            "For {a}, call {x} on extension {p:d}; for {b}, call {y} on extension {q:d}.",
            "{a}: {x}, ext. {p:d}. {b}: {y}, ext. {q:d}.",
            "{x} answers questions on {a} (extension {p:d}), {y} those on {b} (extension {q:d}).",
        ],
        [
            "The extension of {x} is {p:d}.",
            "Questions on {b} are answered on extension {q:d}.",
            "Under extension {q:d} one reaches {y}.",
            "{y} takes calls on {b}.",
            "The extension for {a} is not {q:d} but {p:d}.",
        ],
        [
            "The extension of {x} is {q:d}.",
            "Questions on {b} are answered on extension {p:d}.",
            "Under extension {q:d} one reaches {x}.",
            "The extension for {a} is {s:d}.",
            "The extension for {a} is not {p:d} but {q:d}.",
        ],
        [
            "Questions on {c} are answered on extension {p:d}.",
            "The extension of {z} is {s:d}.",
            "{x} used to have extension {q:d}.",
            "{y} does not answer calls in the evening.",
            "{x} has worked longer for the firm than {y}.",
        ],
        a=one,
        b=two_,
        c=other,
        x=who,
        y=another,
        z=third,
        p=first,
        q=second,
        s=strange,
    )


def _order(chance: random.Random) -> NumberCase:
    """What came first, by the years; decades and centuries."""
    one, another, third = chance.sample(
        ("the harbour", "the railway station", "the power plant", "the university",
         "the town theatre", "the tram line", "the waterworks", "the observatory"), 3
    )  # fmt: skip
    first, last = two(chance, 1801, 1999)
    while last // 10 == first // 10 or 0 in (first % 100, last % 100):
        first, last = two(chance, 1801, 1999)
    return build(
        chance,
        "order of years",
        [
            "{a} was built in {x:d} and {b} in {y:d}.",
            "{b} dates from {y:d}, {a} from {x:d}.",
            "Timeline: {x:d} – {a} is built. {y:d} – {b} is built.",
        ],
        [
            "{a} was built before {b}.",
            "{b} is younger than {a}.",
            "{a} was built in the {dx:d}s.",
            "{b} was built in the {cy:o} century.",
            "{b} was not the first of the two to be built.",
            "When {b} was built, {a} was already there.",
        ],
        [
            "{b} was built before {a}.",
            "{a} is younger than {b}.",
            "{a} was built in the {dy:d}s.",
            "{b} was built in the {wrong:o} century.",
            "{a} and {b} were built in the same year.",
            "{a} was built in {y:d}.",
        ],
        [
            "{c} was built in {x:d}.",
            "{a} cost more than {b}.",
            "{b} was rebuilt after a fire.",
            "{a} was planned long before {x:d}.",
            "{c} is not as old as {a}.",
        ],
        a=one,
        b=another,
        c=third,
        x=first,
        y=last,
        dx=first // 10 * 10,
        dy=last // 10 * 10,
        cy=last // 100 + 1,
        wrong=last // 100 + chance.choice((0, 2)),
    )


def _free(chance: random.Random) -> NumberCase:
    """Free of charge, at no cost, 0."""
    free, paid, other = chance.sample(
        (
            "breakfast",
            "parking",
            "wifi",
            "the sauna",
            "late check-out",
            "the shuttle bus",
            "a baby cot",
        ),
        3,
    )
    place = currency(chance)
    hotel = chance.choice(("our hotel", "the guest house", "the lodge", "the hostel"))
    zero = chance.choice(("free of charge", "free", "at no extra cost", "included in the price"))
    return build(
        chance,
        "free and paid",
        [
            "At {hotel}, {free} is {zero}, while {paid} costs {p} per day.",
            "{hotel} charges {p} per day for {paid}; {free} is {zero}.",
            "Extras per day at {hotel} – {free}: {nothing:d}, {paid}: {p}.",
        ],
        [
            "At {hotel}, guests pay nothing for {free}.",
            "At {hotel}, {free} does not cost anything.",
            "At {hotel}, {paid} costs {p} per day.",
            "At {hotel}, {paid} is not free.",
            "There is a charge for {paid} at {hotel}, but not for {free}.",
        ],
        [
            "At {hotel}, {free} costs {p} per day.",
            "At {hotel}, guests pay nothing for {paid}.",
            "At {hotel}, {free} is not free.",
            "There is a charge for {free} at {hotel}, but not for {paid}.",
            "At {hotel}, {paid} is free of charge.",
            "At {hotel}, {paid} costs {double} per day.",
        ],
        [
            "At {hotel}, {other} costs {p} per day.",
            "At {hotel}, {other} is free of charge.",
            "{hotel} has not always charged for {paid}.",
            "Most guests of {hotel} use {paid} although it is not free.",
        ],
        hotel=hotel,
        free=free,
        paid=paid,
        other=other,
        zero=zero,
        nothing=0,
        p=Money(chance.randint(3, 40) * 100, place),
        double=Money(chance.randint(41, 80) * 100, place),
    )


RULE_FAMILIES: tuple[Family, ...] = (
    _limit,
    _codes,
    _leave,
    _age_limit,
    _percent_of_what,
    _version,
    _contact,
    _order,
    _free,
)
