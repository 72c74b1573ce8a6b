"""Trails in the pipeline: a chain of four steps goes in, and the blamed step is in the store."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import count

import pytest

from otel_rt4chart.core import semconv
from otel_rt4chart.judges.trails import trail_maker
from otel_rt4chart.sampling.layers import Layers, parse_layers
from otel_rt4chart.spans.graph.chain import TraceChain
from otel_rt4chart.spans.model.verdict import Verdict
from otel_rt4chart.verify import LocalJudge, RulesJudge, Verifier
from rt4chart_collector.core.instruments import TRAILS
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.pipeline.additions.earlier_turns import EarlierTurns
from rt4chart_collector.pipeline.additions.trails import AnswerTrails
from rt4chart_collector.pipeline.additions.verdict_additions import VerdictAdditions
from rt4chart_collector.store.answers.trails import TrailRow, trails_of
from rt4chart_collector.store.answers.verifications import verifications_of_trace
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.chain_app import ANSWER, SUMMARY, Made, assembled, run
from tests.rt4chart_collector.one_worker import OneWorker

SECOND = 1_000_000_000
WRONG_SUMMARY = Made(summary=SUMMARY.replace("30", "60"), answer=ANSWER.replace("30", "60"))
WRONG_ANSWER = Made(answer=ANSWER.replace("30", "60"))
Make = Callable[..., OneWorker]


@pytest.fixture
def metrics() -> ServiceMetrics:
    """Nothing counted."""
    return ServiceMetrics()


@pytest.fixture
def worker(client: Client, metrics: ServiceMetrics) -> Make:
    """Makes a worker with trails on the test's database."""
    clock = count(2_000_000_000 * SECOND, SECOND)

    def now() -> int:
        return next(clock)

    def make(
        judge: RulesJudge | LocalJudge | None = None,
        *,
        layers: Layers = Layers(),  # noqa: B008 - frozen
        maker: object = None,
    ) -> OneWorker:
        verifier = Verifier(judge or RulesJudge())
        made = trail_maker(verifier, calls=60) if maker is None else maker
        additions = VerdictAdditions(
            EarlierTurns(metrics, layers=layers, clock=now),
            AnswerTrails(made, metrics, layers=layers, clock=now),  # type: ignore[arg-type]
        )
        return OneWorker(client, verifier, now, metrics=metrics, additions=additions)

    return make


def stored(client: Client, trace_id: str) -> list[TrailRow]:
    """The trails of the trace's answers."""
    found = verifications_of_trace(client, trace_id)
    return [row for verification in found for row in trails_of(client, verification)]


@pytest.mark.parametrize("judge", [RulesJudge, LocalJudge])
@pytest.mark.parametrize(("made", "step"), [(WRONG_SUMMARY, "summarise"), (WRONG_ANSWER, "answer")])
def test_blamed_step_of_a_chain_is_in_the_store(
    client: Client, worker: Make, made: Made, step: str, judge: type[RulesJudge | LocalJudge]
) -> None:
    """The word was changed in one step, which the trail names with its span."""
    spans = run(made)

    worker(judge()).handle([assembled(spans)])

    (row,) = stored(client, spans[0].trace_id)
    (span,) = (span for span in spans if span.name == step)
    assert (row.step_span_id, row.step_name, row.step_kind, row.stage) == (
        *(span.span_id, step),
        *("LLM", step),
    )
    assert (row.index, row.label, row.problem) == (0, "contradicted", "")
    assert (row.service, row.route, row.sample_rate) == ("shop", "research", 1.0)
    assert row.blame.way[-1].evidence[0].text.startswith("Orders can be returned within 30 days")


def test_the_carrier_says_where_the_claim_entered(client: Client, worker: Make) -> None:
    """For whoever reads the spans elsewhere."""
    spans = run(WRONG_SUMMARY)

    worker().handle([assembled(spans)])

    ((found,),) = client.query(
        "SELECT SpanAttributes FROM otel_traces WHERE ScopeName = {scope:String}",
        {"scope": semconv.SCOPE_NAME},
    ).result_rows
    (span,) = (span for span in spans if span.name == "summarise")
    assert found[semconv.BLAME_STAGE] == "summarise"
    assert json.loads(found[semconv.BLAME_CLAIMS]) == [
        {
            "claim": 0,
            "span_id": span.span_id,
            "step": "summarise",
            "stage": "summarise",
            "retrieval": "ignored_by_generator",
        }
    ]


def test_a_trail_that_fails_loses_no_verdict(
    client: Client, worker: Make, metrics: ServiceMetrics
) -> None:
    """It is counted, and the trail says that it failed."""

    class Broken:
        is_remote = False

        def make(self, verdict: Verdict, chain: TraceChain) -> Verdict:
            raise ZeroDivisionError

    spans = run(WRONG_ANSWER)

    worker(maker=Broken()).handle([assembled(spans)])

    (row,) = stored(client, spans[0].trace_id)
    assert (row.stage, row.problem) == ("", "tracing it failed: ZeroDivisionError")
    assert metrics.counts(TRAILS)["failed",] == 1


def test_trails_are_written_once_however_often_a_trace_comes(
    client: Client, worker: Make, metrics: ServiceMetrics
) -> None:
    """A repeated trace is not traced again."""
    spans = run(WRONG_ANSWER)

    worker().handle([assembled(spans)])
    worker().handle([assembled(spans)])

    assert client.query("SELECT count() FROM rt4chart_trails").result_rows == [(1,)]
    assert metrics.counts(TRAILS)["located",] == 1


def test_layers_switch_trails_off_by_route(
    client: Client, worker: Make, metrics: ServiceMetrics
) -> None:
    """The verdict stays, without a trail."""
    spans = run(WRONG_ANSWER)

    worker(layers=parse_layers("research: trail=0")).handle([assembled(spans)])

    assert stored(client, spans[0].trace_id) == []
    assert len(verifications_of_trace(client, spans[0].trace_id)) == 1
    assert metrics.total(TRAILS) == 0


def test_an_answer_of_one_step_is_counted_as_such(
    client: Client, worker: Make, metrics: ServiceMetrics
) -> None:
    """It has no trail: its only step wrote whatever is wrong."""
    made = replace(WRONG_ANSWER, passages=("kb-1", "kb-2"))
    spans = [span for span in run(made) if span.name not in ("summarise", "rerank")]

    worker().handle([assembled(spans)])

    assert stored(client, spans[0].trace_id) == []
    assert metrics.counts(TRAILS)["one_step",] == 1


def test_steps_of_a_batch_are_not_told_apart(
    client: Client, worker: Make, metrics: ServiceMetrics
) -> None:
    """A trace of many answers would be read once for each."""
    requests = [run(WRONG_ANSWER) for _ in range(21)]
    trace_id = requests[0][0].trace_id
    spans = [replace(span, trace_id=trace_id) for request in requests for span in request]

    worker().handle([assembled(spans)])

    rows = stored(client, trace_id)
    assert {row.stage for row in rows} == {""}
    assert rows[0].problem.startswith("the trace has 21 answers")
    assert metrics.counts(TRAILS)["no_chain",] == len(rows) == 21


def test_hostile_names_of_steps_are_stored_as_text(client: Client, worker: Make) -> None:
    """Control characters are replaced, and a name of any length has a bounded one."""
    name = "sum'); DROP TABLE x -- <script>\u202e\x00" + "x" * 1_000
    spans = run(replace(WRONG_SUMMARY, names=("search", "rerank", name, "answer")))

    worker().handle([assembled(spans)])

    (row,) = stored(client, spans[0].trace_id)
    assert row.step_name.startswith("sum'); DROP TABLE x -- <script>")
    assert len(row.step_name) == 500
    assert row.step_name.isprintable()
