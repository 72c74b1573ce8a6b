"""The answers of one trace: which text was said to the user, and which passages stood behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from otel_rt4chart import semconv
from otel_rt4chart.spans import values
from otel_rt4chart.spans.openinference import View, kind_of, view
from otel_rt4chart.spans.record import SpanRecord
from otel_rt4chart.verdict import Candidate, Decision
from otel_rt4chart.verify.model import Exchange, Passage

T = TypeVar("T")
RETRIEVAL = ("RETRIEVER", "RERANKER")
ROUTE_KEYS = (
    semconv.ROUTE,
    semconv.HTTP_ROUTE,
    "langfuse.trace.name",
    "traceloop.workflow.name",
    "gen_ai.agent.name",
    "agent.name",
)


def candidates(spans: Sequence[SpanRecord]) -> tuple[Candidate, ...]:
    """The answers of ONE trace's spans, in the order in which they were given.

    An answer is the last generation under each of the trace's roots; generations under a
    retrieval span are query rewrites. Neither the order of the spans nor duplicates matter.
    """
    unique = {span.span_id: span for span in spans if not is_verdict(span)}
    ordered = sorted(unique.values(), key=lambda span: (span.start_ns, span.end_ns, span.span_id))
    views = {span.span_id: view(span) for span in ordered}
    last: dict[str, View] = {}
    for one in views.values():
        if one.kind == "LLM" and not _is_under_retrieval(one, views) and not _is_tool_call(one):
            root = _root(one, views)
            if root not in last or one.span.end_ns >= last[root].span.end_ns:
                last[root] = one
    return tuple(
        _candidate(answer, views)
        for answer in sorted(last.values(), key=lambda one: (one.span.start_ns, one.span.span_id))
    )


def is_verdict(span: SpanRecord) -> bool:
    """True for evaluators' spans, ours among them: they are never answers."""
    return span.scope_name == semconv.SCOPE_NAME or kind_of(span) == "EVALUATOR"


def _candidate(answer: View, views: dict[str, View]) -> Candidate:
    span = answer.span
    root = views[_root(answer, views)]
    before = [one for one in views.values() if one.span.start_ns <= span.end_ns]
    sources = _sources(before)
    passages = _merged(sources)
    resource = span.resource
    return Candidate(
        exchange=Exchange(_question(answer, root, sources), passages, answer.output),
        trace_id=span.trace_id,
        span_id=span.span_id,
        start_ns=span.start_ns,
        service=values.text(resource.get(semconv.SERVICE_NAME)),
        route=_route(answer, root, views),
        environment=values.text(
            resource.get(semconv.DEPLOYMENT_ENVIRONMENT) or resource.get("deployment.environment")
        ),
        model=answer.model,
        prompt_version=answer.prompt_version,
        sampled=_first(values.flag, semconv.SAMPLED, answer, views),
        sample_rate=_first(values.number, semconv.SAMPLE_RATE, answer, views),
        blocked=_blocked(answer, sources, passages),
    )


def _blocked(answer: View, sources: Sequence[View], passages: Sequence[Passage]) -> Decision | None:
    """Why the answer cannot be verified: text that is hidden or lost is not text that is absent."""
    redacted = answer.is_redacted or any(one.is_redacted for one in sources)
    truncated = answer.is_truncated or any(one.is_truncated for one in sources)
    if not answer.output.strip():
        if redacted:
            return Decision.REDACTED
        return Decision.TRUNCATED if truncated else Decision.NO_CONTENT
    if any(one.is_truncated for one in sources):
        return Decision.TRUNCATED
    if not passages:
        return Decision.REDACTED if redacted else Decision.NO_CONTEXT
    return None


def _sources(before: Sequence[View]) -> list[View]:
    """Rerankers' output where there is one, else every retriever's."""
    rerankers = [one for one in before if one.kind == "RERANKER" and one.documents]
    return rerankers or [one for one in before if one.kind == "RETRIEVER"]


def _merged(sources: Sequence[View]) -> tuple[Passage, ...]:
    """The passages in order, each once; another text under a known id gets an id of its own."""
    texts: dict[str, str] = {}
    found: list[Passage] = []
    for passage in (passage for source in sources for passage in source.documents):
        name, number = passage.id, 1
        while texts.get(name, passage.text) != passage.text:
            number += 1
            name = f"{passage.id}~{number}"
        if name not in texts:
            texts[name] = passage.text
            found.append(replace(passage, id=name))
    return tuple(found)


def _question(answer: View, root: View, sources: Sequence[View]) -> str:
    asked = root.input if root.span.span_id != answer.span.span_id else ""
    queries = (source.input for source in sources)
    return asked or answer.user_message or next(filter(None, queries), "") or answer.input


def _route(answer: View, root: View, views: dict[str, View]) -> str:
    ordered = [answer, root, *views.values()]
    for key in ROUTE_KEYS:
        for one in ordered:
            route = values.text(one.span.attributes.get(key))
            if route:
                return route
    return root.span.name or values.text(answer.span.resource.get(semconv.SERVICE_NAME))


def _first(
    read: Callable[[object], T | None], key: str, answer: View, views: dict[str, View]
) -> T | None:
    """The mark on the answer's own span, else on any span of its trace."""
    marks = (read(one.span.attributes.get(key)) for one in (answer, *views.values()))
    return next((mark for mark in marks if mark is not None), None)


def _root(one: View, views: dict[str, View]) -> str:
    """The outermost known span above; a loop of parents ends where it began."""
    seen = {one.span.span_id}
    while (parent := views.get(one.span.parent_span_id)) and parent.span.span_id not in seen:
        one = parent
        seen.add(one.span.span_id)
    return one.span.span_id


def _is_under_retrieval(one: View, views: dict[str, View]) -> bool:
    seen: set[str] = set()
    while (parent := views.get(one.span.parent_span_id)) and parent.span.span_id not in seen:
        if parent.kind in RETRIEVAL:
            return True
        one = parent
        seen.add(one.span.span_id)
    return False


def _is_tool_call(one: View) -> bool:
    """A generation that said nothing but called a tool: the agent went on after it."""
    prefix = f"{semconv.LLM_OUTPUT_MESSAGES}."
    return not one.output and any(
        key.startswith(prefix) and ".message.tool_calls." in key for key in one.span.attributes
    )
