"""The answers of a trace, with the context that they link to in other traces."""

from __future__ import annotations

from collections.abc import Sequence

from otel_rt4chart.spans.exchanges import candidates, links_wanted
from otel_rt4chart.spans.record import SpanRecord
from otel_rt4chart.verdict import Candidate, Decision
from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.spans import spans_of


def answers_in(client: Client, spans: Sequence[SpanRecord]) -> Sequence[Candidate]:
    """A trace's answers; linked traces are read where an answer has no context of its own."""
    found = candidates(spans)
    if any(one.blocked is Decision.NO_CONTEXT for one in found) and (wanted := links_wanted(spans)):
        return candidates(spans, spans_of(client, sorted(wanted)))
    return found
