"""Made cases on records: flags that are true, false or null, settings, hours and invoices."""

from __future__ import annotations

import json
import random

from written.number_words import PEOPLE, TOWNS, WEEKDAYS, Clock, Family, Money, NumberCase, build

# A key of a setting, what true and false mean of {s}.
_FLAGS = (
    (
        "push_notifications",
        "Push notifications are switched on for {s}.",
        "{s} has push notifications switched off.",
    ),
    ("two_factor_login", "{s} uses two-factor login.", "{s} does not use two-factor login."),
    (
        "newsletter",
        "{s} is subscribed to the newsletter.",
        "{s} is not subscribed to the newsletter.",
    ),
    (
        "email_verified",
        "The e-mail address of {s} is verified.",
        "{s} has not got a verified e-mail address.",
    ),
    ("admin", "{s} is an administrator.", "{s} is not an administrator."),
    ("invoice_paid", "The invoice of {s} has been paid.", "The invoice of {s} has not been paid."),
    ("vegetarian", "{s} is a vegetarian.", "{s} is not a vegetarian."),
    ("on_vacation", "{s} is on vacation.", "{s} is not on vacation."),
    ("driving_licence", "{s} holds a driving licence.", "{s} holds no driving licence."),
    ("remote", "{s} works remotely.", "{s} does not work remotely."),
)


def _flags(chance: random.Random) -> NumberCase:
    """A record with true, false and null."""
    who, other = chance.sample(PEOPLE, 2)
    yes, no, unknown, another, absent = chance.sample(_FLAGS, 5)
    other_true = chance.random() < 0.5
    number = chance.randint(18, 70)
    record: list[tuple[str, object]] = [
        (yes[0], True),
        (no[0], False),
        (unknown[0], None),
        (another[0], other_true),
        ("age", number),
    ]
    chance.shuffle(record)
    told = {"name": who, **dict(record)}
    unknown_word = chance.choice(("unknown", "not stated"))
    words = {"True": "yes", "False": "no", "None": unknown_word}
    listed = [f"{key}: {words.get(str(one), str(one))}" for key, one in told.items()]
    text = chance.choice(
        (json.dumps(told), json.dumps(told, indent=2), "\n".join(listed), "; ".join(listed))
    )
    return build(
        chance,
        "true, false and null",
        ["{text}"],
        [
            yes[1],
            no[2],
            another[1 if other_true else 2],
            "{s} is {age} years old.",
            "{s} is not older than {age}.",
        ],
        [
            yes[2],
            no[1],
            another[2 if other_true else 1],
            "{s} is {wrong} years old.",
            "{s} is older than {wrong}.",
        ],
        [
            unknown[1],
            unknown[2],
            absent[1],
            absent[2],
            yes[1].replace("{s}", "{o}"),
            no[2].replace("{s}", "{o}"),
            "{o} is {age} years old.",
        ],
        text=text,
        s=who,
        o=other,
        age=number,
        wrong=number + chance.randint(1, 12),
    )


_FEATURES = (
    (
        "Offline mode",
        "The {p} plan has an offline mode.",
        "There is no offline mode in the {p} plan.",
    ),
    (
        "Phone support",
        "The {p} plan comes with phone support.",
        "The {p} plan comes without phone support.",
    ),
    (
        "Custom domain",
        "A custom domain is part of the {p} plan.",
        "The {p} plan does not include a custom domain.",
    ),
    ("Ads", "The {p} plan shows ads.", "The {p} plan is without ads."),
    ("API access", "The {p} plan has API access.", "The {p} plan has no API access."),
    (
        "Shared folders",
        "The {p} plan offers shared folders.",
        "The {p} plan does not offer shared folders.",
    ),
    ("Free trial", "The {p} plan has a free trial.", "The {p} plan cannot be tried for free."),
    ("Daily backups", "Daily backups come with the {p} plan.", "The {p} plan lacks daily backups."),
)
_MARKS = (("yes", "no"), ("✓", "✗"), ("Yes", "No"), ("included", "not included"), ("true", "false"))
_PLANS = ("Basic", "Plus", "Pro", "Family", "Student", "Team", "Starter", "Premium", "Flex", "Solo")


def _matrix(chance: random.Random) -> NumberCase:
    """A table of features by plan, with yes and no."""
    plans = chance.sample(_PLANS, 3)
    features = chance.sample(_FEATURES, 4)
    absent = chance.choice([one for one in _FEATURES if one not in features])
    has = {(plan, one[0]): chance.random() < 0.5 for plan in plans for one in features}
    one, another = chance.sample(plans, 2)
    first, second, third, open_one = features
    # One that tells the two plans apart, and a cell that tells nothing.
    has[one, first[0]], has[another, first[0]] = True, False
    yes, no = chance.choice(_MARKS)
    blank = chance.choice(("", "?", "not known"))
    lines = [["Feature", *plans], ["---"] * 4]
    for feature in chance.sample(features, 4):
        cells = [yes if has[plan, feature[0]] else no for plan in plans]
        if feature is open_one:
            cells[plans.index(one)] = blank
        lines.append([feature[0], *cells])
    strange = chance.choice([plan for plan in _PLANS if plan not in plans])
    entailed = [first[1].replace("{p}", one), first[2].replace("{p}", another)]
    contradicted = [first[2].replace("{p}", one), first[1].replace("{p}", another)]
    for feature in (second, third):
        plan = chance.choice(plans)
        true, false = (1, 2) if has[plan, feature[0]] else (2, 1)
        entailed.append(feature[true].replace("{p}", plan))
        contradicted.append(feature[false].replace("{p}", plan))
    return build(
        chance,
        "table of yes and no",
        ["{text}"],
        entailed,
        contradicted,
        [
            open_one[1].replace("{p}", one),
            open_one[2].replace("{p}", one),
            absent[1].replace("{p}", one),
            absent[2].replace("{p}", another),
            first[1].replace("{p}", strange),
            first[2].replace("{p}", strange),
        ],
        text="\n".join(f"| {' | '.join(line)} |" for line in lines),
    )


_SERVICES = ("mailer", "search", "billing", "uploads", "reports", "gateway", "cache", "scheduler")


def _settings(chance: random.Random) -> NumberCase:
    """Settings of two services, nested."""
    one, another, strange = chance.sample(_SERVICES, 3)
    numbers = chance.sample(range(2, 60), 6)
    keys = ("timeout_seconds", "max_retries", "workers")
    values = {
        one: dict(zip(keys, numbers[:3], strict=True)),
        another: dict(zip(keys, numbers[3:], strict=True)),
    }
    lines = [
        f"[{name}]\n" + "\n".join(f"{k} = {v}" for k, v in got.items())
        for name, got in values.items()
    ]
    yaml = [
        f"{name}:\n" + "\n".join(f"  {k}: {v}" for k, v in got.items())
        for name, got in values.items()
    ]
    text = chance.choice(
        (
            json.dumps({"services": values}, indent=2),
            "\n\n".join(lines),
            "\n".join(yaml),
            json.dumps(values, indent=1),
        )
    )
    a, b = values[one], values[another]
    more, less = (one, another) if a["workers"] > b["workers"] else (another, one)
    return build(
        chance,
        "settings of services",
        ["{text}"],
        [
            "The timeout of {one} is {t} seconds.",
            "{one} is retried up to {r} times.",
            "{more} has more workers than {less}.",
            "{another} runs with {w} workers.",
            "{less} does not have as many workers as {more}.",
            "At most {r} retries are set for {one}.",
        ],
        [
            "The timeout of {one} is {r} seconds.",
            "{one} is retried up to {t} times.",
            "{less} has more workers than {more}.",
            "{another} runs with {wrong_w} workers.",
            "The timeout of {one} is {t} minutes.",
            "The timeout of {another} is {t} seconds.",
            "No retries are allowed for {one}.",
        ],
        [
            "The timeout of {strange} is {t} seconds.",
            "{one} listens on port {p:d}.",
            "{one} is restarted every {r} hours.",
            "{another} is not used in production.",
            "{one} uses up to {w} GB of memory.",
        ],
        text=text,
        one=one,
        another=another,
        strange=strange,
        more=more,
        less=less,
        t=a["timeout_seconds"],
        r=a["max_retries"],
        w=b["workers"],
        wrong_w=a["workers"],
        p=8000 + a["timeout_seconds"],
    )


def _hours_record(chance: random.Random) -> NumberCase:
    """Opening hours by day, where null is closed."""
    place, other = chance.sample(TOWNS, 2)
    start, late = chance.sample(range(7, 12), 2)
    end, early = chance.sample(range(14, 21), 2)
    closed, special, normal = chance.sample(WEEKDAYS, 3)
    hours: dict[str, str] = {}
    for day in WEEKDAYS:
        opening, closing = (late, early) if day == special else (start, end)
        hours[day] = "closed" if day == closed else f"{opening:02}:00-{closing:02}:00"
    lower = {day[:3].lower(): hour for day, hour in hours.items()}
    rows = "\n".join(f"| {day} | {hour} |" for day, hour in hours.items())
    text = chance.choice(
        (
            json.dumps({"branch": place, "opening_hours": hours}, indent=2),
            json.dumps({"branch": place, "hours": lower}),
            f"Branch {place}\n" + "\n".join(f"{day}: {hour}" for day, hour in hours.items()),
            f"Branch {place}\n\n| Day | Hours |\n| --- | --- |\n{rows}",
        )
    )
    return build(
        chance,
        "opening hours by day",
        ["{text}"],
        [
            "The {p} branch is closed on {closed}.",
            "The {p} branch is not open on {closed}.",
            "On {special}, the {p} branch opens at {late}.",
            "On {normal}, the {p} branch closes at {end}.",
            "The {p} branch is open six days a week.",
            "On {normal}, the {p} branch does not close before {end}.",
        ],
        [
            "The {p} branch is open on {closed}.",
            "The {p} branch is not open on {normal}.",
            "On {special}, the {p} branch opens at {start}.",
            "On {normal}, the {p} branch closes at {early}.",
            "The {p} branch is open every day of the week.",
            "On {special}, the {p} branch closes at {end}.",
        ],
        [
            "The {o} branch is closed on {closed}.",
            "On {special}, the {o} branch opens at {late}.",
            "On {normal}, the {p} branch has more customers than on {special}.",
            "The {p} branch used to be open on {closed}.",
        ],
        text=text,
        p=place,
        o=other,
        closed=closed,
        special=special,
        normal=normal,
        start=Clock(start * 60),
        end=Clock(end * 60),
        late=Clock(late * 60),
        early=Clock(early * 60),
    )


_GOODS = (
    "chairs",
    "lamps",
    "folders",
    "mugs",
    "cables",
    "notebooks",
    "pens",
    "batteries",
    "cushions",
    "plates",
)


def _invoice(chance: random.Random) -> NumberCase:
    """Lines of an invoice: how many, price, amount."""
    names = chance.sample(_GOODS, 4)
    *goods, absent = names
    counts = chance.sample(range(2, 20), 3)
    prices = chance.sample(range(21, 90), 3)
    totals = [count * price for count, price in zip(counts, prices, strict=True)]
    nr = chance.randint(1000, 9999)
    head = chance.choice(("item;quantity;unit_price;amount", "item,quantity,unit_price,amount"))
    cut = ";" if ";" in head else ","
    lines = [
        [good, str(count), str(price), str(total)]
        for good, count, price, total in zip(goods, counts, prices, totals, strict=True)
    ]
    records = [
        {"item": good, "quantity": count, "unit_price": price}
        for good, count, price in zip(goods, counts, prices, strict=True)
    ]
    told = {"invoice": nr, "currency": "USD", "items": records, "total": sum(totals)}
    text = chance.choice(
        (
            f"Invoice {nr} (USD)\n{head}\n" + "\n".join(cut.join(line) for line in lines),
            json.dumps(told, indent=2),
            f"Invoice {nr}\n\n| Item | Quantity | Unit price ($) | Amount ($) |\n| --- | --- | "
            f"--- | --- |\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines),
            json.dumps(told),
        )
    )
    at, beside = chance.sample(range(3), 2)
    return build(
        chance,
        "lines of an invoice",
        ["{text}"],
        [
            "{n} {a} are charged in invoice {nr:d}.",
            "In invoice {nr:d}, the unit price of the {a} is {p}.",
            "Together, the {a} in invoice {nr:d} cost {t}.",
            "Invoice {nr:d} comes to {all} in total.",
            "According to invoice {nr:d}, one unit of the {more} costs more than one of the "
            "{less}.",
        ],
        [
            "{m} {a} are charged in invoice {nr:d}.",
            "In invoice {nr:d}, the unit price of the {a} is {q}.",
            "Together, the {a} in invoice {nr:d} cost {p}.",
            "There are no {a} in invoice {nr:d}.",
            "According to invoice {nr:d}, one unit of the {less} costs more than one of the "
            "{more}.",
            "In invoice {nr:d}, the unit price of the {a} is {t}.",
        ],
        [
            "Invoice {nr:d} was paid within {n} days.",
            "The usual price of {absent} is {p}.",
            "{n} {a} of invoice {nr:d} are black.",
            "Invoice {nr:d} has not been paid.",
            "The customer of invoice {nr:d} had ordered {m} {a} before.",
        ],
        text=text,
        a=goods[at],
        absent=absent,
        n=counts[at],
        m=counts[beside],
        p=Money(prices[at] * 100),
        q=Money(prices[beside] * 100),
        t=Money(totals[at] * 100),
        all=Money(sum(totals) * 100),
        more=goods[at] if prices[at] > prices[beside] else goods[beside],
        less=goods[beside] if prices[at] > prices[beside] else goods[at],
        nr=nr,
    )


def _departures(chance: random.Random) -> NumberCase:
    """A board of departures with platforms; one train is cancelled."""
    towns = chance.sample(TOWNS, 5)
    *ends, absent = towns
    times = sorted(chance.sample(range(72, 260), 4))
    platforms = chance.sample(range(1, 15), 4)
    gone = chance.randrange(4)
    lines = [
        [
            f"{time // 12:02}:{time % 12 * 5:02}",
            end,
            str(platform),
            "cancelled" if at == gone else "on time",
        ]
        for at, (time, end, platform) in enumerate(zip(times, ends, platforms, strict=True))
    ]
    one, another = sorted(chance.sample([at for at in range(4) if at != gone], 2))
    head = ["Departure", "Destination", "Platform", "Status"]
    table = [head, ["---"] * 4, *lines]
    records = [dict(zip([key.lower() for key in head], line, strict=True)) for line in lines]
    text = chance.choice(
        (
            "\n".join(f"| {' | '.join(line)} |" for line in table),
            "\n".join(",".join(line) for line in [head, *lines]),
            json.dumps(records, indent=2),
        )
    )
    return build(
        chance,
        "board of departures",
        ["{text}"],
        [
            "The train to {a} leaves from platform {p:d}.",
            "The train to {b} leaves at {u}.",
            "The train to {a} leaves before the train to {b}.",
            "The train to {gone} does not run.",
            "The train to {b} has not been cancelled.",
            "The train to {gone} has been cancelled.",
        ],
        [
            "The train to {a} leaves from platform {q:d}.",
            "The train to {b} leaves at {t}.",
            "The train to {b} leaves before the train to {a}.",
            "The train to {gone} is on time.",
            "The train to {b} has been cancelled.",
            "No train on the board has been cancelled.",
        ],
        [
            "The train to {absent} leaves from platform {p:d}.",
            "The train to {a} arrives at {u}.",
            "The train to {gone} was cancelled because of snow.",
            "The train to {a} has {p:d} carriages.",
            "The train to {b} does not stop on the way.",
        ],
        text=text,
        a=ends[one],
        b=ends[another],
        gone=ends[gone],
        absent=absent,
        p=platforms[one],
        q=platforms[another],
        t=Clock(times[one] * 5),
        u=Clock(times[another] * 5),
    )


RECORD_FAMILIES: tuple[Family, ...] = (
    _flags,
    _matrix,
    _settings,
    _hours_record,
    _invoice,
    _departures,
)
