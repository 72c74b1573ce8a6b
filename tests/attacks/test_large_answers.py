"""Answers and passages that are large, or made to be slow to compare."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from threading import Event

import pytest

from otel_rt4chart.spans.exchange.assembly import AssembledTrace
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.verify import (
    AnswerLabel,
    Budget,
    DraftClaim,
    Exchange,
    Label,
    Passage,
    RulesJudge,
    Sentence,
    Verifier,
)
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.pipeline.breaker import Breaker
from rt4chart_collector.pipeline.current_verifier import CurrentVerifier
from rt4chart_collector.pipeline.look_ahead import LookAhead, LookUps
from rt4chart_collector.pipeline.outcome_saver import OutcomeSaver
from rt4chart_collector.pipeline.trace_queue import LARGE_BYTES, TraceQueue
from rt4chart_collector.pipeline.worker import Worker
from rt4chart_collector.service.stages import Shutdown, workers_running
from rt4chart_collector.store.answers.spans import insert_spans
from rt4chart_collector.store.engine.connect import Client
from tests.attacks.scale import scaled
from tests.polling import wait_until
from tests.rt4chart_collector.pipeline.line import spans_from
from tests.rt4chart_collector.records import NOON, SECOND

# The limits themselves in full; else a tenth, and so is what may be spent.
ANSWER, PASSAGES, CPU_S = scaled((5_000, 50_000, 5.0), (50_000, 500_000, 30.0))


def repeated(text: str, size: int) -> str:
    """The text as often as it fits."""
    return text * (size // len(text))


def numbered(form: str, size: int) -> str:
    """The form with 0, 1, 2, … as often as it fits."""
    return "".join(form.format(number) for number in range(size // (len(form) + 3)))


FORMS: dict[str, Callable[[int], str]] = {
    "one token": partial(repeated, "refund "),
    "sentences of one token": partial(repeated, "Refund. "),
    "one word": partial(repeated, "a"),
    "one sentence": partial(numbered, "the agent{0} paid the price in Rome{0} "),
    "quotation marks": partial(repeated, "“"),
    "backquotes": partial(repeated, "`"),
    "ideographic full stops": partial(repeated, "中。"),
    "flags": partial(repeated, "🇩🇪"),
    "numbers": partial(numbered, "{0} "),
    "sentences of one number": partial(numbered, "It is {0}. "),
    "newlines": lambda size: "\n" * (size - 9) + "It is 5.",
    "nearly the same sentence": partial(
        numbered, "The refund policy of the store allows {0} days with a receipt. "
    ),
    "negations": partial(repeated, "not refund "),
    "dates": partial(numbered, "1 May {0} and 2 June. "),
    "names": partial(numbered, "John Smith of Rome{0} "),
    "clauses": partial(numbered, "red{0} and blue, but green; "),
    "quotations": partial(repeated, '"the refund is very quick" '),
    "citations": partial(repeated, "[1] "),
    "brackets": partial(repeated, "[("),
    "a table": partial(numbered, "| a | b |\n|---|---|\n| x | {0} |\n"),
    "rows": lambda size: "name,price\n" + numbered("x{0},5\n", size - 11),
    "fields": lambda size: json.dumps({f"key{n}": f"value {n}" for n in range(size // 24)}),
    "nested": lambda size: "[" * (size // 2) + "]" * (size // 2),
    "list items": partial(repeated, "- item one is red\n"),
    "accents": lambda size: "e" + "\u0301" * (size - 1),
    "ideographs": partial(repeated, "\u6c34"),
    "full stops": partial(repeated, "."),
    "words of one stem": partial(numbered, "refundability{0} is refundable "),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_largest_answer_costs_little_whatever_it_is_made_of(form: str) -> None:
    """Within the limits on size, and with the rules' judge; no claim is left without a label."""
    answer, text = FORMS[form](ANSWER), FORMS[form](PASSAGES)
    half = len(text) // 2
    passages = (Passage("p1", text[:half]), Passage("p2", text[half:]))
    began = time.process_time()

    report = Verifier(RulesJudge()).verify(Exchange("How many days is it [1]?", passages, answer))

    # A bound, no measurement: what it excludes took minutes.
    assert time.process_time() - began < CPU_S
    assert len(report.claims) <= Budget().claims + 1  # type: ignore[operator]


@pytest.mark.parametrize(
    ("budget", "reason"),
    [
        (
            Budget(answer_characters=20),
            "too_large: 54 characters in the answer, expected at most 20",
        ),
        (
            Budget(question_characters=3),
            "too_large: 22 characters in the question, expected at most 3",
        ),
        (
            Budget(passage_characters=9),
            "too_large: 36 characters in the passages, expected at most 9",
        ),
        (Budget(passages=1), "too_large: 2 passages, expected at most 1"),
        (Budget(sentences=1), "too_large: 2 sentences in the passages, expected at most 1"),
    ],
    ids=["answer", "question", "passages", "number", "sentences"],
)
def test_an_answer_beyond_a_limit_is_undecided_as_a_whole(budget: Budget, reason: str) -> None:
    """With the figures, and without any judging."""
    report = Verifier(RulesJudge(), budget=budget).verify(TRIAL)

    assert [(one.label, one.decided_by, one.reason) for one in report.claims] == [
        (Label.UNDECIDED, "budget", reason)
    ]
    assert report.claims[0].answer_range == (0, len(TRIAL.answer))
    assert (report.label, report.hallucination_rate) == (AnswerLabel.UNDECIDED, None)


TRIAL = Exchange(
    "How long is the trial?",
    (Passage("p1", "The trial is 14 days."), Passage("p2", "It is for free.")),
    "The trial is 30 days. The moon is red. It is for free.",
)


def test_claims_beyond_a_limit_are_undecided_and_those_before_are_judged() -> None:
    """The rest of the answer is one claim."""
    report = Verifier(RulesJudge(), budget=Budget(claims=1)).verify(TRIAL)

    assert [(one.label, one.reason) for one in report.claims[1:]] == [
        (Label.UNDECIDED, "too_large: 3 claims in the answer, expected at most 1")
    ]
    assert report.claims[0].label is Label.CONTRADICTED
    assert report.claims[1].answer_range == (22, len(TRIAL.answer))


def test_claims_beyond_the_comparisons_are_undecided() -> None:
    """They are counted before any is made; a claim like no sentence needs none."""
    report = Verifier(RulesJudge(), budget=Budget(comparisons=1)).verify(TRIAL)

    labels = [(one.label, one.decided_by) for one in report.claims]
    assert labels == [
        (Label.CONTRADICTED, RulesJudge().id),
        (Label.BASELESS, "link"),
        (Label.UNDECIDED, "budget"),
    ]
    assert report.claims[2].reason == (
        "too_large: 2 comparisons of a claim with a part of the passages, expected at most 1"
    )


def test_claims_after_the_deadline_are_undecided() -> None:
    """The safety net; a deadline of no time at all leaves every claim."""
    report = Verifier(RulesJudge(), budget=Budget(seconds=0.0)).verify(TRIAL)

    judged = [one for one in report.claims if one.decided_by != "link"]
    assert {(one.label, one.reason) for one in judged} == {
        (Label.UNDECIDED, "took_too_long: 0 s of judging an answer in this process")
    }


class Gated(RulesJudge):
    """Holds every long answer until the test lets it go."""

    def __init__(self) -> None:
        """Closed."""
        super().__init__()
        self.gate = Event()

    def decompose(self, sentences: Sequence[Sentence]) -> Sequence[DraftClaim]:
        """Wait where the answer is long."""
        if len(sentences) > 100:
            assert self.gate.wait(60)
        return super().decompose(sentences)


def whole(spans: tuple[SpanRecord, ...]) -> AssembledTrace:
    """The trace of these spans."""
    return AssembledTrace(spans[0].trace_id, spans, is_whole=True)


def decided(client: Client) -> set[str]:
    """The ids of the traces with a verdict."""
    rows = client.query("SELECT TraceId FROM rt4chart_verifications FINAL").result_rows
    return {trace_id for (trace_id,) in rows}


def test_ordinary_answers_are_decided_while_large_ones_are_judged(client: Client) -> None:
    """Two large answers come first, and two workers would both be busy with them."""
    judge, ticks = Gated(), count(NOON, SECOND)
    queue, metrics = TraceQueue(99, large_at_once=1), ServiceMetrics()
    long = "The trial lasts 14 days. " * (LARGE_BYTES // 25 + 1)
    traces = [whole(spans_from(n, long)) for n in (1, 2)]
    traces += [whole(spans_from(n)) for n in range(3, 13)]
    for trace in traces:
        insert_spans(client, trace.spans)
    verifier = Verifier(judge, budget=Budget(answer_characters=None))
    own, ahead, *siblings = [client.sibling() for _ in range(4)]
    giving_up = Event()
    saver = OutcomeSaver(own, queue.done, metrics, clock=lambda: next(ticks), giving_up=giving_up)
    look_ups = LookUps(saver, CurrentVerifier(verifier, lambda: next(ticks)), metrics)
    workers = [
        Worker(
            one,
            queue,
            saver,
            look_ups,
            metrics,
            Breaker(judge.id, lambda: next(ticks)),
            sample_rate=1.0,
            clock=lambda: next(ticks),
        )
        for one in siblings
    ]
    queue.put(traces)
    look_ahead = LookAhead(ahead, queue, look_ups)
    with workers_running(look_ahead, workers, saver, giving_up, shutdown=Shutdown(60)):
        found = wait_until(lambda: decided(client), lambda traces: len(traces) == 10)
        assert found == {trace.trace_id for trace in traces[2:]}
        assert wait_until(lambda: queue.pending == 2)
        judge.gate.set()

    assert len(decided(client)) == 12
    for one in (own, ahead, *siblings):
        one.close()
