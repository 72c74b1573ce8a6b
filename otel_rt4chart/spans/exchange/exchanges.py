"""The answers of one trace: which text was said to the user, and which passages stood behind it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from otel_rt4chart.core import semconv
from otel_rt4chart.spans.exchange.answers import answers, read_by_user
from otel_rt4chart.spans.exchange.context import Context, Scene, context_of, missing_in, retrievals
from otel_rt4chart.spans.exchange.marks import Mark, mark_of
from otel_rt4chart.spans.exchange.passage_stages import staged
from otel_rt4chart.spans.exchange.prompt_context import asked_in
from otel_rt4chart.spans.exchange.route import named_route
from otel_rt4chart.spans.exchange.tree import RETRIEVAL, Tree
from otel_rt4chart.spans.model import values
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Candidate, Decision
from otel_rt4chart.spans.model.view import Kind, Message, View
from otel_rt4chart.spans.reading.texts import first_text, head, is_data, plain
from otel_rt4chart.verify.core.model import Exchange

MAX_LINKED = 8
# More answers than this in one trace are a batch, not one beside its title.
MAX_BESIDE = 20
# Who asks, in a prompt; `prompt` is the whole text that a model of no conversation completes.
ASKING = ("user", "human", "prompt")


def candidates(
    spans: Sequence[SpanRecord], linked: Sequence[SpanRecord] = ()
) -> tuple[Candidate, ...]:
    """The answers of ONE trace's spans, in the order in which they were given.

    An answer is a generation of each turn, or what the turn's span says: under each outermost chain
    or agent, or under the trace's root where there is none (`answers` says which). `linked` are
    spans of other traces: the documents retrieved there are the context of an answer that has none
    in its own trace and that, or a span above it, links to them. Neither the order of the spans nor
    duplicates matter.
    """
    return candidates_in(Tree(spans), linked)


def candidates_in(tree: Tree, linked: Sequence[SpanRecord] = ()) -> tuple[Candidate, ...]:
    """`candidates` of a trace whose spans were read already."""
    return tuple(_candidate(place) for place in _places(tree, _trees(linked)))


def links_wanted(spans: Sequence[SpanRecord]) -> set[str]:
    """The ids of other traces that may hold the context of answers without any; eight at most."""
    if not any(link.trace_id != span.trace_id for span in spans for link in span.links):
        return set()
    found: dict[str, None] = {}
    for place in _places(Tree(spans), {}):
        if place.answer.output.strip() and _is_bare(context_of(_scene(place))):
            found |= dict.fromkeys(trace for trace, _ in _links(place))
    return set(list(found)[:MAX_LINKED])


@dataclass(frozen=True, slots=True)
class _Place:
    """An answer in its trace: `near` is all of it but the turns that have another answer.

    `kept_from` are the ids of spans near it whose documents it was not given.
    """

    answer: View
    near: Sequence[View]
    elsewhere: Mark
    tree: Tree
    linked: Mapping[str, Tree]
    kept_from: frozenset[str] = frozenset()


def _places(tree: Tree, linked: Mapping[str, Tree]) -> list[_Place]:
    found = answers(tree)
    turns: defaultdict[str, list[View]] = defaultdict(list)
    for one in tree:
        turn = tree.turn(one).span.span_id
        turns[turn if turn in found else ""].append(one)
    mark = mark_of((), tree)
    places = [
        _Place(answer, _in_time(turns[turn] + turns[""]), mark, tree, linked)
        for turn, answer in found.items()
    ]
    shared = retrievals(_in_time(turns[""]), tree) if 1 < len(places) <= MAX_BESIDE else ()
    return sorted(_told_apart(places, shared), key=lambda one: _time(one.answer))


def _told_apart(places: Sequence[_Place], shared: Sequence[View]) -> Iterator[_Place]:
    """Keep what was retrieved outside of every turn from those that nothing of it can have reached.

    Such is a title that is made of the question, beside its answer: another's prompt shows a
    document, its own shows none, nor what another answer says, by which it may have come.
    """
    heads = {head(one.text) for view in shared for one in view.documents} - {""}
    names = frozenset(view.span.span_id for view in shared)
    shows = [_shows(place, heads) for place in places]
    for place, is_shown in zip(places, shows, strict=True):
        others = {head(one.answer.output) for one in places if one is not place} - {""}
        is_apart = is_shown is False and any(shows) and not _shows(place, others)
        yield replace(place, kept_from=names) if is_apart else place


def _shows(place: _Place, heads: Collection[str]) -> bool | None:
    """True where the prompt shows a text that begins so; None where the prompt is not known."""
    prompt = _prompt(place) if heads else ()
    if not prompt or missing_in(_generations(place)):
        return None
    whole = plain("\n".join(one.text for one in prompt))
    return any(start in whole for start in heads)


def _trees(spans: Iterable[SpanRecord]) -> dict[str, Tree]:
    traces: defaultdict[str, list[SpanRecord]] = defaultdict(list)
    for span in spans:
        traces[span.trace_id].append(span)
    return {name: Tree(trace) for name, trace in traces.items()}


def _time(one: View) -> tuple[int, int, str]:
    return one.span.start_ns, one.span.end_ns, one.span.span_id


def _in_time(views: Iterable[View]) -> list[View]:
    return sorted(views, key=_time)


def _candidate(place: _Place) -> Candidate:
    answer, tree, span = place.answer, place.tree, place.answer.span
    scene = _scene(place)
    context = context_of(scene)
    far = _linked_views(place) if _is_bare(context) else ()
    if far:
        scene = _scene(place, far)
        context = context_of(scene)
    line = [answer, *tree.above(answer)]
    order = [*line, *place.near]
    mark = mark_of(line, place.near, place.elsewhere)
    resource = span.resource
    return Candidate(
        exchange=Exchange(
            _question(place, context, scene),
            context.passages,
            read_by_user(answer, tree.turn(answer)),
            _date(span.start_ns),
        ),
        trace_id=span.trace_id,
        span_id=span.span_id,
        start_ns=span.start_ns,
        service=values.text(resource.get(semconv.SERVICE_NAME)),
        route=_route(place, line),
        environment=values.text(
            resource.get(semconv.DEPLOYMENT_ENVIRONMENT) or resource.get("deployment.environment")
        ),
        model=answer.model or first_text(one.model for one in _generations(place)),
        prompt_version=answer.prompt_version,
        release=values.text(resource.get(semconv.SERVICE_VERSION)),
        session=first_text(one.session for one in order),
        sampled=mark.sampled,
        sample_rate=mark.sample_rate,
        decision_hint=mark.hint,
        blocked=_blocked(answer, context),
        staged=staged(scene, context, far),
        end_ns=span.end_ns,
    )


def _scene(place: _Place, far: tuple[View, ...] = ()) -> Scene:
    until = place.answer.span.end_ns
    before = tuple(
        one
        for one in place.near
        if one.span.start_ns <= until
        and one is not place.answer
        and one.span.span_id not in place.kept_from
    )
    found = retrievals(before, place.tree)
    return Scene(place.answer, _prompt(place), before, found + far, place.tree)


def _prompt(place: _Place) -> tuple[Message, ...]:
    """What the answer was generated from; of a call that is traced twice, the model's own span."""
    found = [one.prompt for one in _generations(place) if one.prompt]
    return found[-1] if found else ()


def _generations(place: _Place) -> list[View]:
    """The generations of the same words, or, of a turn that speaks itself, the silent ones."""
    said = place.answer.output if place.answer.kind is Kind.LLM else ""
    turn = place.tree.turn(place.answer)
    return [
        one
        for one in place.near
        if one.kind is Kind.LLM
        and one.output == said
        and not one.calls_tools_only
        and place.tree.turn(one) is turn
        and not place.tree.is_under(one, RETRIEVAL)
    ]


def _links(place: _Place) -> Iterator[tuple[str, str]]:
    """Trace and span ids that the answer or a span above it links to, in other traces."""
    own = place.answer.span.trace_id
    for one in (place.answer, *place.tree.above(place.answer)):
        for link in one.span.links:
            if link.trace_id != own:
                yield link.trace_id, link.span_id


def _is_bare(context: Context) -> bool:
    return not (context.passages or context.views)


def _linked_views(place: _Place) -> tuple[View, ...]:
    """The retrievals in the linked turns, or in all of a trace where the linked span is unknown."""
    found: dict[tuple[str, str], View] = {}
    for trace, name in _links(place):
        tree = place.linked.get(trace)
        if tree is None:
            continue
        target = tree.get(name)
        turn = tree.turn(target) if target else None
        views = [one for one in tree if turn is None or tree.turn(one) is turn]
        found |= {(trace, one.span.span_id): one for one in retrievals(views, tree)}
    return tuple(found.values())


def _blocked(answer: View, context: Context) -> Decision | None:
    """Why the answer cannot be verified: text that is hidden or lost is not text that is absent."""
    if not answer.output.strip():
        return missing_in([answer]) or Decision.NO_CONTENT
    return context.missing or (None if context.passages else Decision.NO_CONTEXT)


def _question(place: _Place, context: Context, scene: Scene) -> str:
    """The input of the turn or of what lies above it, else the last message, else a query.

    Where the last message stands in that input, it is the question without what is around it.
    """
    turn = place.tree.turn(place.answer)
    above = [one.input for one in (turn, *place.tree.above(turn)) if one.kind is not Kind.LLM]
    asked = first_text(text for text in above if not is_data(text))
    said = next((one.text for one in reversed(scene.prompt) if one.role in ASKING), "")
    said = asked_in(said) or said
    if asked:
        return said if plain(said) and plain(said) in plain(asked) else asked
    queries = (one.input for one in context.views)
    return said or first_text([*queries, *above]) or place.answer.input


def _route(place: _Place, line: Sequence[View]) -> str:
    """A name on the nearest span, else the root span's name, else the service's."""
    turn = place.tree.turn(place.answer)
    # A server's span inside the turn is that of a service which is only called.
    outside = (one for one in place.near if place.tree.turn(one) is not turn)
    servers = [*line, *outside]
    named = named_route(
        [one.span.attributes for one in (*line, *place.near)],
        [one.span.attributes for one in servers],
    )
    service = values.text(place.answer.span.resource.get(semconv.SERVICE_NAME))
    return named or place.tree.root(place.answer).span.name or service


def _date(ns: int) -> str:
    """The day of a span, in ISO 8601; nothing where its clock says nothing that can be meant."""
    try:
        return datetime.fromtimestamp(ns / 1e9, UTC).date().isoformat() if ns > 0 else ""
    except (OverflowError, ValueError, OSError):
        return ""
