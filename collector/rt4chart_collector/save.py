"""What was decided, stored in the order in which a crash at any moment loses nothing."""

from __future__ import annotations

from collections.abc import Sequence

from otel_rt4chart.spans.carrier import carrier_ids, carrier_span
from otel_rt4chart.spans.record import SpanRecord
from otel_rt4chart.verdict import Verdict
from rt4chart_collector.retry import Outcome
from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.dead_letters import insert_letters
from rt4chart_collector.store.spans import insert_spans
from rt4chart_collector.store.verdicts import insert_verdicts


def save(client: Client, outcomes: Sequence[Outcome], version: str) -> None:
    """Store the outcomes; `version` is this package's, for the carriers.

    Letters come first, for an answer with a decision and no letter would not be tried again; then
    the carriers, and the verifications, which make an answer decided; last, the letters that are
    answered are taken away.
    """
    insert_letters(client, [one.letter for one in outcomes if one.letter is not None])
    verdicts = [one.verdict for one in outcomes if one.verdict is not None]
    told = [one.verdict for one in outcomes if one.is_told and one.verdict is not None]
    insert_spans(client, [_carrier(verdict, version) for verdict in told])
    insert_verdicts(client, verdicts)
    insert_letters(client, (), settled=[one.settled for one in outcomes if one.settled is not None])


def _carrier(verdict: Verdict, version: str) -> SpanRecord:
    trace_id, span_id = carrier_ids(verdict)
    return carrier_span(verdict, trace_id=trace_id, span_id=span_id, version=version)
