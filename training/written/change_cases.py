"""Made cases on two or three amounts: changes, sums, ranks, results, ratios and extremes."""

from __future__ import annotations

import random

from written.number_words import PEOPLE, TEAMS, TOWNS, Family, NumberCase, build, two

_RISING = (
    ("the number of members", "the club", "the fee"),
    ("the number of users", "the app", "the number of downloads"),
    ("the number of beds", "the clinic", "the number of nurses"),
    ("the number of pupils", "the school", "the number of teachers"),
    ("the number of visitors a day", "the zoo", "the entrance fee"),
    ("the number of branches", "the bank", "the number of cash machines"),
    ("the number of daily flights", "the airport", "the number of airlines"),
)


def _change(chance: random.Random) -> NumberCase:
    """From one number to another."""
    what, place, other = chance.choice(_RISING)
    low, high = two(chance, 10, 400, chance.choice((1, 5, 10)))
    up = chance.random() < 0.5
    old, new = (low, high) if up else (high, low)
    rose, fell = ("rose", "fell") if up else ("fell", "rose")
    year = chance.randint(1985, 2023)
    return build(
        chance,
        "change from one number to another",
        [
            "At {place}, {what} {rose} from {old} to {new} in {year:d}.",
            "In {year:d}, {what} at {place} went from {old} to {new}.",
            "Before {year:d}, {what} at {place} was {old}; since {year:d} it has been {new}.",
            "Since {year:d}, {what} at {place} has been {new}. It had been {old} until then.",
        ],
        [
            "{what} at {place} {rose} by {diff} in {year:d}.",
            "Before the change in {year:d}, {what} at {place} was {old}.",
            "After the change in {year:d}, {what} at {place} was {new}.",
            "{what} at {place} {rose} in {year:d}, it did not go {fell_way}.",
            "The change of {year:d} brought {what} at {place} to {new}.",
        ],
        [
            "{what} at {place} {rose} from {new} to {old} in {year:d}.",
            "In {year:d}, {what} at {place} {fell}.",
            "Before the change in {year:d}, {what} at {place} was {new}.",
            "After the change in {year:d}, {what} at {place} was {old}.",
            "In {year:d}, {what} at {place} did not change.",
            "{what} at {place} {rose} by {wrong_diff} in {year:d}.",
        ],
        [
            "{other} at {place} {rose} from {old} to {new} in {year:d}.",
            "{what} at {place} {rose} because {other} had changed.",
            "{other} at {place} was {new} in {year:d}.",
        ],
        what=what,
        place=place,
        other=other,
        rose=rose,
        fell=fell,
        fell_way="down" if up else "up",
        old=old,
        new=new,
        diff=high - low,
        wrong_diff=high - low + chance.randint(1, 20),
        year=year,
    )


_MULTIPLES = ((2, "doubled", "halved"), (3, "tripled", "doubled"), (4, "quadrupled", "doubled"))


def _multiple_change(chance: random.Random) -> NumberCase:
    """Doubled, tripled or halved."""
    what, place, other = chance.choice(_RISING)
    times, verb, wrong = chance.choice(_MULTIPLES)
    old = chance.randint(3, 90) * 5
    return build(
        chance,
        "doubled or tripled",
        [
            "{what} at {place} {verb}: it was {old} and is now {new}.",
            "Within ten years, {what} at {place} rose from {old} to {new}.",
            "{what} at {place} used to be {old}. Today it is {new}.",
        ],
        [
            "{what} at {place} {verb}.",
            "{what} at {place} is now {times:w} times what it was.",
            "{what} at {place} is {diff} more than it was.",
            "{what} at {place} is no longer {old}.",
        ],
        [
            "{what} at {place} {wrong}.",
            "{what} at {place} rose by half.",
            "{what} at {place} is now {more} times what it was.",
            "{what} at {place} is still {old}.",
        ],
        [
            "{other} at {place} {verb}.",
            "{what} at {place} will be {next} in ten years.",
            "{other} at {place} used to be {old}.",
        ],
        what=what,
        place=place,
        other=other,
        verb=verb,
        wrong=wrong,
        times=times,
        more=times + chance.randint(1, 3),
        old=old,
        new=old * times,
        diff=old * (times - 1),
        next=old * times * 2,
    )


_PARTS = (
    ("the class", "girls", "boys", "children"),
    ("the choir", "women", "men", "singers"),
    ("the tour group", "adults", "children", "people"),
    ("the fleet", "vans", "cars", "vehicles"),
    ("the kennel", "dogs", "cats", "animals"),
    ("the menu", "starters", "main courses", "dishes"),
    ("the course", "lectures", "seminars", "sessions"),
    ("the building", "flats", "shops", "units"),
    ("the jury", "women", "men", "jurors"),
)


def _sum(chance: random.Random) -> NumberCase:
    """Two parts and their total; the parts exchanged."""
    whole, one, two_, all_ = chance.choice(_PARTS)
    low, high = two(chance, 3, 60)
    first, second = (low, high) if chance.random() < 0.5 else (high, low)
    more, fewer = (one, two_) if first > second else (two_, one)
    return build(
        chance,
        "two parts and their sum",
        [
            "{whole} consists of {a} {one} and {b} {two}.",
            "There are {a} {one} and {b} {two} in {whole}; that is all.",
            "{whole} has {total} {all}: {a} {one} and {b} {two}.",
            "Of the {total} {all} in {whole}, {a} are {one} and the others are {two}.",
        ],
        [
            "There are {total} {all} in {whole} altogether.",
            "There are {b} {two} in {whole}.",
            "There are {a} {one} in {whole}.",
            "{whole} has more {more} than {fewer}.",
            "{whole} does not have as many {fewer} as {more}.",
            "{whole} has {diff} more {more} than {fewer}.",
        ],
        [
            "There are {a} {two} in {whole}.",
            "There are {b} {one} in {whole}.",
            "{whole} consists of {b} {one} and {a} {two}.",
            "{whole} has more {fewer} than {more}.",
            "{whole} has as many {one} as {two}.",
            "There are {high} {all} in {whole} altogether.",
            "There are no {two} in {whole}.",
        ],
        [
            "{whole} used to have {b} {one}.",
            "Next year there will be {total} {two} in {whole}.",
            "{whole} never had more than {total} {all}.",
        ],
        whole=whole,
        one=one,
        two=two_,
        all=all_,
        a=first,
        b=second,
        total=first + second,
        high=high,
        diff=high - low,
        more=more,
        fewer=fewer,
    )


_STOCKS = (
    ("tickets", "sold", "left", "the box office"),
    ("copies", "given away", "left", "the stall"),
    ("rooms", "booked", "free", "the hotel"),
    ("parking spaces", "taken", "free", "the garage"),
    ("vacation days", "used", "left", "the employee's account"),
    ("seats", "reserved", "available", "the coach"),
    ("questions", "answered", "open", "the questionnaire"),
)


def _remaining(chance: random.Random) -> NumberCase:
    """A total, what is used, and the rest."""
    things, used, left, place = chance.choice(_STOCKS)
    gone, rest = two(chance, 4, 150)
    if chance.random() < 0.5:
        gone, rest = rest, gone
    return build(
        chance,
        "used and remaining",
        [
            "Of the {total} {things} of {place}, {gone} are already {used} and all others are "
            "{left}.",
            "{place} has {total} {things}; {gone} are {used}, {rest} are still {left}.",
            "{place} had {total} {things} at first. {gone} have been {used}, so {rest} are {left}.",
        ],
        [
            "{rest} {things} of {place} are still {left}.",
            "{gone} {things} of {place} have been {used}.",
            "{place} started with {total} {things}.",
            "Not all {things} of {place} have been {used}.",
            "{more} than half of the {things} of {place} have been {used}.",
        ],
        [
            "{gone} {things} of {place} are still {left}.",
            "{rest} {things} of {place} have been {used}.",
            "No {things} of {place} are {left}.",
            "{total} {things} of {place} have been {used}.",
            "{fewer} than half of the {things} of {place} have been {used}.",
            "None of the {things} of {place} have been {used} so far.",
        ],
        [
            "{gone} {things} of {place} were {used} today.",
            "Last year, {rest} {things} of {place} were never {used}.",
        ],
        things=things,
        used=used,
        left=left,
        place=place,
        gone=gone,
        rest=rest,
        total=gone + rest,
        more="more" if gone > rest else "fewer",
        fewer="fewer" if gone > rest else "more",
    )


def _rank(chance: random.Random) -> NumberCase:
    """Places in a race."""
    first, second, third = chance.sample(PEOPLE, 3)
    place = chance.randint(3, 9)
    better = chance.randint(1, place - 2)
    event = chance.choice(
        ("the marathon", "the chess cup", "the time trial", "the quiz", "the sack race")
    )
    return build(
        chance,
        "ranks",
        [
            "{a} came {better:o} in {event}, {b} came {place:o}.",
            "In {event}, {b} finished in {place:o} place and {a} in {better:o}.",
            "{event} ended with {a} in {better:o} place. {b} took {place:o} place.",
        ],
        [
            "{a} did better than {b} in {event}.",
            "{b} was ranked below {a} in {event}.",
            "{b} did not win {event}.",
            "{b} came {place:o} in {event}.",
            "{a} finished {event} ahead of {b}.",
        ],
        [
            "{b} did better than {a} in {event}.",
            "{a} came {place:o} in {event}, {b} came {better:o}.",
            "{b} won {event}.",
            "{a} was behind {b} in {event}.",
            "{a} and {b} shared {better:o} place in {event}.",
            "{a} finished {event} in {place:o} place.",
        ],
        [
            "{c} came {last:o} in {event}.",
            "{a} has never before come {better:o} in {event}.",
            "{c} did better than {b} in {event}.",
        ],
        a=first,
        b=second,
        c=third,
        place=place,
        better=better,
        last=place + 1,
        event=event,
    )


def _score(chance: random.Random) -> NumberCase:
    """The result of a match."""
    home, away, other = (f"the {team}" for team in chance.sample(TEAMS, 3))
    low, high = two(chance, 0, 6)
    unit = chance.choice(("goal|goals", "goal|goals", "try|tries"))
    town = chance.choice(TOWNS)
    return build(
        chance,
        "result of a match",
        [
            "{a} beat {b} {high:d}–{low:d} in {town}.",
            "{b} lost {low:d}–{high:d} to {a} in {town} on Saturday.",
            "Final score in {town}: {a} {high:d}, {b} {low:d}.",
            "In {town}, {a} won {high:d}:{low:d} against {b}.",
        ],
        [
            "{a} won against {b}.",
            "{b} were beaten by {a}.",
            "{b} did not win the match in {town}.",
            "{a} scored more than {b}.",
            "{b} lost by {diff}.",
            "{a} scored {high} in {town}.",
        ],
        [
            "{b} won against {a}.",
            "{a} were beaten by {b}.",
            "{a} lost {low:d}–{high:d} to {b}.",
            "The match between {a} and {b} ended in a draw.",
            "{b} scored {high} in {town}.",
            "{a} did not win the match in {town}.",
        ],
        [
            "{a} led by {diff} at half-time.",
            "{b} won the first match against {a} {high:d}–{low:d}.",
            "{a} have never lost against {b}.",
            "{c} lost {low:d}–{high:d} to {a}.",
        ],
        a=home,
        b=away,
        c=other,
        low=low,
        high=high,
        diff=high - low,
        unit=unit,
        town=town,
    )


def _record(chance: random.Random) -> NumberCase:
    """Won, drawn and lost."""
    won, drawn, lost = chance.sample(range(1, 20), 3)
    team, other = (f"the {name}" for name in chance.sample(TEAMS, 2))
    more, less = ("more", "fewer") if won > lost else ("fewer", "more")
    return build(
        chance,
        "won and lost",
        [
            "{a} won {w} matches, drew {d} and lost {l} this season.",
            "This season, {a} had {w} wins, {d} draws and {l} defeats.",
            "Season record of {a}: played {n:d}, won {w:d}, drawn {d:d}, lost {l:d}.",
        ],
        [
            "{a} lost {l:match|matches} this season.",
            "{a} won {w:match|matches} this season.",
            "{a} played {n} matches this season.",
            "{d} of this season's matches of {a} ended in a draw.",
            "{a} won {more} matches than they lost this season.",
            "{a} were not beaten in {unbeaten} of the {n} matches of this season.",
        ],
        [
            "{a} lost {w:match|matches} this season.",
            "{a} won {l:match|matches} this season.",
            "{a} won {less} matches than they lost this season.",
            "{a} did not lose any match this season.",
            "{a} never drew this season.",
            "{a} played only {w:match|matches} this season.",
        ],
        [
            "{a} lost {l:match|matches} last season.",
            "{b} won {w:match|matches} this season.",
            "{a} scored {n} goals this season.",
            "{a} finished the season in place {d:d}.",
        ],
        a=team,
        b=other,
        w=won,
        d=drawn,
        l=lost,
        n=won + drawn + lost,
        unbeaten=won + drawn,
        more=more,
        less=less,
    )


def _twice(chance: random.Random) -> NumberCase:
    """Of two things one is twice or half as large."""
    first, second, third = chance.sample(TOWNS, 3)
    times = chance.choice((2, 2, 3, 4))
    small = chance.randint(2, 60) * chance.choice((10, 100, 500))
    word = {2: "twice", 3: "three times", 4: "four times"}[times]
    part = {2: "half", 3: "a third", 4: "a quarter"}[times]
    what = chance.choice(
        ("inhabitants", "trees", "parking spaces", "schoolchildren", "registered cars")
    )
    return build(
        chance,
        "twice and half",
        [
            "{a} has {small} {what}, and {b} has {word} as many.",
            "{a} has {small} {what}; {b} has {large}.",
            "{b} has {large} {what}. {a} has only {part} as many.",
        ],
        [
            "{b} has {large} {what}.",
            "{a} has {small} {what}.",
            "{b} has {word} as many {what} as {a}.",
            "{a} has {part} as many {what} as {b}.",
            "{a} has fewer {what} than {b}.",
            "{a} does not have as many {what} as {b}.",
        ],
        [
            "{a} has {word} as many {what} as {b}.",
            "{b} has {part} as many {what} as {a}.",
            "{a} has {large} {what}.",
            "{b} has {small} {what}.",
            "{a} has more {what} than {b}.",
            "{a} and {b} have the same number of {what}.",
        ],
        [
            "{c} has {small} {what}.",
            "{b} has {word} as many {what} as {c}.",
            "{a} has {word} as many {what} as ten years ago.",
            "{c} has fewer {what} than {b}.",
        ],
        a=first,
        b=second,
        c=third,
        word=word,
        part=part,
        small=small,
        large=small * times,
        what=what,
    )


def _range(chance: random.Random) -> NumberCase:
    """Between a lower and an upper number."""
    low, high = two(chance, 4, 90)
    while high - low < 3:
        low, high = two(chance, 4, 90)
    what, unit, other = chance.choice(
        (
            ("a session", "minutes", "a break"),
            ("a group", "people", "a team"),
            ("the delivery", "days", "a refund"),
            ("a shift", "hours", "training"),
            ("a chapter", "pages", "the appendix"),
            ("a string of the lamp", "bulbs", "a spare pack"),
        )
    )
    verb = "takes" if unit in ("minutes", "days", "hours") else "has"
    return build(
        chance,
        "range",
        [
            "{what} always {verb} between {low} and {high} {unit}.",
            "{what} always {verb} {low} to {high} {unit}.",
            "{what} always {verb} at least {low} and at most {high} {unit}.",
        ],
        [
            "{what} never {verb} more than {high} {unit}.",
            "{what} never {verb} fewer than {low} {unit}.",
            "{what} always {verb} fewer than {above} {unit}.",
            "{what} always {verb} more than {below} {unit}.",
        ],
        [
            "{what} always {verb} more than {high} {unit}.",
            "{what} always {verb} fewer than {low} {unit}.",
            "{what} always {verb} {above} {unit}.",
            "{what} always {verb} only {below} {unit}.",
            "{what} always {verb} at least {high_plus} {unit}.",
        ],
        [
            "{what} always {verb} exactly {middle} {unit}.",
            "{other} always {verb} between {low} and {high} {unit}.",
            "{what} usually {verb} closer to {high} than to {low} {unit}.",
            "{other} never {verb} more than {low} {unit}.",
        ],
        what=what,
        verb=verb,
        unit=unit,
        other=other,
        low=low,
        high=high,
        above=high + chance.randint(1, 20),
        high_plus=high + 1,
        below=low - chance.randint(1, 2),
        middle=low + 1,
    )


CHANGE_FAMILIES: tuple[Family, ...] = (
    _change,
    _multiple_change,
    _sum,
    _remaining,
    _rank,
    _score,
    _record,
    _twice,
    _range,
)
