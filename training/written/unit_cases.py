"""Made cases on units: conversions, the same number of another unit, doses, recipes, limits."""

from __future__ import annotations

import random

from written.number_words import Family, Money, NumberCase, build, two

# Subject and verb, the larger unit, the smaller unit, how many of these it is, fitting amounts.
_CONVERSIONS = (
    ("the shelf is", "m wide", "cm wide", 100, (3, 4)),
    ("the cable is", "metres long", "centimetres long", 100, (3, 5, 8, 10, 12, 15, 20)),
    ("the trail is", "km long", "m long", 1000, (3, 4, 5, 6, 7, 8, 9, 11, 12, 14, 17)),
    ("the bridge is", "kilometres long", "metres long", 1000, (3, 4, 5, 6)),
    ("the screw is", "cm long", "mm long", 10, (3, 4, 5, 6, 7, 8, 9, 12)),
    ("the parcel weighs", "kg", "g", 1000, (3, 4, 5, 6, 7, 8, 9, 12, 15)),
    ("the bag of flour weighs", "kilograms", "grams", 1000, (3, 5, 10, 20, 25)),
    ("the truck weighs", "tonnes", "kg", 1000, (3, 5, 7, 9, 12, 14, 18, 22)),
    ("the bottle holds", "litres", "millilitres", 1000, (3, 5)),
    ("the jug holds", "l", "ml", 1000, (3, 4)),
    ("the film lasts", "hours", "minutes", 60, (3, 4)),
    ("the exam lasts", "hours", "minutes", 60, (3, 4, 5)),
    ("the warm-up takes", "minutes", "seconds", 60, (3, 4, 5, 6, 8, 10, 12)),
    ("the battery lasts", "days", "hours", 24, (3, 4, 5, 6, 7, 10)),
    ("the course lasts", "weeks", "days", 7, (3, 4, 5, 6, 8, 9, 10, 12)),
    ("the trial period is", "weeks", "days", 7, (3, 4, 6, 8)),
    ("the contract runs for", "years", "months", 12, (3, 4, 5, 6, 8, 10)),
    ("the guarantee is valid for", "years", "months", 12, (3, 4, 5, 7, 10, 15)),
    ("the motor has a power of", "kW", "W", 1000, (3, 4, 5, 7, 11)),
)


def _conversion(chance: random.Random) -> NumberCase:
    """The same amount in another unit, which holds or does not."""
    subject, large, small, factor, amounts = chance.choice(_CONVERSIONS)
    amount = chance.choice(amounts)
    wrong = chance.choice([one for one in (10, 12, 24, 60, 100, 1000) if one != factor])
    return build(
        chance,
        "conversion of units",
        [
            "{subject} {n} {large}.",
            "{subject} {m} {small}.",
            "{subject} exactly {n} {large}, as the label says.",
            "We measured it again: {subject} {m} {small}.",
        ],
        [
            "{subject} {m} {small}.",
            "{subject} {n} {large}.",
            "{subject} {over} {less_n} {large}.",
            "{subject} {less} {more_m} {small}.",
            "{subject} exactly {n} {large}, no more.",
        ],
        [
            "{subject} {n} {small}.",
            "{subject} {m} {large}.",
            "{subject} {wrong} {small}.",
            "{subject} {over} {more_m} {small}.",
            "{subject} {over} {more_n} {large}.",
            "{subject} {less} {less_n} {large}.",
        ],
        [
            "{subject} {n} {large}, which is more than before.",
            "Nobody had expected that {subject} {m} {small}.",
            "Most people do not know that {subject} {n} {large}.",
            "It was not always so, but today {subject} {m} {small}.",
            "{subject} {n} {large}, and no rival offers more.",
        ],
        subject=subject,
        large=large,
        small=small,
        n=amount,
        m=amount * factor,
        wrong=amount * wrong,
        less_n=amount - 1,
        more_n=amount + 1,
        more_m=amount * factor + factor // 2,
    )


_UNITS = (
    ("the notice period is", ("days", "weeks", "months"), "the trial period is"),
    ("the delivery time is", ("hours", "days", "weeks"), "the time for a refund is"),
    (
        "the warranty is valid for",
        ("weeks", "months", "years"),
        "the battery warranty is valid for",
    ),
    ("the phone has a storage of", ("MB", "GB", "TB"), "the tablet has a storage of"),
    ("the data volume of the plan is", ("MB", "GB"), "the data volume of the family plan is"),
    ("the fine is", ("cents", "dollars", "thousand dollars"), "the deposit is"),
    (
        "the token is valid for",
        ("seconds", "minutes", "hours", "days"),
        "the invitation is valid for",
    ),
    ("logs are kept for", ("hours", "days", "months", "years"), "backups are kept for"),
    ("the tank holds", ("millilitres", "litres"), "the spare tank holds"),
    ("the width of the gap is", ("mm", "cm", "m"), "the width of the crack is"),
    ("the tablet contains", ("micrograms", "milligrams", "grams"), "the syrup contains"),
    ("the top speed is", ("km/h", "m/s"), "the average speed is"),
    ("the timeout is set to", ("milliseconds", "seconds", "minutes"), "the retry delay is set to"),
    ("the town has a population of", ("thousand", "million"), "the district has a population of"),
)


def _same_number(chance: random.Random) -> NumberCase:
    """The same number beside another unit, and another number beside the same unit."""
    subject, units, other = chance.choice(_UNITS)
    unit, wrong = chance.sample(units, 2)
    number, strange = chance.sample((3, 4, 5, 6, 8, 9, 10, 11, 14, 15, 16, 18, 20, 21), 2)
    longer = chance.choice(
        ("Please note that", "As stated in the terms,", "According to the leaflet,")
    )
    return build(
        chance,
        "same number, other unit",
        [
            "{subject} {n} {unit}.",
            "{longer} {subject} {n} {unit}.",
            "{subject} {n} {unit}, not {k} {unit} as before.",
            "{subject} {n} {unit} (it used to be {n} {wrong}).",
        ],
        [
            "{subject} {n} {unit}.",
            "{subject} {n:w} {unit}.",
            "{subject} {n:d} {unit}, not {n:d} {wrong}.",
            "{subject} {less} {more} {unit}.",
            "{subject} {over} {fewer} {unit}.",
        ],
        [
            "{subject} {n} {wrong}.",
            "{subject} {k} {unit}.",
            "{subject} {n:w} {wrong}.",
            "{subject} {n:d} {wrong}, not {n:d} {unit}.",
            "{subject} {over} {more} {unit}.",
            "{subject} {less} {fewer} {unit}.",
        ],
        [
            "{other} {n} {unit}.",
            "{other} {n} {wrong}.",
            "{other} {k} {unit}.",
            "{other} {over} {n} {unit}.",
        ],
        subject=subject,
        other=other,
        longer=longer,
        unit=unit,
        wrong=wrong,
        n=number,
        k=strange,
        fewer=number - 1,
        more=number + 1,
    )


_DRUGS = (
    "Veltamine",
    "Dorapin",
    "Lumexil",
    "Cortavan",
    "Panterol",
    "Zelinor",
    "Mirafen",
    "Okladin",
)


def _dose(chance: random.Random) -> NumberCase:
    """A dose of a made-up medicine, by day."""
    drug, other = chance.sample(_DRUGS, 2)
    times = chance.choice((2, 3, 4))
    every = 24 // times
    adult, child = (value * 10 for value in reversed(two(chance, 5, 80)))
    return build(
        chance,
        "dose",
        [
            "Adults take exactly {adult:d} mg of {drug} {times:x} a day. Children take "
            "{child:d} mg {times:x} a day.",
            "{drug}: adults {adult:d} mg every {every:d} hours, children {child:d} mg every "
            "{every:d} hours.",
            "The dose of {drug}, taken every {every} hours, is {adult:d} mg for adults and "
            "{child:d} mg for children.",
        ],
        [
            "A single dose of {drug} is {adult:d} mg for adults.",
            "A single dose of {drug} is {child:d} mg for children.",
            "In a day an adult takes {day:d} mg of {drug} in total.",
            "{drug} is taken {times:x} a day.",
            "Children take less {drug} than adults.",
            "The dose of {drug} is not the same for adults and children.",
        ],
        [
            "A single dose of {drug} is {child:d} mg for adults.",
            "A single dose of {drug} is {adult:d} mg for children.",
            "In a day an adult takes {adult:d} mg of {drug} in total.",
            "{drug} is taken {wrong:x} a day.",
            "Children take more {drug} than adults.",
            "Adults take {adult:d} g of {drug} as a single dose.",
            "Children must not take any {drug}.",
        ],
        [
            "A single dose of {other} is {adult:d} mg for adults.",
            "{drug} should be taken with food.",
            "{drug} works within {every} hours.",
            "A pack of {drug} contains {adult} tablets.",
            "{drug} is not taken for longer than {every} days.",
        ],
        drug=drug,
        other=other,
        times=times,
        wrong=times + chance.choice((-1, 1, 2)),
        every=every,
        adult=adult,
        child=child,
        day=adult * times,
    )


_DISHES = (
    ("pancakes", "g of flour", "ml of milk", "eggs", "sugar"),
    ("the lentil soup", "g of lentils", "ml of stock", "carrots", "cumin"),
    ("the risotto", "g of rice", "ml of broth", "shallots", "butter"),
    ("the curry", "g of chickpeas", "ml of coconut milk", "tomatoes", "ginger"),
    ("the dough", "g of flour", "ml of water", "eggs", "salt"),
)


def _recipe(chance: random.Random) -> NumberCase:
    """Amounts of a recipe, for so many people."""
    dish, first, second, third, other = chance.choice(_DISHES)
    a, b = chance.sample(range(100, 1000, 50), 2)
    count, people = chance.sample((2, 3, 4, 5, 6, 8), 2)
    return build(
        chance,
        "recipe",
        [
            "For {dish} (serves {p}) you need exactly {a} {first}, {b} {second} and {c} {third}.",
            "Ingredients of {dish} for {p} people: {a:d} {first}, {b:d} {second}, {c:d} {third}.",
            "{dish}, {p} servings. Mix {a} {first} with {b} {second}, then add {c} {third}.",
        ],
        [
            "The recipe of {dish} needs {a} {first}.",
            "{b} {second} go into {dish}.",
            "The recipe of {dish} is meant for {p} people.",
            "For twice as many people, {dish} would need {aa} {first}.",
            "Half the recipe of {dish} needs {half_b} {second}.",
            "{dish} cannot be made as written without {third}.",
        ],
        [
            "The recipe of {dish} needs {b} {first}.",
            "{a} {second} go into {dish}.",
            "The recipe of {dish} is meant for {c} people.",
            "The recipe of {dish} needs {p} {third}.",
            "For twice as many people, {dish} would need {a} {first}.",
            "There are no {third} in {dish}.",
        ],
        [
            "The recipe of {dish} takes {a} minutes.",
            "It is best to eat {dish} after {p} hours.",
            "The recipe of {dish} is more than {c} generations old.",
            "There are {b} calories in a serving of {dish}.",
            "People who do not like {other} will like {dish}.",
        ],
        dish=dish,
        first=first,
        second=second,
        third=third,
        other=other,
        a=a,
        b=b,
        c=count,
        p=people,
        aa=a * 2,
        half_b=b // 2,
    )


_PACKS = (
    ("box", "boxes", "eggs"),
    ("crate", "crates", "bottles"),
    ("pack", "packs", "batteries"),
    ("carton", "cartons", "printer cartridges"),
    ("bag", "bags", "rolls"),
    ("case", "cases", "tins"),
    ("tray", "trays", "seedlings"),
)


def _packs(chance: random.Random) -> NumberCase:
    """So many packs with so many pieces; a dozen is twelve."""
    pack, packs, things = chance.choice(_PACKS)
    each = chance.choice((6, 8, 10, 12, 12, 20, 24, 36))
    count = chance.choice([one for one in range(3, 20) if one != each])
    dozens = {6: "half a dozen", 12: "a dozen", 24: "two dozen", 36: "three dozen"}
    word = dozens.get(each, str(each))
    others = chance.choice(("restaurant", "school kitchen", "workshop", "office"))
    return build(
        chance,
        "packs and pieces",
        [
            "The {who} ordered {count} {packs} of {things}. Each {pack} holds {each}.",
            "The {who} ordered {count} {packs} with {word} {things} each.",
            "Order of the {who}: {count:d} {packs}, {each:d} {things} per {pack}.",
        ],
        [
            "The {who} ordered {total} {things} in total.",
            "Each {pack} contains {word} {things}.",
            "A {pack} holds {each} {things}.",
            "The order of the {who} comes to {count} {packs}.",
            "There are not more than {each} {things} in a {pack}.",
        ],
        [
            "The {who} ordered {each} {packs} of {things}.",
            "Each {pack} contains {count} {things}.",
            "The {who} ordered only {each} {things} in total.",
            "A {pack} holds {more} {things}.",
            "There are {total} {things} in each {pack}.",
            "The {who} did not order any {things}.",
        ],
        [
            "The {who} needs {total} {things} a month.",
            "The {who} ordered {count} {packs} last time, too.",
            "Each {pack} costs {each} dollars.",
            "The {who} has never ordered more than {count} {packs}.",
        ],
        who=others,
        pack=pack,
        packs=packs,
        things=things,
        each=each,
        word=word,
        count=count,
        total=each * count,
        more=each + chance.choice((2, 4, 6)),
    )


def _size(chance: random.Random) -> NumberCase:
    """Width and height exchanged."""
    low, high = two(chance, 20, 240, 5)
    tall = chance.random() < 0.5
    width, height = (low, high) if tall else (high, low)
    depth = chance.choice([one for one in range(10, 60, 5) if one not in (low, high)])
    what = chance.choice(
        ("wardrobe", "window", "poster case", "fridge", "bookcase", "cabinet", "crate")
    )
    unit = chance.choice(("cm", "cm", "centimetres"))
    return build(
        chance,
        "width and height",
        [
            "The {what} is {w} {unit} wide, {h} {unit} high and {d} {unit} deep.",
            "{what} – width: {w:d} {unit}, height: {h:d} {unit}, depth: {d:d} {unit}.",
            "The {what} has a height of {h} {unit}, a width of {w} {unit} and a depth of {d} "
            "{unit}.",
        ],
        [
            "The {what} has a width of {w} {unit}.",
            "The height of the {what} is {h} {unit}.",
            "The {what} is {h} {unit} high.",
            "The {what} is {tall} than it is {wide}.",
            "The {what} is not as {wide} as it is {high}.",
            "From front to back the {what} measures {d} {unit}.",
        ],
        [
            "The {what} has a width of {h} {unit}.",
            "The height of the {what} is {w} {unit}.",
            "The {what} is {h} {unit} wide and {w} {unit} high.",
            "The {what} is as wide as it is high.",
            "The {what} is not as {high} as it is {wide}.",
            "The {what} is {w} {unit} deep.",
            "The {what} is {w} mm wide.",
        ],
        [
            "The {what} weighs {d} kg.",
            "The door for the {what} must be {h} {unit} high.",
            "The {what} costs {w} euros.",
            "No other {what} is {h} {unit} high.",
        ],
        what=what,
        unit=unit,
        w=width,
        h=height,
        d=depth,
        tall="higher" if tall else "wider",
        wide="wide" if tall else "high",
        high="high" if tall else "wide",
    )


_DEGREES = ((-10, 14), (0, 32), (5, 41), (10, 50), (15, 59), (20, 68), (25, 77), (30, 86), (35, 95))


def _temperature(chance: random.Random) -> NumberCase:
    """Lowest and highest temperature, in two units."""
    (low, low_f), (high, high_f) = sorted(chance.sample(_DEGREES, 2))
    place = chance.choice(("in the greenhouse", "at the station", "on the summit", "in the valley"))
    day, other = chance.sample(("on Monday", "on Sunday", "on 3 March", "on New Year's Day"), 2)
    return build(
        chance,
        "lowest and highest temperature",
        [
            "The lowest temperature {place} {day} was {low:d} °C, the highest {high:d} °C.",
            "Minimum {place} {day}: {low:d} °C. Maximum: {high:d} °C.",
            "{day}, temperatures {place} ranged from {low:d} to {high:d} degrees Celsius.",
        ],
        [
            "{day}, the maximum {place} was {high:d} °C.",
            "{day}, the minimum {place} was {low:d} degrees Celsius.",
            "{day}, the highest temperature {place} was {high_f:d} °F.",
            "{day}, it was never colder than {low:d} °C {place}.",
            "{day}, it did not get warmer than {high:d} °C {place}.",
        ],
        [
            "{day}, the maximum {place} was {low:d} °C.",
            "{day}, the minimum {place} was {high:d} °C.",
            "{day}, the highest temperature {place} was {high:d} °F.",
            "{day}, it was never warmer than {low:d} °C {place}.",
            "{day}, the temperature {place} did not change.",
            "{day}, the lowest temperature {place} was {high_f:d} °F.",
        ],
        [
            "{other}, the maximum {place} was {high:d} °C.",
            "{day}, the temperature {place} was {high:d} °C at noon.",
            "{day}, it was colder {place} than on the day before.",
            "It has never been warmer than {high:d} °C {place}.",
        ],
        place=place,
        day=day,
        other=other,
        low=low,
        high=high,
        high_f=high_f,
        low_f=low_f,
    )


def _cents(chance: random.Random) -> NumberCase:
    """Cents and dollars."""
    place = chance.choice((0, 1))
    cents = chance.choice((25, 50, 75, 80, 99, 120, 150, 250, 199))
    what, other = chance.sample(
        ("a text message", "a photocopy", "a lemonade", "a carrier bag", "a stamp", "a postcard"), 2
    )
    return build(
        chance,
        "cents and whole money",
        [
            "{what} costs {c:d} cents.",
            "{what} costs {price}.",
            "Price list: {what}, {c:d} cents.",
            "The price of {what} is {price}.",
        ],
        [
            "{what} costs {price}.",
            "{what} costs {c:d} cents.",
            "The price of {what} is {c:d} cents.",
            "Buying {what} ten times comes to {ten}.",
            "{what} costs {less} {high}.",
        ],
        [
            "{what} costs {whole}.",
            "{what} costs {ten}.",
            "{what} costs {over} {high}.",
            "{what} is free.",
            "The price of {what} is {wrong:d} cents.",
            "Buying {what} ten times comes to {price}.",
        ],
        [
            "{other} costs {c:d} cents.",
            "{what} used to cost {price}.",
            "{what} costs as much as {other}.",
            "{what} is not sold for less than {price} anywhere else.",
        ],
        what=what,
        other=other,
        c=cents,
        price=Money(cents, place),
        ten=Money(cents * 10, place),
        whole=Money(cents * 100, place),
        high=Money((cents // 100 + 1) * 100, place),
        wrong=cents + 5,
    )


UNIT_FAMILIES: tuple[Family, ...] = (
    _conversion,
    _same_number,
    _dose,
    _recipe,
    _packs,
    _size,
    _temperature,
    _cents,
)
