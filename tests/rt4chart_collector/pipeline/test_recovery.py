"""The search for lost answers passes over what is in hand."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify import Verifier
from otel_rt4chart.verify.local.rules_judge import RulesJudge
from rt4chart_collector.core.instruments import UNSAVED_TRACES
from rt4chart_collector.store.answers.spans import insert_spans
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.pipeline.line import Line, spans_from
from tests.rt4chart_collector.records import SECOND


@pytest.fixture
def line(client: Client) -> Line:
    """The service from the open traces on."""
    return Line(client, Verifier(RulesJudge()))


def recovered(line: Line) -> object:
    """What the status says."""
    return line.status()["spans_recovered"]


def test_open_trace_is_not_found_again(client: Client, line: Line) -> None:
    """It lies in the store without a decision, as one that was lost does."""
    for number in (1, 2):
        insert_spans(client, spans_from(number))
    line.assembler.accept(spans_from(1))

    line.assembler.step()

    assert (recovered(line), line.queue.pending) == (3, 2)
    line.after(1)
    assert line.decisions() == {("verified", "entailed"): 2}


def test_trace_of_a_worker_is_not_found_again(client: Client, line: Line) -> None:
    """A search that was asked for meanwhile passes over it, and finds it once it is given up."""
    insert_spans(client, spans_from(1))
    line.assembler.accept(spans_from(1))
    line.assembler.step()
    leased = line.queue.lease(1)
    line.metrics.add(UNSAVED_TRACES)
    line.assembler.step()

    line.now += 31 * SECOND
    line.assembler.step()

    assert recovered(line) == 0
    line.queue.done(leased)
    line.metrics.add(UNSAVED_TRACES)
    line.assembler.step()
    line.after(31)
    assert (recovered(line), line.decisions()) == (3, {("verified", "entailed"): 1})
