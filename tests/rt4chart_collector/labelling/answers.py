"""A database with verified answers and their spans, for the tests of labelling."""

from __future__ import annotations

import pytest

from otel_rt4chart.verify import RulesJudge, Verifier
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.draws import DrawRequest, LabelDraw, draw_claims
from tests.rt4chart_collector.pipeline.line import BAD, GOOD, Line
from tests.rt4chart_collector.records import NOON, SECOND

RULES = Verifier(RulesJudge())
NOW = NOON + 3600 * SECOND


def judged(client: Client, *, good: int = 3, bad: int = 2, route: str = "support") -> None:
    """Answers that the rules entail and contradict, with the spans that they come from."""
    line = Line(client, RULES)
    line.send(*range(1, good + 1), answer=GOOD, route=route)
    line.send(*range(good + 1, good + bad + 1), answer=BAD, route=route)


def drawn(client: Client, size: int = 10, *, double: float = 0.0) -> LabelDraw:
    """A draw of all that the rules judged."""
    scope = QueryScope(0, NOW, RULES.judge.id)
    return draw_claims(client, DrawRequest(scope, size, "ann", double_share=double), now_ns=NOW)


@pytest.fixture
def stored(client: Client) -> Client:
    """Three entailed and two contradicted claims."""
    judged(client)
    return client
