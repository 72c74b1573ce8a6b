"""A claim that an earlier turn supports, on the page of its answer."""

from __future__ import annotations

import re
from itertools import count

from otel_rt4chart.sampling.layers import parse_layers
from otel_rt4chart.verify import RulesJudge, Verifier
from rt4chart_collector.core.metrics import ServiceMetrics
from rt4chart_collector.pipeline.additions.verdict_additions import verdict_additions
from rt4chart_collector.store.answers.spans import insert_spans
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.chain_app import assembled
from tests.rt4chart_collector.console.pages.answer_data import console
from tests.rt4chart_collector.conversation_app import RETURNS, SHIPPING, turn
from tests.rt4chart_collector.one_worker import OneWorker


def test_the_turn_is_named_and_its_text_is_shown(client: Client) -> None:
    """As a passage that supports the claim, and was not dropped."""
    clock = count(2_000_000_000_000_000_000, 1_000_000_000)
    verifier, metrics = Verifier(RulesJudge()), ServiceMetrics()
    layers = parse_layers("earlier_turns=1")
    additions = verdict_additions(
        verifier, metrics, layers=layers, calls=60, clock=lambda: next(clock)
    )
    first = turn("May I return it?", f"{RETURNS} Lenses are excluded.", "Yes.")
    last = turn("And the shipping?", SHIPPING, f"{SHIPPING} {RETURNS}")
    insert_spans(client, [*first, *last])
    worker = OneWorker(client, verifier, lambda: next(clock), metrics=metrics, additions=additions)
    worker.handle([assembled(last)])
    answer = next(span for span in last if span.name == "answer")

    with console(client) as browser:
        page = browser.get(f"/answers/{answer.trace_id}/{answer.span_id}").text

    text = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", page))
    assert "1 turn earlier: kb-1" in text
    assert "of an earlier turn" in text
    assert "Lenses are excluded." in text
    assert "dropped: retrieved" not in text
