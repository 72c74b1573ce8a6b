"""Finds the answers of a trace, each with its question, its passages and its sampling mark."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache

from otel_rt4chart.core import semconv
from otel_rt4chart.core.guard import LOG
from otel_rt4chart.core.tenants import stored_service, tenant_of
from otel_rt4chart.core.text import bounded_name
from otel_rt4chart.spans.exchange.answers import answer_text, find_answers
from otel_rt4chart.spans.exchange.context import (
    AnswerContext,
    ContextSources,
    find_context,
    find_retrievals,
    missing_text_reason,
)
from otel_rt4chart.spans.exchange.passage_stages import find_passage_stages
from otel_rt4chart.spans.exchange.prompt_context import question_in_prompt
from otel_rt4chart.spans.exchange.route import explicit_route, route_from_names
from otel_rt4chart.spans.exchange.span_tree import RETRIEVAL_KINDS, TURN_KINDS, SpanTree
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.span_view import ChatMessage, OperationKind, SpanView
from otel_rt4chart.spans.model.values import (
    as_flag,
    as_number,
    as_text,
    first_nonempty,
    is_json_structure,
    normalize_text,
    passage_start,
)
from otel_rt4chart.spans.model.verdict import Candidate, Decision
from otel_rt4chart.verify.core.model import Exchange
from otel_rt4chart.verify.core.rates import MIN_SAMPLE_RATE

MAX_LINKED_TRACES = 8
# A trace with more answers than this is a batch job, not an answer with auxiliary generations. The
# comparison is quadratic in the answers.
MAX_ANSWERS_COMPARED = 20
# How many spans outside their turns the answers of a trace read in all. Each answer reads the first
# of them: without a limit, the time grows with the square of the spans.
MAX_OUTSIDE_READS = 500_000
# Roles of messages that ask. `prompt` is the whole prompt of a completion model.
QUESTION_ROLES = ("user", "human", "prompt")


def find_candidates(
    spans: Sequence[SpanRecord], linked: Sequence[SpanRecord] = ()
) -> tuple[Candidate, ...]:
    """The answers of ONE trace, in time order.

    Each turn, which is an outermost chain or agent or else the root, has one answer: a generation,
    or the output of the turn (`find_answers` chooses). `linked` are spans of other traces: the
    documents retrieved there are the context of an answer without context of its own, if its span
    or an ancestor links to them. The order of the spans and duplicates do not matter. Of a trace
    with spans of several tenants, an answer is made from the spans of its own alone.
    """
    of_tenant: defaultdict[str, list[SpanRecord]] = defaultdict(list)
    for span in spans:
        of_tenant[tenant_of(span.resource)].append(span)
    found = (
        candidate
        for tenant, group in of_tenant.items()
        for candidate in candidates_in_tree(SpanTree(group), spans_of_tenant(linked, tenant))
    )
    if len(of_tenant) == 1:
        return tuple(found)
    return tuple(sorted(found, key=lambda one: (one.start_ns, one.end_ns, one.span_id)))


def spans_of_tenant(spans: Iterable[SpanRecord], tenant: str) -> list[SpanRecord]:
    """The spans that are of this tenant; "" is that of the spans that name none."""
    return [span for span in spans if tenant_of(span.resource) == tenant]


def candidates_in_tree(tree: SpanTree, linked: Sequence[SpanRecord] = ()) -> tuple[Candidate, ...]:
    """`find_candidates` for a trace whose spans were already read."""
    return tuple(
        _candidate(trace_answer)
        for trace_answer in _find_trace_answers(tree, _trees_by_trace(linked))
    )


def linked_trace_ids(spans: Sequence[SpanRecord]) -> set[str]:
    """The ids of at most eight other traces that may hold the context of answers without any."""
    if not any(link.trace_id != span.trace_id for span in spans for link in span.links):
        return set()
    trace_ids: dict[str, None] = {}
    for trace_answer in _find_trace_answers(SpanTree(spans), {}):
        if trace_answer.answer.output.strip() and _has_no_context(
            find_context(_context_sources(trace_answer))
        ):
            trace_ids |= dict.fromkeys(trace for trace, _ in _linked_spans(trace_answer))
    return set(list(trace_ids)[:MAX_LINKED_TRACES])


@dataclass(frozen=True, slots=True)
class _TraceAnswer:
    """An answer in its trace: `near` is the trace without the turns that have another answer.

    `excluded` are the ids of near spans whose documents did not reach the answer. `default_mark` is
    the sampling mark found anywhere in the trace.
    """

    answer: SpanView
    near: Sequence[SpanView]
    default_mark: SamplingMark
    tree: SpanTree
    linked: Mapping[str, SpanTree]
    excluded: frozenset[str] = frozenset()


def _find_trace_answers(tree: SpanTree, linked: Mapping[str, SpanTree]) -> list[_TraceAnswer]:
    answer_by_turn = find_answers(tree)
    turns: defaultdict[str, list[SpanView]] = defaultdict(list)
    # Under "": spans outside the turns, such as a retrieval in a server span, which may have served
    # any of the answers.
    for view in tree:
        turn = tree.turn(view).span.span_id
        turns[turn if turn in answer_by_turn else ""].append(view)
    default_mark = find_sampling_mark((), tree)
    outside = turns[""][: max(MAX_OUTSIDE_READS // max(len(answer_by_turn), 1), 1)]
    trace_answers = [
        _TraceAnswer(answer, _in_time_order(turns[turn] + outside), default_mark, tree, linked)
        for turn, answer in answer_by_turn.items()
    ]
    shared = (
        find_retrievals(_in_time_order(outside), tree)
        if 1 < len(trace_answers) <= MAX_ANSWERS_COMPARED
        else ()
    )
    return sorted(
        _exclude_unseen_retrievals(trace_answers, shared), key=lambda view: _time_order(view.answer)
    )


def _exclude_unseen_retrievals(
    trace_answers: Sequence[_TraceAnswer], shared: Sequence[SpanView]
) -> Iterator[_TraceAnswer]:
    """Exclude retrievals outside all turns from answers that they cannot have reached.

    An example is a conversation title, generated from the question beside the answer: the prompt of
    another answer contains a document, its own prompt contains none, nor the text of another answer
    that could have passed one on.
    """
    starts = {passage_start(document.text) for view in shared for document in view.documents} - {""}
    shared_ids = frozenset(view.span.span_id for view in shared)
    shown = [_prompt_contains(trace_answer, starts) for trace_answer in trace_answers]
    outputs = [passage_start(trace_answer.answer.output) for trace_answer in trace_answers]
    is_any_shown = any(shown)
    for number, (trace_answer, is_shown) in enumerate(zip(trace_answers, shown, strict=True)):
        is_unreached = (
            is_shown is False
            and is_any_shown
            and not _prompt_contains(
                trace_answer, {*outputs[:number], *outputs[number + 1 :]} - {""}
            )
        )
        yield replace(trace_answer, excluded=shared_ids) if is_unreached else trace_answer


def _prompt_contains(trace_answer: _TraceAnswer, starts: Collection[str]) -> bool | None:
    """True if the prompt contains one of the starts of texts; None if the prompt is unknown."""
    prompt = _prompt(trace_answer) if starts else ()
    if not prompt or missing_text_reason(_generations(trace_answer)):
        return None
    text = normalize_text("\n".join(message.text for message in prompt))
    return any(start in text for start in starts)


def _trees_by_trace(spans: Iterable[SpanRecord]) -> dict[str, SpanTree]:
    traces: defaultdict[str, list[SpanRecord]] = defaultdict(list)
    for span in spans:
        traces[span.trace_id].append(span)
    return {name: SpanTree(trace) for name, trace in traces.items()}


def _time_order(view: SpanView) -> tuple[int, int, str]:
    return view.span.start_ns, view.span.end_ns, view.span.span_id


def _in_time_order(views: Iterable[SpanView]) -> list[SpanView]:
    return sorted(views, key=_time_order)


def _candidate(trace_answer: _TraceAnswer) -> Candidate:
    answer, tree, span = trace_answer.answer, trace_answer.tree, trace_answer.answer.span
    sources = _context_sources(trace_answer)
    context = find_context(sources)
    linked = _linked_retrievals(trace_answer) if _has_no_context(context) else ()
    if linked:
        sources = _context_sources(trace_answer, linked)
        context = find_context(sources)
    ancestry = [answer, *tree.ancestors(answer)]
    by_distance = [*ancestry, *trace_answer.near]
    mark = find_sampling_mark(ancestry, trace_answer.near, trace_answer.default_mark)
    resource = span.resource
    return Candidate(
        exchange=Exchange(
            _question(trace_answer, context, sources),
            context.passages,
            answer_text(answer, tree.turn(answer)),
            _iso_date(span.start_ns),
        ),
        trace_id=span.trace_id,
        span_id=span.span_id,
        start_ns=span.start_ns,
        service=stored_service(tenant_of(resource), _name(resource.get(semconv.SERVICE_NAME))),
        route=bounded_name(_route(trace_answer, ancestry)),
        # The second name is that of semantic conventions before 1.27.
        environment=_name(
            resource.get(semconv.DEPLOYMENT_ENVIRONMENT) or resource.get("deployment.environment")
        ),
        model=bounded_name(
            answer.model
            or first_nonempty(generation.model for generation in _generations(trace_answer))
        ),
        prompt_version=bounded_name(answer.prompt_version),
        release=_name(resource.get(semconv.SERVICE_VERSION)),
        session=bounded_name(first_nonempty(view.session for view in by_distance)),
        sampled=mark.sampled,
        sample_rate=mark.sample_rate,
        decision_hint=mark.hint,
        blocked=_blocked_reason(answer, context),
        staged=find_passage_stages(sources, context, linked),
        end_ns=span.end_ns,
    )


def _name(value: object) -> str:
    return bounded_name(as_text(value))


def _context_sources(
    trace_answer: _TraceAnswer, linked: tuple[SpanView, ...] = ()
) -> ContextSources:
    until = trace_answer.answer.span.end_ns
    before = tuple(
        view
        for view in trace_answer.near
        if view.span.start_ns <= until
        and view is not trace_answer.answer
        and view.span.span_id not in trace_answer.excluded
    )
    found = find_retrievals(before, trace_answer.tree)
    return ContextSources(
        trace_answer.answer,
        _prompt(trace_answer),
        before,
        found + linked,
        trace_answer.tree,
    )


def _prompt(trace_answer: _TraceAnswer) -> tuple[ChatMessage, ...]:
    """The prompt of the answer; of a call that is traced twice, that of the inner span."""
    prompts = [generation.prompt for generation in _generations(trace_answer) if generation.prompt]
    return prompts[-1] if prompts else ()


def _generations(trace_answer: _TraceAnswer) -> list[SpanView]:
    """The generations with the answer's text; without text, if the turn itself has the answer."""
    text = trace_answer.answer.output if trace_answer.answer.kind is OperationKind.LLM else ""
    turn = trace_answer.tree.turn(trace_answer.answer)
    return [
        view
        for view in trace_answer.near
        if view.kind is OperationKind.LLM
        and view.output == text
        and not view.calls_tools_only
        and trace_answer.tree.turn(view) is turn
        and not trace_answer.tree.is_inside(view, RETRIEVAL_KINDS)
    ]


def _linked_spans(trace_answer: _TraceAnswer) -> Iterator[tuple[str, str]]:
    """Trace and span ids in other traces that the answer or an ancestor links to."""
    own = trace_answer.answer.span.trace_id
    for ancestor in (
        trace_answer.answer,
        *trace_answer.tree.ancestors(trace_answer.answer),
    ):
        for link in ancestor.span.links:
            if link.trace_id != own:
                yield link.trace_id, link.span_id


def _has_no_context(context: AnswerContext) -> bool:
    return not (context.passages or context.views)


def _linked_retrievals(trace_answer: _TraceAnswer) -> tuple[SpanView, ...]:
    """The retrievals of the linked turns, or of the whole trace if the linked span is unknown."""
    retrievals: dict[tuple[str, str], SpanView] = {}
    for trace, span_id in _linked_spans(trace_answer):
        tree = trace_answer.linked.get(trace)
        if tree is None:
            continue
        target = tree.get(span_id)
        turn = tree.turn(target) if target else None
        views = [view for view in tree if turn is None or tree.turn(view) is turn]
        retrievals |= {
            (trace, retrieval.span.span_id): retrieval for retrieval in find_retrievals(views, tree)
        }
    return tuple(retrievals.values())


def _blocked_reason(answer: SpanView, context: AnswerContext) -> Decision | None:
    """Why the answer cannot be verified. Redacted or lost text is not the same as no text."""
    if not answer.output.strip():
        is_silent = answer.is_blank or answer.calls_tools_only
        absent = Decision.NO_ANSWER if is_silent else Decision.NO_CONTENT
        return missing_text_reason([answer]) or absent
    return context.missing or (None if context.passages else Decision.NO_CONTEXT)


def _question(trace_answer: _TraceAnswer, context: AnswerContext, sources: ContextSources) -> str:
    """The input of the turn or of an ancestor, else the last user message, else a query.

    If that input contains the last user message, the message is the question without its frame.
    """
    turn = trace_answer.tree.turn(trace_answer.answer)
    inputs = [
        ancestor.input
        for ancestor in (turn, *trace_answer.tree.ancestors(turn))
        if ancestor.kind is not OperationKind.LLM
    ]
    question = first_nonempty(text for text in inputs if not is_json_structure(text))
    message = next(
        (message.text for message in reversed(sources.prompt) if message.role in QUESTION_ROLES), ""
    )
    message = question_in_prompt(message) or message
    if question:
        return (
            message
            if normalize_text(message) and normalize_text(message) in normalize_text(question)
            else question
        )
    queries = (view.input for view in context.views)
    return message or first_nonempty([*queries, *inputs]) or trace_answer.answer.input


def _route(trace_answer: _TraceAnswer, ancestry: Sequence[SpanView]) -> str:
    """A name on the nearest span, else of the outermost named span, else of the service."""
    turn = trace_answer.tree.turn(trace_answer.answer)
    # A server span inside the turn belongs to another service that the turn calls.
    outside = (view for view in trace_answer.near if trace_answer.tree.turn(view) is not turn)
    servers = [*ancestry, *outside]
    named = explicit_route(
        [view.span.attributes for view in (*ancestry, *trace_answer.near)],
        [server.span.attributes for server in servers],
    )
    service = as_text(trace_answer.answer.span.resource.get(semconv.SERVICE_NAME))
    above = [view for view in ancestry if view.kind in (*TURN_KINDS, OperationKind.NONE)]
    root = trace_answer.tree.root(trace_answer.answer)
    names = [root.span.name, *(view.span.name for view in reversed(above))]
    return named or route_from_names(names, service)


def _iso_date(ns: int) -> str:
    """The day of a span in ISO 8601; empty if its time is out of range."""
    try:
        return datetime.fromtimestamp(ns / 1e9, UTC).date().isoformat() if ns > 0 else ""
    except (OverflowError, ValueError, OSError):
        return ""


# The reasons that an application may give for not sampling; other values of a mark are ignored.
UNSAMPLED_DECISIONS = (Decision.NOT_SAMPLED, Decision.THROTTLED, Decision.OVER_BUDGET)
MARK_KEYS = frozenset((semconv.SAMPLED, semconv.SAMPLE_RATE, semconv.DECISION))


@dataclass(frozen=True, slots=True)
class SamplingMark:
    """The application's decision; fields are None if there is none."""

    sampled: bool | None = None
    sample_rate: float | None = None
    hint: Decision | None = None


def find_sampling_mark(
    ancestry: Iterable[SpanView], others: Iterable[SpanView], default: SamplingMark | None = None
) -> SamplingMark:
    """The mark of an answer, from the answer and its ancestors (`ancestry`), else from `others`.

    Each process marks its own spans. If any of them sampled the answer, it is sampled at the
    highest rate: all processes compare the same position of the trace with their rate, so the
    highest rate is the probability that at least one sampled. If none did, the span that ended last
    has the reason. Without a mark on the ancestry, the first one of the `others` counts, else the
    `default`.
    """
    found_on = [(view.span, mark) for view in ancestry if (mark := _read_mark(view)) is not None]
    # A process that saw no answer wrote only the rate. Marks with a decision also respect limits.
    decided = [(span, mark) for span, mark in found_on if semconv.DECISION in span.attributes]
    marked = [(span.end_ns, mark) for span, mark in decided or found_on]
    chosen = [mark for _, mark in marked if mark.sampled]
    if chosen:
        return max(chosen, key=lambda mark: mark.sample_rate or 0.0)
    if marked:
        latest = max(end for end, _ in marked)
        return [mark for end, mark in marked if end == latest][-1]
    found = (mark for other in others if (mark := _read_mark(other)) is not None)
    return next(found, default or SamplingMark())


def _read_mark(view: SpanView) -> SamplingMark | None:
    attributes = view.span.attributes
    if MARK_KEYS.isdisjoint(attributes):
        return None
    sampled = as_flag(attributes.get(semconv.SAMPLED))
    rate = _believed_rate(as_number(attributes.get(semconv.SAMPLE_RATE)))
    decision = attributes.get(semconv.DECISION)
    hint = next((reason for reason in UNSAMPLED_DECISIONS if reason == decision), None)
    if sampled is None and rate is None and hint is None:
        return None
    return SamplingMark(sampled, rate, hint)


def _believed_rate(rate: float | None) -> float | None:
    """The rate of a mark, at least the smallest that is believed; 0 means that none is drawn."""
    if rate is None or not 0 < rate < MIN_SAMPLE_RATE:
        return rate
    _warn_of_small_rate()
    return MIN_SAMPLE_RATE


@cache
def _warn_of_small_rate() -> None:
    """Log once in a process: every span of an application may have such a rate."""
    LOG.warning(
        "a span has a smaller %s than %g, the smallest that is believed; it counts as %g",
        *(semconv.SAMPLE_RATE, MIN_SAMPLE_RATE, MIN_SAMPLE_RATE),
    )
