"""A process of its own for the test that kills it: the line on a database, told what to do."""

from __future__ import annotations

import json
import sys

from otel_rt4chart.verify import OpenAIJudge, Verifier
from otel_rt4chart.verify.llm.endpoint import Endpoint
from rt4chart_collector.pipeline.retry import revived_letter
from rt4chart_collector.store.answers.dead_letters import (
    dead_letters,
    insert_letters,
    letter_counts,
)
from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.rates.claim_rates import route_sums
from rt4chart_collector.store.rates.rollup import repair_rollup
from rt4chart_collector.store.schema.migrate import migrate
from tests.rt4chart_collector.pipeline.line import START, Line, decisions, rollup
from tests.rt4chart_collector.records import SECOND

ANSWERS = 40
HOUR = 3600 * SECOND


def answer(number: int) -> str:
    """Each answer has its own words, for a claim that was judged before is not asked about."""
    return f"The trial of plan {number} lasts 14 days."


def main(dsn: str, base_url: str, phase: str) -> None:
    """`take` all answers in, `finish` what waits, or `replay` the dead letters."""
    with (
        connect(dsn) as client,
        Endpoint(base_url=base_url, api_key="bad", max_retries=0) as endpoint,
    ):
        migrate(client)
        repair_rollup(client, 0)
        verifier = Verifier(OpenAIJudge(endpoint))
        begun = {"take": START, "finish": START + HOUR, "replay": START + 20 * HOUR}[phase]
        line = Line(client, verifier, now=begun)
        if phase == "replay":
            found = dead_letters(client, since_ns=0)
            insert_letters(client, [revived_letter(letter, begun) for letter in found])
            line.after(1)
        else:
            # Clients send again what may not have come: here, all of it.
            for number in range(1, ANSWERS + 1):
                line.send(number, answer=answer(number))
        for _ in range(8):
            line.after(61)
        sys.stdout.write(json.dumps(figures(client, verifier.judge.id)))


def figures(client: Client, verifier: str) -> dict[str, object]:
    """What the tables and the rates say."""
    letters = letter_counts(client, verifier)
    sums = route_sums(client)
    return {
        "decisions": {":".join(one): number for one, number in decisions(client).items()},
        "answers": sum(one.answers for one in sums),
        "claims": sum(one.claims + one.undecided for one in sums),
        "rollup": rollup(client)[:2],
        "waiting": letters.waiting,
        "dead": dict(letters.dead),
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
