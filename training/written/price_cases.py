"""Made cases on prices, plans, codes and versions: whose number it is and what it is for."""

from __future__ import annotations

import random

from written.number_words import PEOPLE, Family, Money, NumberCase, build, currency, two

_PLANS = ("Basic", "Plus", "Pro", "Family", "Student", "Team", "Starter", "Premium", "Flex", "Solo")


def _monthly_yearly(chance: random.Random) -> NumberCase:
    """Monthly and yearly price, in two roles."""
    plan, other = chance.sample(_PLANS, 2)
    place = currency(chance)
    month = Money(chance.randint(3, 60) * 100, place)
    free = chance.choice((1, 2, 3))
    year = month * (12 - free)
    return build(
        chance,
        "monthly and yearly price",
        [
            "The {plan} plan costs {m} per month or {y} per year.",
            "{plan} plan: {m} a month, {y} if you pay for a whole year.",
            "You can pay for the {plan} plan monthly ({m}) or yearly ({y}).",
        ],
        [
            "With monthly payment, the {plan} plan costs {m}.",
            "With yearly payment, the {plan} plan costs {y}.",
            "Twelve monthly payments for the {plan} plan come to {twelve}.",
            "Over a full year, paying yearly for the {plan} plan saves {saved}.",
            "For twelve months of the {plan} plan, paying yearly is cheaper than paying monthly.",
        ],
        [
            "With monthly payment, the {plan} plan costs {y}.",
            "With yearly payment, the {plan} plan costs {m}.",
            "The {plan} plan costs {y} per month.",
            "The {plan} plan costs {m} per year.",
            "For twelve months of the {plan} plan, paying monthly is cheaper than paying yearly.",
            "The {plan} plan cannot be paid for yearly.",
            "The {plan} plan is free.",
        ],
        [
            "With monthly payment, the {other} plan costs {m}.",
            "The {other} plan costs {y} per year.",
            "The {plan} plan used to cost {y} per year and {saved} less for students.",
            "Most customers of the {plan} plan pay {m} per month, not {y} per year.",
        ],
        plan=plan,
        other=other,
        m=month,
        y=year,
        twelve=month * 12,
        saved=month * free,
    )


def _per_month_total(chance: random.Random) -> NumberCase:
    """A price per month and what it makes in a year."""
    what, other = chance.sample(
        ("the locker", "the gym membership", "the newspaper", "the parking space",
         "the music lesson", "the garage", "the storage unit", "the internet connection"), 2
    )  # fmt: skip
    place = currency(chance)
    month = Money(chance.randint(4, 150) * 100, place)
    return build(
        chance,
        "per month and per year",
        [
            "{what} costs {m} per month, all included and all year round.",
            "For {what} we charge {m} a month, twelve times a year, and nothing else.",
            "The price of {what} is {m} a month in every month of the year, without any other "
            "fees.",
        ],
        [
            "{what} costs {y} per year.",
            "The yearly cost of {what} is {y}.",
            "Every month one pays {m} for {what}.",
            "Half a year of {what} costs {half}.",
            "For two months, one pays {double} for {what}.",
        ],
        [
            "{what} costs {m} per year.",
            "{what} costs {y} per month.",
            "Every week one pays {m} for {what}.",
            "Half a year of {what} costs {m}.",
            "In addition to {m} per month, there is a yearly fee for {what}.",
            "{what} costs {half} per year.",
        ],
        [
            "{other} costs {m} per month.",
            "{what} cost {m} per month last year as well.",
            "{other} does not cost more than {y} per year.",
            "{what} will cost {double} per month from next year on.",
        ],
        what=what,
        other=other,
        m=month,
        y=month * 12,
        half=month * 6,
        double=month * 2,
    )


def _two_plans(chance: random.Random) -> NumberCase:
    """Prices and features of two plans exchanged."""
    one, another, third = chance.sample(_PLANS, 3)
    place = currency(chance)
    low, high = two(chance, 5, 90)
    small, large = two(chance, 1, 12)
    feature = chance.choice(("user|users", "device|devices", "project|projects", "screen|screens"))
    few, many = ("{f:" + feature + "}", "{g:" + feature + "}")
    period = chance.choice(("per month", "a year", "per week"))
    return build(
        chance,
        "two plans",
        [
            f"The {{a}} plan costs {{p}} {period} and is for {few}; the {{b}} plan costs {{q}} "
            f"{period} and is "
            f"for {many}.",
            f"{{a}}: {{p}} {period}, {few}. {{b}}: {{q}} {period}, {many}.",
            f"With the {{b}} plan you pay {{q}} {period} for {many}, with the {{a}} plan {{p}} "
            f"for {few}.",
        ],
        [
            f"The {{b}} plan costs {{q}} {period}.",
            f"The price of the {{a}} plan is {{p}} {period}.",
            "The {a} plan is cheaper than the {b} plan.",
            "The {b} plan is {diff} more expensive than the {a} plan.",
            f"The {{b}} plan is for {many}.",
            f"With {few}, the {{a}} plan is not the larger one of the two.",
        ],
        [
            f"The {{b}} plan costs {{p}} {period}.",
            f"The price of the {{a}} plan is {{q}} {period}.",
            "The {a} plan is more expensive than the {b} plan.",
            f"The {{a}} plan is for {many}.",
            "The {a} plan costs as much as the {b} plan.",
            "The {b} plan is free.",
            "The {b} plan is not more expensive than the {a} plan.",
        ],
        [
            f"The {{c}} plan costs {{p}} {period}.",
            "The {a} plan has more customers than the {b} plan.",
            "The {b} plan used to cost {p}.",
            f"The {{c}} plan is for {many}.",
        ],
        a=one,
        b=another,
        c=third,
        p=Money(low * 100, place),
        q=Money(high * 100, place),
        diff=Money((high - low) * 100, place),
        f=small,
        g=large,
    )


_PAIRS = (
    ("the flat", "rent", "deposit", "cleaning fee"),
    ("the car", "daily rate", "deposit", "insurance"),
    ("the course", "course fee", "registration fee", "exam fee"),
    ("the machine", "purchase price", "maintenance fee", "delivery fee"),
    ("the bike", "hire charge", "deposit", "helmet charge"),
    ("the hall", "hire charge", "cleaning fee", "heating charge"),
    ("the loan", "monthly instalment", "handling fee", "late fee"),
    ("the phone", "price", "activation fee", "shipping fee"),
)


def _two_fees(chance: random.Random) -> NumberCase:
    """Rent and deposit exchanged."""
    what, one, another, third = chance.choice(_PAIRS)
    place = currency(chance)
    low, high = two(chance, 20, 1500, 5)
    first, second = (low, high) if chance.random() < 0.5 else (high, low)
    upper, lower = (one, another) if first > second else (another, one)
    return build(
        chance,
        "rent and deposit",
        [
            "For {what}, the {one} is {p} and the {another} is {q}.",
            "{what}: {one} {p}, {another} {q}.",
            "The {one} for {what} is {p}. There is also a {another} of {q}.",
            "You pay a {another} of {q} for {what}; the {one} is {p}.",
        ],
        [
            "The {another} for {what} is {q}.",
            "The {one} for {what} is {p}.",
            "For {what}, the {upper} is higher than the {lower}.",
            "Added up, {one} and {another} for {what} are {total}.",
            "For {what}, the {lower} is not as high as the {upper}.",
        ],
        [
            "The {another} for {what} is {p}.",
            "The {one} for {what} is {q}.",
            "For {what}, the {lower} is higher than the {upper}.",
            "There is no {another} for {what}.",
            "For {what}, the {one} and the {another} are the same.",
            "For {what}, the {upper} is not as high as the {lower}.",
        ],
        [
            "The {third} for {what} is {q}.",
            "The {another} for {what} must be paid in cash.",
            "The {one} for {what} was raised to {p}.",
            "The {third} for {what} is higher than the {another}.",
        ],
        what=what,
        one=one,
        another=another,
        third=third,
        upper=upper,
        lower=lower,
        p=Money(first * 100, place),
        q=Money(second * 100, place),
        total=Money((first + second) * 100, place),
    )


def _tickets(chance: random.Random) -> NumberCase:
    """Prices for adults and children, and what a family pays."""
    where, other = chance.sample(
        (
            "the zoo",
            "the pool",
            "the castle",
            "the ferry",
            "the cinema",
            "the ice rink",
            "the planetarium",
        ),
        2,
    )
    place = currency(chance)
    low, high = two(chance, 2, 35)
    adult, child = Money(high * 100, place), Money(low * 100, place)
    age = chance.randint(3, 6)
    return build(
        chance,
        "adults and children",
        [
            "Tickets for {where} cost {a} for adults and {c} for children; under {age:d} it is "
            "free.",
            "Admission to {where}: adults {a}, children {c}, children under {age:d} free of "
            "charge.",
            "At {where}, adults pay {a} and children {c}. Those under {age:d} pay nothing.",
        ],
        [
            "An adult pays {a} at {where}.",
            "Two adults together pay {aa} at {where}.",
            "At {where}, adults pay {diff} more than children who are ten.",
            "A ten-year-old pays {c} at {where}.",
            "A child of two does not pay at {where}.",
            "A child of two gets in at {where} for free.",
        ],
        [
            "An adult pays {c} at {where}.",
            "A ten-year-old pays {a} at {where}.",
            "A child of two pays {c} at {where}.",
            "Two adults together pay {a} at {where}.",
            "At {where}, adults do not pay more than children who are ten.",
            "Adults get in at {where} for free.",
        ],
        [
            "An adult pays {a} at {other}.",
            "Groups get a discount of {c} at {where}.",
            "A dog costs {c} at {where}.",
            "Most visitors of {where} are not older than {age}.",
        ],
        where=where,
        other=other,
        a=adult,
        c=child,
        aa=adult * 2,
        diff=adult - child,
        age=age,
    )


_ITEMS = (
    "jacket",
    "lamp",
    "tent",
    "kettle",
    "desk",
    "printer",
    "rucksack",
    "keyboard",
    "armchair",
    "drill",
)


def _old_new(chance: random.Random) -> NumberCase:
    """Old and new price; a discount."""
    item, other = chance.sample(_ITEMS, 2)
    place = currency(chance)
    percent = chance.choice((10, 20, 25, 30, 40, 50, 75))
    old = chance.randint(2, 30) * 20
    new = old * (100 - percent) // 100
    return build(
        chance,
        "old and new price",
        [
            "The {item} costs {q} now, down from {p}.",
            "Sale: {item} reduced from {p} to {q}.",
            "The {item} used to cost {p}. It is now sold for {q}.",
            "The price of the {item} has been cut by {percent:d}%, from {p} to {q}.",
        ],
        [
            "The {item} now costs {q}.",
            "The {item} used to cost {p}.",
            "The {item} is {diff} cheaper than before.",
            "The price of the {item} fell by {percent} percent.",
            "The {item} has become cheaper.",
            "The {item} no longer costs {p}.",
        ],
        [
            "The {item} now costs {p}.",
            "The {item} used to cost {q}.",
            "The price of the {item} rose from {q} to {p}.",
            "The price of the {item} fell by {wrong} percent.",
            "The {item} has become more expensive.",
            "The price of the {item} has not changed.",
        ],
        [
            "The {other} now costs {q}.",
            "The {item} will cost {p} again next week.",
            "The price of the {other} fell by {percent} percent.",
            "The {item} has never been sold for less than {q}.",
            "The {item} is reduced because it did not sell well.",
        ],
        item=item,
        other=other,
        percent=percent,
        wrong=percent + chance.choice((5, 10, 15)),
        p=Money(old * 100, place),
        q=Money(new * 100, place),
        diff=Money((old - new) * 100, place),
    )


_GOODS = (
    ("kilo", "kilos", "apples"),
    ("metre", "metres", "velvet"),
    ("litre", "litres", "lamp oil"),
    ("hour", "hours", "piano tuning"),
    ("night", "nights", "camping"),
    ("bunch", "bunches", "tulips"),
    ("page", "pages", "translation"),
)


def _rate(chance: random.Random) -> NumberCase:
    """A price per unit, and for several."""
    unit, units, what = chance.choice(_GOODS)
    other = chance.choice([one for *_, one in _GOODS if one != what])
    place = currency(chance)
    number = chance.randint(2, 9)
    price = Money(chance.choice([one for one in range(3, 40) if one != number]) * 100, place)
    person = chance.choice(PEOPLE)
    return build(
        chance,
        "price per unit",
        [
            "One {unit} of {what} costs {p}. {who} bought {n} {units} at that price.",
            "{what}: {p} per {unit}. {who} paid {total} for {n} {units}.",
            "{who} bought {n} {units} of {what} at {p} per {unit}, {total} in all.",
        ],
        [
            "{who} paid {total} for {what}.",
            "A {unit} of {what} costs {p}.",
            "{who} bought {n} {units} of {what}.",
            "Two {units} of {what} cost {double} at that price.",
            "{who} did not pay more than {total} for {what}.",
        ],
        [
            "{who} paid {p} for {n} {units} of {what}.",
            "A {unit} of {what} costs {total}.",
            "{who} bought only one {unit} of {what}.",
            "{who} paid {more} for {what}.",
            "{who} did not buy any {what}.",
            "{who} bought {wrong} {units} of {what}.",
        ],
        [
            "One {unit} of {what} cost {p} last year.",
            "{who} paid {total} for {other}.",
            "{who} wanted {n} more {units} of {what}.",
            "{who} has never before bought {what}.",
        ],
        who=person,
        unit=unit,
        units=units,
        what=what,
        other=other,
        n=number,
        wrong=number + chance.randint(1, 5),
        p=price,
        double=price * 2,
        total=price * number,
        more=price * (number + 1),
    )


def _threshold(chance: random.Random) -> NumberCase:
    """Free from some amount on."""
    place = currency(chance)
    limit = chance.choice((20, 25, 30, 40, 50, 60, 75, 80, 100, 150))
    fee = chance.choice((2, 3, 4, 5, 6, 7, 8, 9))
    what, other = chance.sample(
        ("shipping", "gift wrapping", "delivery", "assembly", "insurance"), 2
    )
    return build(
        chance,
        "free from an amount on",
        [
            "{what} is free for all orders of {limit} or more; for all other orders it costs "
            "{fee}.",
            "All orders below {limit} pay {fee} for {what}. From {limit} on, it is free.",
            "{what}: {fee} for every order under {limit}, no charge for every order from {limit} "
            "up.",
        ],
        [
            "For an order of {high}, {what} is free.",
            "For an order of {low}, {what} costs {fee}.",
            "An order of {high} has no {what} costs.",
            "An order of {low} is not large enough for free {what}.",
            "For an order of exactly {limit}, there is no charge for {what}.",
        ],
        [
            "For an order of {high}, {what} costs {fee}.",
            "For an order of {low}, {what} is free.",
            "An order of {low} has no {what} costs.",
            "For an order of exactly {limit}, {what} costs {fee}.",
            "For an order of {low}, {what} costs {limit}.",
            "{what} is never free.",
        ],
        [
            "For an order of {high}, {other} is free.",
            "For an order of {low}, {other} costs {fee}.",
            "{what} takes {n} days for an order of {low}.",
            "Most orders are not larger than {limit}.",
        ],
        what=what,
        other=other,
        limit=Money(limit * 100, place),
        fee=Money(fee * 100, place),
        high=Money((limit + chance.randint(5, 60)) * 100, place),
        low=Money((limit - chance.randint(4, limit - 10)) * 100, place),
        n=fee,
    )


PRICE_FAMILIES: tuple[Family, ...] = (
    _monthly_yearly,
    _per_month_total,
    _two_plans,
    _two_fees,
    _tickets,
    _old_new,
    _rate,
    _threshold,
)
