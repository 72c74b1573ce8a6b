"""Failures as they come back from the store."""

from __future__ import annotations

from dataclasses import replace

from otel_rt4chart.verify.core.model import Clash, Label
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.failures import failures, failures_by_key
from tests.rt4chart_clustering.made import NOON, failure, numbers, verdict

HOSTILE = "'; DROP TABLE rt4chart_claims; -- {since:Int64} 🙂 \\"


def test_failure_comes_back_whole(any_client: Client) -> None:
    """Claim, question, evidence, clashes and the nearest sentence survive the store."""
    stored = replace(
        failure(1, HOSTILE, HOSTILE, clashes=(Clash("number", "14", "30"),)), nearest=HOSTILE
    )
    insert_verdicts(any_client, [verdict(stored)])

    assert failures(any_client, since_ns=0) == [stored]


def test_supported_claims_are_no_failures(client: Client) -> None:
    """Only contradicted and baseless claims are read."""
    claims = [replace(one, label=label) for one, label in zip(numbers(5), Label, strict=True)]
    insert_verdicts(client, [verdict(one) for one in claims if one.label in DECIDED])

    found = failures(client, since_ns=0)

    assert {one.label for one in found} == {Label.CONTRADICTED, Label.BASELESS}


DECIDED = (Label.ENTAILED, Label.CONTRADICTED, Label.BASELESS, Label.UNDECIDED)


def test_failures_since_a_time_are_the_newest_first(client: Client) -> None:
    """What is older is left out, and a limit keeps what is newest."""
    insert_verdicts(client, [verdict(one) for one in numbers(6)])

    recent = failures(client, since_ns=NOON + 3)

    assert [one.time_ns - NOON for one in recent] == [6, 5, 4, 3]
    assert failures(client, since_ns=0, limit=2) == recent[:2]


def test_claim_that_was_verified_again_counts_as_it_is_now(client: Client) -> None:
    """A later verdict that finds support takes the failure away."""
    (one,) = numbers(1)
    insert_verdicts(client, [verdict(one)])

    insert_verdicts(client, [verdict(replace(one, label=Label.ENTAILED), version=2)])

    assert failures(client, since_ns=0) == []


def test_of_two_verifiers_the_last_one_speaks(client: Client) -> None:
    """An answer judged twice has each of its failures once."""
    (one,) = numbers(1)
    insert_verdicts(client, [verdict(one, verifier="openai/x")])

    insert_verdicts(client, [verdict(replace(one, label=Label.BASELESS), version=2)])

    assert [found.label for found in failures(client, since_ns=0)] == [Label.BASELESS]


def test_failures_by_key_keep_the_order_asked_for(client: Client) -> None:
    """Keys that are gone are left out."""
    one, two, three = numbers(3)
    insert_verdicts(client, [verdict(one), verdict(two)])

    assert failures_by_key(client, [two.key, three.key, one.key]) == [two, one]
    assert failures_by_key(client, []) == []
