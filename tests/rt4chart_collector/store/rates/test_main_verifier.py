"""Whose verdicts are looked at where several verifiers work on one store."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import count

import pytest

from otel_rt4chart.spans.model.verdict import Decision
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.rates.verifiers import main_verifier
from tests.rt4chart_collector.records import NOON, SECOND, verdict

HOUR = 3600 * SECOND
DAY = 24 * HOUR
# The beginning of a day in UTC.
START = NOON // DAY * DAY
_numbers = count(1)


def judged(client: Client, name: str, times: list[int]) -> None:
    """A verdict of this verifier on an answer of each of these times."""
    made = [verdict(next(_numbers), start_ns=at, decided_ns=at) for at in times]
    insert_verdicts(client, [replace(one, verifier=name) for one in made])


def every(minutes: float, since_ns: int, until_ns: int) -> list[int]:
    """Times so far apart."""
    return list(range(since_ns, until_ns, round(minutes * 60) * SECOND))


def test_the_only_one_and_none(any_client: Client) -> None:
    """Of the last seven days; what has no verdict is not counted, nor what is dated ahead."""
    judged(any_client, "a", [START])
    unread = verdict(9, decision=Decision.NO_CONTEXT, start_ns=START + HOUR // 2)
    insert_verdicts(any_client, [replace(unread, verifier="c")] * 20)
    judged(any_client, "b", [START + 30 * DAY])

    assert main_verifier(any_client, START + HOUR) == "a"
    assert main_verifier(any_client, START + 8 * DAY) == ""


@pytest.mark.parametrize("first", ["a/judge", "z/judge"])
def test_two_at_work_do_not_take_turns(client: Client, first: str) -> None:
    """On the first day of a store the one that began it stays, whoever has the newest answer."""
    rng = random.Random(5)  # noqa: S311 - traffic, no secret
    judged(client, first, [START])
    seen, at = set(), START + 10 * 60 * SECOND
    for _ in range(60):
        at += round(rng.expovariate(1 / 60) * SECOND)
        judged(client, first if rng.random() < 0.5 else "m/judge", [at])
        seen.add(main_verifier(client, at + SECOND))

    assert seen == {first}


def test_the_one_with_most_of_the_last_whole_day(client: Client) -> None:
    """It changes at the end of a day in UTC alone; of about as many, the first by name."""
    judged(client, "b", every(12, START, START + 3 * DAY))
    judged(client, "a", every(60, START + HOUR, START + DAY))
    judged(client, "a", every(4, START + DAY, START + 2 * DAY))
    judged(client, "a", every(11, START + 2 * DAY, START + 3 * DAY))

    assert main_verifier(client, START + 2 * DAY - HOUR) == "b"
    assert main_verifier(client, START + 2 * DAY + HOUR) == "a"
    assert main_verifier(client, START + 3 * DAY - HOUR) == "a"
    judged(client, "b", every(10, START + 2 * DAY, START + 3 * DAY))
    assert main_verifier(client, START + 3 * DAY) == "b"


@pytest.mark.parametrize("minutes", [1, 5])
def test_one_that_took_the_place_of_another(client: Client, minutes: float) -> None:
    """It is looked at within two hours, however many verdicts the other has of the day before."""
    end = START + 2 * DAY + 10 * HOUR + 25 * 60 * SECOND
    judged(client, "old", every(10, START, end))
    judged(client, "new", every(minutes, end, end + 3 * HOUR))

    assert main_verifier(client, end + HOUR // 2) == "old"
    assert main_verifier(client, end + 2 * HOUR) == "new"
    assert main_verifier(client, end + DAY) == "new"


def test_where_answers_are_rare_it_takes_longer(client: Client) -> None:
    """An answer or two by another say nothing: a day without any, or a dozen of the other's do."""
    judged(client, "old", every(60, START, START + DAY))
    judged(client, "new", [START + DAY + 3 * HOUR, START + DAY + 20 * HOUR])
    assert main_verifier(client, START + DAY + 20 * HOUR + SECOND) == "old"

    judged(client, "new", [START + 2 * DAY])
    assert main_verifier(client, START + 2 * DAY + SECOND) == "new"
