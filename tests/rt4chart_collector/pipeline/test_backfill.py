"""Stored answers verified by another judge, or once more by the same."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from otel_rt4chart.judges.batch import MAX_FAILURES_IN_A_ROW
from otel_rt4chart.sampling.layers import parse_layers
from otel_rt4chart.testing import Script, ScriptedJudge
from otel_rt4chart.verify import Label, OpenAIJudge, RulesJudge, Verifier
from otel_rt4chart.verify.llm.endpoint import Endpoint
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.pipeline.additions.verdict_additions import (
    VerdictAdditions,
    verdict_additions,
)
from rt4chart_collector.pipeline.backfill import Backfill, BackfillFilter
from rt4chart_collector.store.answers.spans import insert_spans
from rt4chart_collector.store.answers.trails import trails_of
from rt4chart_collector.store.answers.verifications import verifications_of_trace
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.rates.claim_rates import route_sums
from tests.endpoint_server import Answer, EndpointServer, Seen, error
from tests.rt4chart_collector.chain_app import ANSWER, Made, run
from tests.rt4chart_collector.pipeline.line import BAD, GOOD, Line, carriers, decisions, rollup
from tests.rt4chart_collector.records import NOON, SECOND

RULES = Verifier(RulesJudge())
# No two moments are the same, whichever run they belong to.
CLOCK = count(NOON + 86_400 * SECOND)


def scripted(label: Label, name: str = "scripted/1") -> Verifier:
    """A judge that gives both answers that label."""
    script = Script(label, evidence=("14 days",))
    return Verifier(ScriptedJudge({GOOD: script, BAD: script}, id=name))


def backfill(
    client: Client,
    verifier: Verifier,
    selection: BackfillFilter = BackfillFilter(0),  # noqa: B008 - frozen
    *,
    rate: float = 1.0,
    jobs: int = 2,
    additions: VerdictAdditions | None = None,
) -> Backfill:
    """A run from beginning to end, later than all that has been."""
    run = Backfill(
        client,
        verifier,
        selection,
        sample_rate=rate,
        clock=lambda: next(CLOCK),
        version="0",
        jobs=jobs,
        additions=additions,
    )
    list(run.verify_all())
    return run


@pytest.fixture
def stored(client: Client) -> Client:
    """A database with three good answers and a bad one, verified by the rules."""
    line = Line(client, RULES)
    line.send(1, 2, 3)
    line.send(4, answer=BAD, route="billing")
    return client


def by_verifier(client: Client) -> dict[str, tuple[int, int]]:
    """Each verifier's answers and contradicted claims, in the rates and in the rollup alike."""
    found: dict[str, tuple[int, int]] = {}
    rows = client.query(
        "SELECT VerifierId, sum(Answers), sum(Contradicted) FROM rt4chart_route_1m GROUP BY ALL"
    ).result_rows
    for verifier, answers, contradicted in rows:
        sums = route_sums(client, verifier=verifier)
        exact = sum(one.answers for one in sums), sum(one.contradicted for one in sums)
        assert exact == (answers, contradicted)
        found[verifier] = exact
    return found


def test_another_judge_stands_beside_the_first(stored: Client) -> None:
    """Each with a verdict and a carrier an answer, and each with rates of its own."""
    run = backfill(stored, scripted(Label.ENTAILED))

    assert (run.count, run.errors, run.stopped) == (4, 0, "")
    assert by_verifier(stored) == {RULES.judge.id: (4, 1), "scripted/1": (4, 0)}
    assert carriers(stored) == 8
    assert next(run.lines()) == "4 answers, 0 with an error"


def test_second_run_has_nothing_to_do(stored: Client) -> None:
    """What the judge has verified is skipped."""
    backfill(stored, scripted(Label.ENTAILED))
    again = backfill(stored, scripted(Label.ENTAILED))

    assert again.count == 0
    assert by_verifier(stored)["scripted/1"] == (4, 0)


def test_again_replaces_what_the_judge_said_before(stored: Client) -> None:
    """In the tables, in the rates and in the rollup; the carriers stay those that were sent."""
    backfill(stored, scripted(Label.ENTAILED))
    run = backfill(stored, scripted(Label.CONTRADICTED), BackfillFilter(0, again=True))

    claims = stored.query(
        "SELECT count() FROM rt4chart_claims FINAL "
        "WHERE IsDeleted = 0 AND VerifierId = 'scripted/1'"
    ).result_rows
    assert run.count == 4
    assert by_verifier(stored)["scripted/1"] == (4, 4)
    assert claims == [(4,)]
    assert carriers(stored) == 8


def test_run_that_was_cut_short_goes_on_where_it_ended(stored: Client) -> None:
    """Verdicts are stored as they come."""
    cut = backfill(stored, scripted(Label.ENTAILED), BackfillFilter(0, limit=3))
    rest = backfill(stored, scripted(Label.ENTAILED))

    assert (cut.count, rest.count) == (3, 1)
    assert by_verifier(stored)["scripted/1"] == (4, 0)


def test_interrupted_run_keeps_what_it_has(stored: Client) -> None:
    """Whoever stops reading, or interrupts."""
    run = Backfill(
        stored,
        scripted(Label.ENTAILED),
        BackfillFilter(0),
        sample_rate=1.0,
        clock=lambda: next(CLOCK),
        version="0",
    )
    answers = run.verify_all()
    next(answers)
    next(answers)
    answers.close()  # type: ignore[attr-defined]

    assert by_verifier(stored)["scripted/1"] == (2, 0)


@pytest.mark.parametrize(
    ("selection", "number"),
    [
        (BackfillFilter(0, route="billing"), 1),
        (BackfillFilter(0, route="nowhere"), 0),
        (BackfillFilter(NOON + SECOND), 0),
        (BackfillFilter(0, NOON), 0),
        (BackfillFilter(NOON, NOON + SECOND), 4),
    ],
)
def test_answers_are_chosen_by_route_and_time(
    stored: Client, selection: BackfillFilter, number: int
) -> None:
    """`since` belongs to the time, `until` does not."""
    assert backfill(stored, scripted(Label.ENTAILED), selection).count == number


def test_sample_is_the_service_s(stored: Client) -> None:
    """An answer outside it is skipped, and says so."""
    run = backfill(stored, scripted(Label.ENTAILED), rate=0.0)

    assert (run.count, dict(run.skipped)) == (0, {"not_sampled": 4})
    assert "skipped: 4 × not_sampled" in list(run.lines())


def test_weight_of_an_answer_outlives_a_second_verdict(client: Client) -> None:
    """It is the probability with which the answer came in, whatever the setting is today."""
    backfill_rate = 0.5
    Line(client, RULES).send(*range(1, 9))
    first = backfill(client, scripted(Label.ENTAILED), rate=backfill_rate)
    again = backfill(client, scripted(Label.BASELESS), BackfillFilter(0, again=True), rate=1.0)

    rates = client.query(
        "SELECT DISTINCT SampleRate FROM rt4chart_verifications FINAL "
        "WHERE VerifierId = 'scripted/1' AND Label = 'baseless'"
    ).result_rows
    assert 0 < first.count < 8
    assert again.count == 8
    assert {rate for (rate,) in rates} == {0.5, 1.0}


@pytest.fixture
def failing() -> Iterator[tuple[Verifier, list[Answer]]]:
    """A judge behind an endpoint that gives the answer in the list."""
    answers = [error(429, "slow down")]

    def script(seen: Seen) -> Answer:
        return answers[0]

    with (
        EndpointServer(script) as server,
        Endpoint(base_url=server.base_url, api_key="bad", max_retries=0) as endpoint,
    ):
        yield Verifier(OpenAIJudge(endpoint)), answers


def test_judge_that_fails_stops_the_run_and_leaves_no_trace(
    client: Client, failing: tuple[Verifier, list[Answer]]
) -> None:
    """After a few answers in a row, as `verify` does; the next run takes them up."""
    Line(client, RULES).send(*range(1, 9))
    run = backfill(client, failing[0], jobs=1)

    assert (run.count, run.errors) == (MAX_FAILURES_IN_A_ROW, MAX_FAILURES_IN_A_ROW)
    assert run.stopped.startswith("stopped: 5 answers in a row got no verdict: gpt-4o-mini: 429")
    assert decisions(client) == {("verified", "entailed"): 8}


def test_failed_attempt_does_not_replace_a_verdict(
    client: Client, failing: tuple[Verifier, list[Answer]]
) -> None:
    """What was said before is better than nothing."""
    judge = failing[0].judge.id
    Line(client, scripted(Label.BASELESS, judge)).send(1)
    run = backfill(client, failing[0], BackfillFilter(0, again=True))

    assert (run.count, run.errors) == (1, 1)
    assert decisions(client) == {("verified", "baseless"): 1}


def test_error_is_taken_up_and_its_letter_is_settled(
    client: Client, failing: tuple[Verifier, list[Answer]]
) -> None:
    """A backfill is an attempt too: what it verifies waits no longer."""
    line = Line(client, failing[0])
    line.send(1)
    run = backfill(client, scripted(Label.ENTAILED, failing[0].judge.id))
    line.after(6)

    assert run.count == 1
    assert decisions(client) == {("verified", "entailed"): 1}
    assert line.status()["retries_waiting"] == 0
    assert rollup(client)[0] == 1


@pytest.mark.parametrize(("layers", "blamed"), [("trail=1", ["answer"] * 3), ("trail=0", [])])
def test_failed_claims_are_traced_as_the_service_does(
    client: Client, layers: str, blamed: list[str]
) -> None:
    """By the same layers; in each of several threads, and once however often it runs."""
    traces = [run(Made(answer=ANSWER.replace("30", "60"))) for _ in range(3)]
    for spans in traces:
        insert_spans(client, spans)
    additions = verdict_additions(
        RULES,
        ServiceMetrics(),
        layers=parse_layers(layers),
        calls=60,
        clock=lambda: next(CLOCK),
    )

    backfill(client, RULES, additions=additions)
    backfill(client, RULES, BackfillFilter(0, again=True), additions=additions)

    found = [
        trail.step_name
        for spans in traces
        for verification in verifications_of_trace(client, spans[0].trace_id)
        for trail in trails_of(client, verification)
    ]
    assert found == blamed
