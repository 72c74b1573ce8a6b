"""`read_chain`: the texts that an answer was made from, step by step, as a graph for the tracer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from otel_rt4chart.spans.exchange.span_tree import SpanTree
from otel_rt4chart.spans.graph.inputs import MAX_WORDS, InputFinder, UnknownInputError
from otel_rt4chart.spans.graph.outputs import Output
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.span_view import OperationKind, SpanView
from otel_rt4chart.verify.trail.graph import Node

MAX_NODES = 20_000


@dataclass(frozen=True, slots=True)
class ChainStep:
    """The step that a node was read from.

    `node` is the id of the node, `span_id` that of the span, `name` the span's name, `kind` the
    operation, PROMPT for a text that only the prompt of that span holds. `stage` is the name of the
    step without what differs between its calls.
    """

    node: str
    span_id: str
    name: str
    kind: OperationKind
    stage: str


@dataclass(frozen=True, slots=True)
class TraceChain:
    """The graph of an answer. Either it has nodes, or `problem` says why the trace is no chain.

    `answer` is the id of the answer's node, `steps` are by the ids of the nodes.
    """

    nodes: tuple[Node, ...] = ()
    answer: str = ""
    steps: Mapping[str, ChainStep] = field(default_factory=dict)
    problem: str = ""


def find_chain(
    spans: Sequence[SpanRecord],
    span_id: str,
    linked: Sequence[SpanRecord] = (),
    *,
    with_question: bool = False,
) -> TraceChain:
    """The chain of the answer of a span; `linked` are spans of traces that it links to."""
    views = tuple(SpanTree([*linked, *spans]))
    answer = next((view for view in views if view.span.span_id == span_id), None)
    if answer is None:
        return TraceChain(problem="The span of the answer is not in the trace.")
    return read_chain(views, answer, with_question=with_question)


def read_chain(
    views: Sequence[SpanView],
    answer: SpanView,
    *,
    with_question: bool = False,
    max_words: int = MAX_WORDS,
) -> TraceChain:
    """The texts that the answer was made from, back to the sources; never raises.

    `views` are the spans of the trace, and of traces that it links to. An input of a step is an
    earlier text that its prompt contains; where no prompt was recorded, it is what the order of the
    spans leaves. `with_question` counts the question as a source: a user may state facts in it.
    `max_words` bounds how many words are compared; a trace that needs more is no chain.
    """
    if problem := _problem_of(answer):
        return TraceChain(problem=problem)
    tree = SpanTree.of_views(views)
    finder = InputFinder(tree, answer, with_question=with_question, max_words=max_words)
    try:
        inputs = _reached(finder)
    except UnknownInputError as error:
        return TraceChain(problem=str(error))
    sources = {output for output, read in inputs.items() if not read} - {finder.answer}
    if all(map(finder.is_question, sources)):
        return TraceChain(problem="No text that the answer was made from was recorded.")
    if len(inputs) > MAX_NODES:
        return TraceChain(problem=f"More than {MAX_NODES:,} texts lead to the answer.")
    return _as_chain(inputs, finder)


def _problem_of(answer: SpanView) -> str:
    if answer.is_redacted:
        return "The text of the answer was redacted."
    if not answer.output.strip():
        return "The answer has no text."
    return ""


def _reached(finder: InputFinder) -> dict[Output, tuple[Output, ...]]:
    """The inputs of the answer, of its inputs, and so on."""
    inputs: dict[Output, tuple[Output, ...]] = {}
    waiting = [finder.answer]
    while waiting and len(inputs) <= MAX_NODES:
        output = waiting.pop()
        if output not in inputs:
            inputs[output] = finder.inputs_of(output)
            waiting += inputs[output]
    return inputs


def _as_chain(inputs: Mapping[Output, tuple[Output, ...]], finder: InputFinder) -> TraceChain:
    ordered = sorted(inputs, key=lambda output: output.order)
    names = _unique_names(ordered)
    steps = {}
    for output in ordered:
        view, name = output.view, names[output]
        kind = OperationKind.PROMPT if output.is_in_prompt else view.kind
        steps[name] = ChainStep(name, view.span.span_id, view.span.name, kind, finder.stage(output))
    nodes = tuple(
        Node(
            names[output],
            output.text,
            tuple(names[one] for one in inputs[output]),
            steps[names[output]].stage,
        )
        for output in ordered
    )
    return TraceChain(nodes, names[finder.answer], steps)


def _unique_names(outputs: Sequence[Output]) -> dict[Output, str]:
    """An id for each: of a passage its own, else that of its span; a number where one is taken."""
    names: dict[Output, str] = {}
    taken: set[str] = set()
    for output in outputs:
        wanted = (output.passage.id if output.passage else "") or output.view.span.span_id
        name, number = wanted, 1
        while name in taken:
            number += 1
            name = f"{wanted}~{number}"
        taken.add(name)
        names[output] = name
    return names
