"""Reads the traces of failures: their spans, answers and passages."""

from __future__ import annotations

from collections.abc import Sequence

from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Candidate
from rt4chart_clustering.explain.loss_stage import PassageSeen
from rt4chart_collector.pipeline.additions.earlier_turns import earlier_passages
from rt4chart_collector.pipeline.decision import read_answers
from rt4chart_collector.store.answers.spans import spans_of
from rt4chart_collector.store.answers.verifications import (
    SeenPassage,
    last_verifications,
)
from rt4chart_collector.store.engine.columns import AnswerKey
from rt4chart_collector.store.engine.connect import Client

_MAX_TRACES = 64


class TraceReader:
    """Reads traces from the store, and keeps the last ones in memory."""

    def __init__(self, client: Client) -> None:
        """The caller closes the client."""
        self._client = client
        self._traces: dict[str, list[SpanRecord]] = {}

    def load(self, traces: Sequence[str]) -> None:
        """Read these traces in one statement; at most 64 are kept."""
        missing = [one for one in dict.fromkeys(traces) if one not in self._traces]
        if len(self._traces) + len(missing) > _MAX_TRACES:
            self._traces.clear()
        self._traces |= {one: [] for one in missing}
        for span in spans_of(self._client, missing) if missing else ():
            if not span.is_verdict:
                self._traces[span.trace_id].append(span)

    def spans(self, trace: str) -> list[SpanRecord]:
        """The application's spans of a trace, by time; none if they are no longer stored."""
        self.load([trace])
        return self._traces.get(trace, [])

    def answer(self, key: AnswerKey) -> Candidate | None:
        """The answer of that trace and span, as its spans record it."""
        found = read_answers(self._client, self.spans(key[0]))
        return next((one for one in found if one.span_id == key[1]), None)

    def seen(
        self, key: AnswerKey, stored: Sequence[SeenPassage] | None = None
    ) -> tuple[PassageSeen, ...]:
        """The passages that led to an answer, with their texts if the spans have them.

        `stored` are the passages of the verdict, if the caller has read them already.
        """
        if stored is None:
            last = last_verifications(self._client, [key]).get(key)
            stored = last.passages if last else ()
        candidate, texts = self.answer(key), dict[str, str]()
        if candidate is not None:
            names, spans = [one.id for one in stored], self.spans(key[0])
            earlier = earlier_passages(self._client, candidate, spans, names)
            found = [*(one.passage for one in candidate.staged), *earlier]
            texts = {one.id: one.text for one in found}
        return tuple(
            PassageSeen(one.id, one.stages, one.is_context, texts.get(one.id)) for one in stored
        )
