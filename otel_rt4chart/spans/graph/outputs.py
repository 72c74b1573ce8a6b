"""The texts that the spans of a trace put out: passages, results of tools, generations, steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from otel_rt4chart.spans.exchange.span_tree import CHECK_KINDS, RETRIEVAL_KINDS, SpanTree
from otel_rt4chart.spans.model.span_view import OperationKind, SpanView
from otel_rt4chart.spans.model.values import normalize_text, parse_json
from otel_rt4chart.spans.reading.documents import content_id
from otel_rt4chart.verify.core.model import Passage

STEP_KINDS = (OperationKind.CHAIN, OperationKind.AGENT, OperationKind.NONE)
MAX_DEPTH = 12
MIN_PART_CHARS = 20


@dataclass(frozen=True, slots=True, eq=False)
class Output:
    """A text that a span put out, or that only its prompt holds (`is_in_prompt`).

    `passage` is set for a retrieved passage, for what a tool returned and for a text of a prompt:
    a source. `has_inner` says that spans inside the span put out texts too, so that its own text
    may be theirs; `generates_inside` that a model wrote one of them. `began_ns` is when its inputs
    were known, `made_ns` when it was ready; `order` is its place among all outputs: what it was
    made from comes before it. Each output is itself alone.
    """

    view: SpanView
    text: str
    began_ns: int
    made_ns: int
    order: int
    passage: Passage | None = None
    has_inner: bool = False
    generates_inside: bool = False
    is_in_prompt: bool = False

    @property
    def is_source(self) -> bool:
        """True for a text that was not generated."""
        return self.passage is not None

    @property
    def is_generation(self) -> bool:
        """True for what a model wrote."""
        return self.view.kind is OperationKind.LLM

    def may_reach(self, later: Output) -> bool:
        """True if the other one may have been made from this one, by their times."""
        return self.order < later.order and self.made_ns <= later.began_ns


def read_outputs(tree: SpanTree) -> tuple[Output, ...]:
    """The outputs of all spans that may have contributed to an answer, in the order they were made.

    Evaluations and guardrails contribute none, nor do embeddings, prompts, failed generations, and
    generations inside a retrieval, which are queries.
    """
    found: list[tuple[SpanView, str, Passage | None]] = []
    inner: dict[str, bool] = {}
    for view in tree:
        if tree.is_inside(view, CHECK_KINDS) or view.kind in CHECK_KINDS:
            continue
        texts = list(_texts_of(view, is_query=tree.is_inside(view, RETRIEVAL_KINDS)))
        found += [(view, text, passage) for text, passage in texts]
        for parent in tree.ancestors(view) if texts else ():
            name = parent.span.span_id
            inner[name] = inner.get(name, False) or view.kind is OperationKind.LLM
    depths = {view.span.span_id: sum(1 for _ in tree.ancestors(view)) for view, _, _ in found}
    found.sort(key=lambda row: _made_order(row[0], depths[row[0].span.span_id]))
    return tuple(
        _output(row, order, inner.get(row[0].span.span_id)) for order, row in enumerate(found)
    )


def _output(
    row: tuple[SpanView, str, Passage | None], order: int, generates_inside: bool | None
) -> Output:
    """The output; `generates_inside` is None where no span inside the span has an output."""
    view, text, passage = row
    has_inner = generates_inside is not None
    # A step streams what it receives, and one around others receives what these put out.
    is_plain = view.kind is OperationKind.LLM and not has_inner
    return Output(
        view,
        text,
        view.span.start_ns if is_plain else _end(view),
        _end(view),
        order,
        # What a tool returns that has steps of its own was made by these.
        None if view.kind is OperationKind.TOOL and has_inner else passage,
        has_inner,
        bool(generates_inside),
    )


def parts_of(text: str) -> Iterator[str]:
    """A text and, where it is JSON, each longer text in it: a later step may use one field."""
    yield text
    value = parse_json(text).value
    if isinstance(value, dict | list):
        yield from (part for part in _json_texts(value, 0) if len(part) >= MIN_PART_CHARS)


def _texts_of(view: SpanView, *, is_query: bool) -> Iterator[tuple[str, Passage | None]]:
    if view.kind in RETRIEVAL_KINDS or (view.kind is OperationKind.TOOL and view.documents):
        yield from ((one.text, one) for one in view.documents if one.text.strip())
    elif view.kind is OperationKind.TOOL and view.output.strip():
        yield view.output, Passage("", view.output)
    elif (
        view.kind in (OperationKind.LLM, *STEP_KINDS)
        and view.output.strip()
        and not is_query
        and normalize_text(view.output) != normalize_text(view.input)
        and not (view.kind is OperationKind.LLM and view.span.status == "Error")
    ):
        yield view.output, None


def _json_texts(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth < MAX_DEPTH and isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _json_texts(inner, depth + 1)


def _end(view: SpanView) -> int:
    return max(view.span.start_ns, view.span.end_ns)


def _made_order(view: SpanView, depth: int) -> tuple[int, int, int, str]:
    """What ends first, and of what ends together the innermost, comes first."""
    return _end(view), -depth, view.span.start_ns, view.span.span_id


def text_in_prompt(view: SpanView, text: str, name: str = "") -> Output:
    """A source that only a prompt holds; `name` is its id. It is older than every span."""
    passage = Passage(name or content_id(text), text)
    return Output(view, text, -1, -1, -1, passage, is_in_prompt=True)


def prompt_texts(view: SpanView) -> Sequence[str]:
    """What a step read: its messages and variables, else its input."""
    texts = [message.text for message in view.prompt] + [one.text for one in view.variables]
    return texts or ([view.input] if view.input.strip() else [])
