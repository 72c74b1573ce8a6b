"""The answers of one trace: which text was said to the user, and which passages stood behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar

from otel_rt4chart import semconv
from otel_rt4chart.spans import values
from otel_rt4chart.spans.record import SpanRecord
from otel_rt4chart.spans.tree import Tree
from otel_rt4chart.spans.view import View
from otel_rt4chart.verdict import Candidate, Decision
from otel_rt4chart.verify.model import Exchange, Passage

T = TypeVar("T")
RETRIEVAL = ("RETRIEVER", "RERANKER")
# What checks a request stands beside it: neither its generations nor its documents count.
CHECKS = ("EVALUATOR", "GUARDRAIL")
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

    An answer is the last generation of each turn: under each outermost chain or agent, or under
    the trace's root where there is none. Generations under a retrieval are query rewrites, those
    under an evaluation its own. Neither the order of the spans nor duplicates matter.
    """
    tree = Tree([span for span in spans if span.scope_name != semconv.SCOPE_NAME])
    last: dict[str, View] = {}
    for one in tree:
        if one.kind == "LLM" and not one.calls_tools_only and not _is_aside(one, tree):
            turn = tree.turn(one).span.span_id
            if turn not in last or one.span.end_ns >= last[turn].span.end_ns:
                last[turn] = one
    answers = sorted(last.values(), key=lambda one: (one.span.start_ns, one.span.span_id))
    return tuple(_candidate(answer, _near(answer, last, tree), tree) for answer in answers)


def _is_aside(one: View, tree: Tree) -> bool:
    return tree.is_under(one, RETRIEVAL + CHECKS)


def _near(answer: View, answers: Mapping[str, View], tree: Tree) -> list[View]:
    """What may speak of the answer: all of the trace but the turns that have another answer."""
    turns = ((one, tree.turn(one).span.span_id) for one in tree)
    return [one for one, turn in turns if answers.get(turn, answer) is answer]


def _candidate(answer: View, near: Sequence[View], tree: Tree) -> Candidate:
    span = answer.span
    sources = _sources([one for one in near if one.span.start_ns <= span.end_ns], tree)
    passages = _merged(sources)
    resource = span.resource
    order = [answer, *tree.above(answer), *near]
    return Candidate(
        exchange=Exchange(
            _question(answer, sources, tree), passages, answer.output, _date(span.start_ns)
        ),
        trace_id=span.trace_id,
        span_id=span.span_id,
        start_ns=span.start_ns,
        service=values.text(resource.get(semconv.SERVICE_NAME)),
        route=_route(order) or _root_name(answer, tree),
        environment=values.text(
            resource.get(semconv.DEPLOYMENT_ENVIRONMENT) or resource.get("deployment.environment")
        ),
        model=answer.model,
        prompt_version=answer.prompt_version,
        sampled=_first(values.flag, semconv.SAMPLED, [*order, *tree]),
        sample_rate=_first(values.number, semconv.SAMPLE_RATE, [*order, *tree]),
        blocked=_blocked(answer, sources, passages),
    )


def _blocked(answer: View, sources: Sequence[View], passages: Sequence[Passage]) -> Decision | None:
    """Why the answer cannot be verified: text that is hidden or lost is not text that is absent."""
    if not answer.output.strip():
        if answer.is_redacted:
            return Decision.REDACTED
        return Decision.TRUNCATED if answer.is_truncated else Decision.NO_CONTENT
    # Some of the passages are not enough: a missing one may be what bears the answer out.
    if any(one.is_redacted for one in sources):
        return Decision.REDACTED
    if any(one.is_truncated for one in sources):
        return Decision.TRUNCATED
    return None if passages else Decision.NO_CONTEXT


def _sources(before: Sequence[View], tree: Tree) -> list[View]:
    """What the generator was given: rerankers' output, and what was retrieved after them.

    A retrieval inside another one is a step of it: the outer one's documents are what came out.
    """
    found = [one for one in before if one.kind in RETRIEVAL and _has_context(one)]
    known = {one.span.span_id for one in found}
    outer = [
        one
        for one in found
        if not tree.is_under(one, CHECKS)
        and known.isdisjoint(parent.span.span_id for parent in tree.above(one))
    ]
    reranked = max((one.span.start_ns for one in outer if one.kind == "RERANKER"), default=-1)
    return [one for one in outer if one.kind == "RERANKER" or one.span.start_ns > reranked]


def _has_context(one: View) -> bool:
    return bool(one.documents) or one.is_redacted or one.is_truncated


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


def _question(answer: View, sources: Sequence[View], tree: Tree) -> str:
    """The input of the turn or of what lies above it, else the last message, else a query."""
    turn = tree.turn(answer)
    asked = (one.input for one in (turn, *tree.above(turn)) if one is not answer)
    queries = (source.input for source in sources)
    return _any(asked) or answer.user_message or _any(queries) or answer.input


def _any(texts: Iterable[str]) -> str:
    return next(filter(None, texts), "")


def _route(order: Sequence[View]) -> str:
    """By the most explicit key; of one key on several spans, the nearest to the answer."""
    named = (values.text(one.span.attributes.get(key)) for key in ROUTE_KEYS for one in order)
    return _any(named)


def _root_name(answer: View, tree: Tree) -> str:
    name = tree.root(answer).span.name
    return name or values.text(answer.span.resource.get(semconv.SERVICE_NAME))


def _first(read: Callable[[object], T | None], key: str, order: Sequence[View]) -> T | None:
    """The mark on the answer's own span, else on the nearest other one of its trace."""
    marks = (read(one.span.attributes.get(key)) for one in order)
    return next((mark for mark in marks if mark is not None), None)


def _date(ns: int) -> str:
    """The day of a span, in ISO 8601; nothing where its clock says nothing that can be meant."""
    try:
        return datetime.fromtimestamp(ns / 1e9, UTC).date().isoformat() if ns > 0 else ""
    except (OverflowError, ValueError, OSError):
        return ""
