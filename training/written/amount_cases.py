"""Made cases on amounts: bounds, rounding, shares, sums, changes, ranks and results."""

from __future__ import annotations

import random

from written.number_words import TOWNS, Family, NumberCase, build, spelled

# A place, what it has, and something else that it might have.
_PLACES = (
    ("the main hall", "seats", "exits"),
    ("the library", "computers", "study rooms"),
    ("the museum", "paintings", "sculptures"),
    ("the hotel", "rooms", "lifts"),
    ("the school", "pupils", "teachers"),
    ("the orchard", "apple trees", "cherry trees"),
    ("the archive", "letters", "photographs"),
    ("the company", "employees", "contractors"),
    ("the car park", "spaces", "charging points"),
    ("the collection", "coins", "stamps"),
)


def _exact_bounds(chance: random.Random) -> NumberCase:
    """An exact number, and what bounds follow from it."""
    place, thing, other = chance.choice(_PLACES)
    number = chance.randint(30, 4000)
    step = max(2, number // chance.randint(4, 12))
    return build(
        chance,
        "bounds of an exact number",
        [
            "{place} has {n} {thing}.",
            "There are exactly {n} {thing} in {place}.",
            "{place} has {n} {thing}, according to the latest count.",
        ],
        [
            "{place} has {over} {low} {thing}.",
            "{place} has {fewer} {high} {thing}.",
            "{place} does not have more than {high} {thing}.",
            "The number of {thing} in {place} is between {low} and {high}.",
            "{place} has {n} {thing}.",
            "There are {atleast} {low} {thing} in {place}.",
            "There are {atmost} {high} {thing} in {place}.",
        ],
        [
            "{place} has {over} {high} {thing}.",
            "{place} has {fewer} {low} {thing}.",
            "{place} has {high} {thing}.",
            "There are only {low} {thing} in {place}.",
            "{place} does not even have {low} {thing}.",
            "There are {atleast} {high} {thing} in {place}.",
            "There are {atmost} {low} {thing} in {place}.",
        ],
        [
            "{place} has {n} {other}.",
            "{place} has more {thing} than {other}.",
            "{place} used to have {low} {thing}.",
            "{place} has {low} {other}.",
            "{place} does not plan to have more than {n} {thing}.",
        ],
        place=place,
        thing=thing,
        other=other,
        n=number,
        low=number - step,
        high=number + step,
    )


_EVENTS = (
    ("people", "attended the concert", "paid for a ticket to the concert"),
    ("runners", "finished the race", "ran the race for the first time"),
    ("students", "passed the exam", "passed with distinction"),
    ("visitors", "came to the fair", "came to the fair by train"),
    ("customers", "complained", "asked for a refund"),
    ("volunteers", "signed up", "signed up online"),
    ("households", "lost power", "lost water"),
    ("bugs", "were fixed in this release", "were reported by customers"),
)


def _lower_bound(chance: random.Random) -> NumberCase:
    """The passage has a lower bound only."""
    who, did, more = chance.choice(_EVENTS)
    number = chance.choice((50, 80, 120, 200, 350, 500, 900, 1200, 2500, 6000, 15000))
    return build(
        chance,
        "lower bound",
        [
            "More than {n} {who} {did}.",
            "Over {n} {who} {did}, the organisers said.",
            "{who} {did} in large numbers: there were more than {n} of them.",
        ],
        [
            "{atleast} {low} {who} {did}.",
            "The number of {who} that {did} was greater than {n}.",
            "More than {low} {who} {did}.",
            "Not just {n} {who} {did}, but more.",
        ],
        [
            "Fewer than {n} {who} {did}.",
            "Only {low} {who} {did}.",
            "Exactly {n} {who} {did}.",
            "{atmost} {low} {who} {did}.",
            "No {who} {did}.",
        ],
        [
            "{over} {high} {who} {did}.",
            "Exactly {high} {who} {did}.",
            "More than {n} {who} {more}.",
            "{fewer} {high} {who} {did}.",
        ],
        who=who,
        did=did,
        more=more,
        n=number,
        low=number - number // chance.choice((4, 5, 10)),
        high=number + number // chance.choice((2, 4, 5)),
    )


def _upper_bound(chance: random.Random) -> NumberCase:
    """The passage has an upper bound only."""
    who, did, more = chance.choice(_EVENTS)
    number = chance.choice((20, 40, 60, 90, 150, 300, 800, 1500, 4000))
    return build(
        chance,
        "upper bound",
        [
            "Fewer than {n} {who} {did}.",
            "Some {who} {did}, but fewer than {n}.",
            "Although many were expected, fewer than {n} {who} {did}.",
        ],
        [
            "Under {n} {who} {did}.",
            "{atmost} {high} {who} {did}.",
            "The number of {who} that {did} was below {high}.",
            "It was not the case that {high} {who} {did}.",
        ],
        [
            "More than {n} {who} {did}.",
            "{n} {who} {did}.",
            "{atleast} {high} {who} {did}.",
            "The number of {who} that {did} was above {high}.",
            "Not fewer than {n} {who} {did}.",
        ],
        [
            "{fewer} {low} {who} {did}.",
            "Exactly {low} {who} {did}.",
            "More than {low} {who} {did}.",
            "Fewer than {n} {who} {more}.",
        ],
        who=who,
        did=did,
        more=more,
        n=number,
        low=number // 2,
        high=number + number // chance.choice((2, 4, 5)),
    )


def _nearly(chance: random.Random) -> NumberCase:
    """Nearly and just over, in the passage."""
    who, did, more = chance.choice(_EVENTS)
    number = chance.choice((30, 50, 100, 200, 400, 700, 1000, 3000))
    below = chance.random() < 0.5
    word = chance.choice(("nearly", "almost", "just under") if below else ("just over",))
    right, wrong = ("fewer", "more") if below else ("more", "fewer")
    return build(
        chance,
        "nearly or just over",
        [
            "{word} {n} {who} {did}.",
            "{word} {n} {who} {did} this year, which surprised everyone.",
            "According to the report, {word} {n} {who} {did}.",
        ],
        [
            "{right} than {n} {who} {did}.",
            "About {n} {who} {did}.",
            "The number of {who} that {did} was close to {n}.",
            "The number of {who} that {did} was not exactly {n}.",
        ],
        [
            "{wrong} than {n} {who} {did}.",
            "Exactly {n} {who} {did}.",
            "About {double} {who} {did}.",
            "Only about {half} {who} {did}.",
            "The number of {who} that {did} was nowhere near {n}.",
        ],
        [
            "{word} {n} {who} {more}.",
            "The organisers had hoped for {n}.",
            "{word} {n} {who} {did} the year before.",
            "{word} {n} {who} {did}, more than ever before.",
        ],
        word=word,
        right=right,
        wrong=wrong,
        who=who,
        did=did,
        more=more,
        n=number,
        double=number * 2,
        half=number // 2,
    )


def _rounding(chance: random.Random) -> NumberCase:
    """An exact number, rounded."""
    place, thing, other = chance.choice(_PLACES)
    round_number = chance.choice((100, 200, 300, 500, 800, 1000, 2000, 4000, 10_000))
    off = max(1, round_number // 100 * chance.choice((1, 2)))
    below = chance.random() < 0.5
    exact = round_number - off if below else round_number + off
    near = ["nearly", "almost", "just under"] if below else ["just over", "slightly more than"]
    far = ["just over", "slightly more than"] if below else ["nearly", "almost", "just under"]
    return build(
        chance,
        "rounding",
        [
            "{place} has {exact} {thing}.",
            "The inventory of {place} lists {exact} {thing}.",
            "{exact} {thing} belong to {place}.",
        ],
        [
            "{place} has {about} {n} {thing}.",
            "{place} has {near} {n} {thing}.",
            "The number of {thing} of {place} is close to {n}.",
            "{place} has {right} than {n} {thing}.",
            "{place} does not have exactly {n} {thing}.",
        ],
        [
            "{place} has exactly {n} {thing}.",
            "{place} has {far} {n} {thing}.",
            "{place} has {wrong} than {n} {thing}.",
            "{place} has {about} {double} {thing}.",
            "{place} has only {about} {half} {thing}.",
        ],
        [
            "{place} has {about} {n} {other}.",
            "{place} had {n} {thing} last year.",
            "{place} has {exact} {other}.",
        ],
        place=place,
        thing=thing,
        other=other,
        exact=exact,
        n=round_number,
        near=chance.choice(near),
        far=chance.choice(far),
        right="fewer" if below else "more",
        wrong="more" if below else "fewer",
        double=round_number * 2,
        half=round_number // 2,
    )


def _thousands(chance: random.Random) -> NumberCase:
    """The same large number in digits, in words, with and without separators."""
    big = chance.random() < 0.4
    tenths = chance.randint(11, 99)
    number = tenths * (100_000 if big else 100)
    unit = "million" if big else "thousand"
    short = f"{tenths / 10:g} {unit}"
    wrong_short = f"{tenths / 10:g} {'billion' if big else 'million'}"
    town, other = chance.sample(TOWNS, 2)
    subject = chance.choice(
        (
            "the town of {town} has {n} inhabitants",
            "the stadium in {town} cost {n} dollars",
            "the library of {town} lent {n} books last year",
            "the reservoir near {town} holds {n} litres",
            "the firm in {town} sold {n} bottles in a year",
        )
    ).replace("{town}", town)
    said = {
        form: subject.replace("{n}", "{" + form + "}") + "." for form in ("n", "times", "tenth")
    }
    return build(
        chance,
        "large numbers written otherwise",
        [
            subject.replace("{n}", chance.choice((f"{number:,}", str(number), short))) + ".",
            "Facts and figures: "
            + subject.replace("{n}", chance.choice((f"{number:,}", short)))
            + ".",
        ],
        [
            subject.replace("{n}", short) + ".",
            subject.replace("{n}", f"{number:,}") + ".",
            subject.replace("{n}", str(number)) + ".",
            subject.replace("{n}", spelled(number)) + ".",
        ],
        [
            said["times"],
            said["tenth"],
            subject.replace("{n}", wrong_short) + ".",
            subject.replace("{n}", f"{(tenths + 1) / 10:g} {unit}") + ".",
            subject.replace("{n}", f"only {spelled(number // 100)}") + ".",
        ],
        [
            said["n"].replace(town, other),
            said["n"].replace(town, other).removesuffix(".") + ", the same as two years ago.",
            said["times"].replace(town, other),
        ],
        n=number,
        times=number * 10,
        tenth=number // 10,
    )


_FRACTIONS = (
    (50, "half", "one in two"),
    (25, "a quarter", "one in four"),
    (75, "three quarters", "three in four"),
    (20, "a fifth", "one in five"),
    (10, "a tenth", "one in ten"),
    (40, "two fifths", "two in five"),
    (80, "four fifths", "four in five"),
    (60, "three fifths", "three in five"),
    (30, "three tenths", "three in ten"),
)
_GROUPS = (
    ("the students", "walk to school", "cycle to school", "boys"),
    ("the staff members", "work from home", "have a parking permit", "managers"),
    ("the members", "voted for the proposal", "attended the debate", "founders"),
    ("the patients", "felt better after a week", "took the tablets with food", "children"),
    ("the respondents", "own a dog", "own a cat", "pensioners"),
    ("the guests", "chose the vegetarian menu", "stayed overnight", "relatives"),
    ("the passengers", "checked in online", "travelled with a bag", "commuters"),
)


def _share(chance: random.Random) -> NumberCase:
    """A share as percent, fraction or ratio."""
    percent, fraction, ratio = chance.choice(_FRACTIONS)
    wrong = chance.choice([one for one in _FRACTIONS if one[0] != percent])
    who, did, other, part = chance.choice(_GROUPS)
    most = "More than half of" if percent > 50 else "Fewer than half of"
    fewest = "Less than half of" if percent >= 50 else "More than half of"
    if percent == 50:
        most, fewest = "Exactly half of", "More than half of"
    return build(
        chance,
        "shares in percent and words",
        [
            "{p:d}% of {who} {did}.",
            "In the survey, {fraction} of {who} {did}.",
            "{p} percent of {who} {did}; nothing else was counted.",
            "{ratio} of {who} {did}.",
        ],
        [
            "{fraction} of {who} {did}.",
            "{p:d}% of {who} {did}.",
            "{p} percent of {who} {did}.",
            "{most} {who} {did}.",
            "Not all of {who} {did}.",
        ],
        [
            "{wrong_fraction} of {who} {did}.",
            "{w} percent of {who} {did}.",
            "{fewest} {who} {did}.",
            "All of {who} {did}.",
            "None of {who} {did}.",
            "{wrong_ratio} of {who} {did}.",
        ],
        [
            "{fraction} of {who} {other}.",
            "{p} percent of the {part} among {who} {did}.",
            "A year earlier, the share had been {p:d}% as well.",
            "Exactly {p} of {who} {did}.",
        ],
        p=percent,
        fraction=fraction,
        ratio=ratio,
        w=wrong[0],
        wrong_fraction=wrong[1],
        wrong_ratio=wrong[2],
        who=who,
        did=did,
        other=other,
        part=part,
        most=most,
        fewest=fewest,
    )


def _share_of_a_number(chance: random.Random) -> NumberCase:
    """A fraction of a number that is told."""
    percent, fraction, _ = chance.choice(_FRACTIONS)
    total = chance.choice((20, 40, 60, 80, 120, 200, 240, 400, 600, 1000))
    part = total * percent // 100
    rest = total - part
    if part == rest:
        total, part, rest = total, total // 4, total - total // 4
        fraction = "a quarter"
        percent = 25
    who, did, other, _ = chance.choice(_GROUPS)
    who = who.removeprefix("the ")
    return build(
        chance,
        "a share of a number",
        [
            "There are {t} {who}. {fraction} of them {did}.",
            "Of the {t} {who}, {fraction} {did}.",
            "We counted {t} {who}, and {p:d}% of them {did}.",
            "Of the {t} {who}, {part} {did}.",
        ],
        [
            "{part} of the {t} {who} {did}.",
            "{fraction} of the {who} {did}.",
            "{p} percent of the {who} {did}.",
            "There are {t} {who} in total.",
            "{rest} of the {t} {who} are not among those who {did}.",
        ],
        [
            "{rest} of the {t} {who} {did}.",
            "{t} {who} {did}.",
            "There are only {part} {who} in total.",
            "{part} of the {who} are not among those who {did}; all others are.",
            "Half of the {who} {did}.",
        ],
        [
            "{part} of the {who} {other}.",
            "{fraction} of the {who} {other}.",
            "{rest} of the {who} {other}.",
        ],
        t=total,
        part=part,
        rest=rest,
        p=percent,
        fraction=fraction,
        who=who,
        did=did,
        other=other,
    )


AMOUNT_FAMILIES: tuple[Family, ...] = (
    _exact_bounds,
    _lower_bound,
    _upper_bound,
    _nearly,
    _rounding,
    _thousands,
    _share,
    _share_of_a_number,
)
