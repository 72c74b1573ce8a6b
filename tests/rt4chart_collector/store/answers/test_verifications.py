"""The decisions on one answer, compared with a plain statement over all rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from otel_rt4chart.spans.model.verdict import Decision
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.answers.verifications import (
    VERIFICATIONS,
    Verification,
    verifications_of,
)
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read
from tests.rt4chart_collector.records import NOON, SECOND, verdict

DAY = 86_400 * SECOND
ANSWERS = range(1, 25)
IN_FORCE = f"""
SELECT {VERIFICATIONS.select()} FROM rt4chart_verifications FINAL
WHERE IsDeleted = 0 AND TraceId = {{trace:String}} AND SpanId = {{span:String}}
ORDER BY Decision != 'verified', Version DESC, VerifierId LIMIT 1 BY VerifierId
"""  # noqa: S608 - our own names


@pytest.fixture
def rewritten(client: Client) -> Iterator[Client]:
    """Answers with replaced, withdrawn and moved decisions of several verifiers, in many parts."""
    client.command("SYSTEM STOP MERGES rt4chart_verifications")
    chance = Random(7)  # noqa: S311 - data
    insert_verdicts(client, [verdict(number) for number in ANSWERS])
    (row,) = verifications_of(client, f"{1:032x}", f"{1:016x}")
    versions = chance.sample(range(1, 100), 8)
    for version in versions:
        written = [
            replace(
                row,
                trace_id=f"{number:032x}",
                span_id=f"{number:016x}",
                route=chance.choice(["support", "support", "sales"]),
                start_ns=row.start_ns + chance.choice([0, 0, 0, DAY]),
                verifier=chance.choice(["a/1", "b/1", row.verifier]),
                decision=chance.choice([Decision.VERIFIED, Decision.ERROR]),
                question=f"asked {version} times",
                version=row.version + version * SECOND,
                is_deleted=chance.random() < 0.3,
            )
            for number in ANSWERS
        ]
        VERIFICATIONS.insert(client, written, token=f"written {version}")
    try:
        yield client
    finally:
        client.command("SYSTEM START MERGES rt4chart_verifications")


def test_the_decisions_in_force_are_those_of_a_plain_statement(rewritten: Client) -> None:
    """Whatever was replaced, withdrawn or written on another route or day, before any merge."""
    seen = 0
    for number in ANSWERS:
        key = (f"{number:032x}", f"{number:016x}")

        found = verifications_of(rewritten, *key)

        parameters = dict(zip(("trace", "span"), key, strict=True))
        assert found == read(rewritten, Verification, IN_FORCE, parameters)
        seen += len(found)
    assert seen > 2 * len(ANSWERS)


def test_a_start_that_is_known_selects_the_decisions_on_it(rewritten: Client) -> None:
    """As where it is found, without the rows of another start."""
    for number in ANSWERS:
        key = (f"{number:032x}", f"{number:016x}")
        starts = {one.start_ns for one in verifications_of(rewritten, *key)}
        if len(starts) == 1:
            (start_ns,) = starts
            of_start = verifications_of(rewritten, *key, start_ns=start_ns)
            assert {one.verifier for one in of_start} >= {
                one.verifier for one in verifications_of(rewritten, *key)
            }
    assert verifications_of(rewritten, f"{1:032x}", f"{1:016x}", start_ns=NOON - DAY) == []
