"""The agent's tools: they read the traces of one issue, and faithful answers for comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.verify.language.tokens import content
from rt4chart_clustering.explain.finding import FindingQuote
from rt4chart_clustering.explain.tool_calls import ToolCall
from rt4chart_clustering.explain.trace_reader import TraceReader
from rt4chart_collector.store.answers.claims import claims_of
from rt4chart_collector.store.answers.spans import text_of
from rt4chart_collector.store.answers.verifications import (
    Verification,
    faithful_answers,
    last_verifications,
)
from rt4chart_collector.store.engine.columns import AnswerKey
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.failures import Failure

_TEXT, _WHOLE, _HEAD = 1_200, 5_000, 240
_LISTED, _COMPARED = 8, 300


class Toolbox:
    """Read-only tools, limited to the issue's traces and the answers that they are compared with.

    The model reads untrusted text, so it must not be able to reach anything else.
    """

    def __init__(
        self, client: Client, about: Mapping[str, Any], failures: Sequence[Failure]
    ) -> None:
        """`about` is the reply of `get_issue`; `failures` are the issue's."""
        self._client = client
        self._about = about
        self._failures = failures
        self._reading = TraceReader(client)
        self._open = {one.trace_id for one in failures}
        self._by_name: Mapping[str, Callable[[Mapping[str, Any]], object]] = {
            "get_issue": self._get_issue,
            "search_failures": self._search_failures,
            "get_verdict": self._get_verdict,
            "get_passages": self._get_passages,
            "read_span": self._read_span,
            "get_children": self._get_children,
            "compare_with_faithful": self._compare_with_faithful,
        }

    def read(self, call: ToolCall) -> object:
        """The result as JSON values; InputError if a name or an argument is wrong."""
        return self._by_name[call.tool](call.arguments)

    def texts_of(self, quote: FindingQuote) -> list[str]:
        """The text of the passage, or all texts of the span and its answer."""
        key = (quote.trace_id, quote.span_id)
        if quote.trace_id not in self._open:
            return []
        if quote.passage_id:
            seen = self._reading.seen(key)
            return [one.text for one in seen if one.id == quote.passage_id and one.text is not None]
        span = self._span(key)
        answer = last_verifications(self._client, [key]).get(key)
        texts = [] if answer is None else [answer.question, answer.answer]
        return texts + ([] if span is None else _texts(span))

    def _get_issue(self, _: Mapping[str, Any]) -> object:
        return {**self._about, "failures": [_row(one) for one in self._failures[:_LISTED]]}

    def _search_failures(self, given: Mapping[str, Any]) -> object:
        words, offset = given.get("words", ""), given.get("offset", 0)
        if not isinstance(words, str) or type(offset) is not int or offset < 0:
            raise InputError("expected words as a text and offset as a number from 0")
        wanted = words.lower().split()
        found = [one for one in self._failures if _holds(one, wanted)]
        rows = [_row(one) for one in found[offset : offset + _LISTED]]
        return {"found": len(found), "offset": offset, "failures": rows}

    def _get_verdict(self, given: Mapping[str, Any]) -> object:
        key = self._key(given)
        answer = last_verifications(self._client, [key]).get(key)
        if answer is None:
            raise InputError("no answer of that span was verified")
        claims = claims_of(self._client, [key]).get(key, [])
        return _answer(answer) | {
            "claims": [
                {
                    "claim": _cut(one.text),
                    "label": str(one.label),
                    "status": str(one.status),
                    "evidence": [
                        {"passage_id": e.passage_id, "relation": e.relation, "text": _cut(e.text)}
                        for e in one.evidence[:3]
                    ],
                }
                for one in claims[:20]
            ]
        }

    def _get_passages(self, given: Mapping[str, Any]) -> object:
        key, name = self._key(given), given.get("passage_id", "")
        seen = self._reading.seen(key)
        if name:
            seen = tuple(one for one in seen if one.id == name)
        if not seen:
            raise InputError("there is no such passage on the way to that answer")
        return [
            {
                "passage_id": one.id,
                "stages": sorted(one.stages),
                "in_the_context": one.is_context,
                "text": None if one.text is None else _cut(one.text, _WHOLE if name else _HEAD),
            }
            for one in seen[:20]
        ]

    def _read_span(self, given: Mapping[str, Any]) -> object:
        span = self._span(self._key(given))
        if span is None:
            raise InputError("there is no such span; get_children with an empty span_id has roots")
        attributes = {name: _cut(text_of(value)) for name, value in span.attributes.items()}
        events = [
            {"name": one.name, **{k: _cut(text_of(v)) for k, v in one.attributes.items()}}
            for one in span.events[:10]
        ]
        return _brief(span) | {"attributes": attributes, "events": events}

    def _get_children(self, given: Mapping[str, Any]) -> object:
        trace, parent = self._key(given)
        spans = self._reading.spans(trace)
        known = {one.span_id for one in spans}
        if not parent:
            return [_brief(one) for one in spans if one.parent_span_id not in known][:50]
        return [_brief(one) for one in spans if one.parent_span_id == parent][:50]

    def _compare_with_faithful(self, given: Mapping[str, Any]) -> object:
        key = self._key(given)
        answer = last_verifications(self._client, [key]).get(key)
        if answer is None:
            raise InputError("no answer of that span was verified")
        others = faithful_answers(
            self._client, service=answer.service, route=answer.route, limit=_COMPARED
        )
        asked = set(content(answer.question))
        others = [one for one in others if (one.trace_id, one.span_id) != key]
        if not others:
            return {"found": 0}
        best = max(others, key=lambda one: len(asked & set(content(one.question))))
        self._open.add(best.trace_id)
        near = self._reading.seen((best.trace_id, best.span_id))
        passages = [{"passage_id": one.id, "stages": sorted(one.stages)} for one in near[:20]]
        return {"found": len(others), "nearest": _answer(best) | {"passages": passages}}

    def _key(self, given: Mapping[str, Any]) -> AnswerKey:
        trace, span = given.get("trace_id"), given.get("span_id", "")
        if not isinstance(trace, str) or not isinstance(span, str):
            raise InputError("expected trace_id and span_id as texts")
        if trace not in self._open:
            raise InputError("that trace is not among this issue's; search_failures has them")
        return trace, span

    def _span(self, key: AnswerKey) -> SpanRecord | None:
        return next((one for one in self._reading.spans(key[0]) if one.span_id == key[1]), None)


def _row(failure: Failure) -> dict[str, Any]:
    return {
        "trace_id": failure.trace_id,
        "span_id": failure.span_id,
        "question": _cut(failure.question, _HEAD),
        "claim": _cut(failure.claim, _HEAD),
        "label": failure.verdict,
        "evidence": [_cut(one.text, _HEAD) for one in failure.evidence[:2]],
        "against": [_cut(one.text, _HEAD) for one in failure.against[:2]],
        "nearest": _cut(failure.nearest, _HEAD),
    }


def _holds(failure: Failure, wanted: Sequence[str]) -> bool:
    text = f"{failure.claim} {failure.question} {failure.span_id}".lower()
    return all(word in text for word in wanted)


def _answer(answer: Verification) -> dict[str, Any]:
    return {
        "trace_id": answer.trace_id,
        "span_id": answer.span_id,
        "route": answer.route,
        "model": answer.model,
        "prompt_version": answer.prompt_version,
        "label": answer.label,
        "question": _cut(answer.question),
        "answer": _cut(answer.answer),
        "findings": [f"{one.name}: {one.detail}"[:_HEAD] for one in answer.findings[:10]],
    }


def _brief(span: SpanRecord) -> dict[str, Any]:
    return {
        "span_id": span.span_id,
        "parent_span_id": span.parent_span_id,
        "name": span.name,
        "kind": span.kind,
        "status": f"{span.status} {span.status_message}".strip(),
        "milliseconds": round((span.end_ns - span.start_ns) / 1e6, 1),
    }


def _texts(span: SpanRecord) -> list[str]:
    carriers = [span.attributes, *(one.attributes for one in span.events)]
    return [text_of(value) for carrier in carriers for value in carrier.values()]


def _cut(text: str, most: int = _TEXT) -> str:
    return text if len(text) <= most else f"{text[:most]} (cut: {len(text) - most} more characters)"
