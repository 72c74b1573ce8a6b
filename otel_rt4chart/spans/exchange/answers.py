"""Finds the span that holds the answer shown to the user."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence

from otel_rt4chart.spans.exchange.span_tree import (
    CHECK_KINDS,
    RETRIEVAL_KINDS,
    TURN_KINDS,
    SpanTree,
)
from otel_rt4chart.spans.model.span_view import OperationKind, SpanView
from otel_rt4chart.spans.model.values import is_json_structure, normalize_text, parse_json

MAX_DEPTH = 12
# A generation that makes up at least this share of a text is the source of the text.
MAIN_SHARE = 0.5
# A shorter output of a turn may occur in the output of a generation by chance.
MIN_PART_CHARS = 20
DSPY_FIELD = "[[ ## "


def find_answers(tree: SpanTree) -> dict[str, SpanView]:
    """The answer of each turn, by the id of the turn's span.

    Generations inside a retrieval are query rewrites, those inside an evaluation or a guardrail
    serve the check, and those that only call tools are intermediate steps. Of the others

    1. one without text, or with JSON, is replaced by a descendant with text (one call traced
       twice), and a failed one by any other with text (a retry);
    2. the output of the turn decides: the answer is the generation that equals it, else one that is
       a value in it or that makes up most of it;
    3. else the answer is the generation that ended last.

    If no generation of a turn has text and the turn contains a retrieval, the turn's own output is
    the answer, because some frameworks do not trace generations. JSON, or text that is mostly what
    was retrieved, is no answer. A turn whose generations all call tools has an empty answer.
    """
    generations: defaultdict[str, list[SpanView]] = defaultdict(list)
    calls: defaultdict[str, list[SpanView]] = defaultdict(list)
    retrieved: defaultdict[str, list[SpanView]] = defaultdict(list)
    for view in tree:
        turn = tree.turn(view).span.span_id
        if view.kind is OperationKind.LLM and not _is_auxiliary(view, tree):
            (calls if view.calls_tools_only else generations)[turn].append(view)
        elif is_retrieval(view) and not tree.is_inside(view, CHECK_KINDS):
            retrieved[turn].append(view)
    answers = {turn: _choose_answer(views, tree) for turn, views in generations.items()}
    for turn_id, retrievals in retrieved.items():
        turn_view = tree.turn(retrievals[0])
        if _is_empty(answers.get(turn_id)) and _has_own_answer(turn_view, retrievals, tree):
            answers[turn_id] = turn_view
    silent = {turn: max(views, key=_end_order) for turn, views in calls.items()}
    return {**silent, **answers}


def answer_text(answer: SpanView, turn: SpanView) -> str:
    """The text of the answer: the part of the generated text that the turn returned.

    A chain may remove reasoning or the field names of a form. A short output may occur in the
    generated text by chance, unless that is a form or JSON.
    """
    returned, generated = normalize_text(turn.output), normalize_text(answer.output)
    is_part = returned != generated and returned in generated and not is_json_structure(turn.output)
    is_deliberate = (
        len(returned) >= MIN_PART_CHARS
        or DSPY_FIELD in generated
        or is_json_structure(answer.output)
    )
    return turn.output.strip() if returned and is_part and is_deliberate else answer.output


def is_retrieval(view: SpanView) -> bool:
    """True for retrievers, rerankers and tools on a data store."""
    return view.kind in RETRIEVAL_KINDS or (view.kind is OperationKind.TOOL and view.is_datastore)


def _is_auxiliary(view: SpanView, tree: SpanTree) -> bool:
    return tree.is_inside(view, (*RETRIEVAL_KINDS, *CHECK_KINDS))


def _is_empty(answer: SpanView | None) -> bool:
    return answer is None or not answer.output.strip()


def _has_own_answer(turn: SpanView, searches: Sequence[SpanView], tree: SpanTree) -> bool:
    """True if the turn's output is an answer, not only a list of what was retrieved."""
    output = normalize_text(turn.output)
    if (
        not output
        or is_json_structure(turn.output)
        or turn.kind not in (*TURN_KINDS, OperationKind.NONE)
        or tree.is_inside(turn, CHECK_KINDS)
    ):
        return False
    retrieved = {
        normalize_text(document.text) for search in searches for document in search.documents
    }
    return sum(len(text) for text in retrieved if text in output) < MAIN_SHARE * len(output)


def _choose_answer(generations: Sequence[SpanView], tree: SpanTree) -> SpanView:
    turn = tree.turn(generations[0])
    with_text = [generation for generation in generations if generation.output.strip()]
    above = {
        parent.span.span_id
        for view in with_text
        if not is_json_structure(view.output)
        for parent in tree.ancestors(view)
    }
    remaining = [
        generation
        for generation in generations
        if not _is_superseded(generation, above, bool(with_text))
    ]
    texts = [] if turn.kind is OperationKind.LLM else _output_texts(turn.output)
    ranked = [(_rank(view, texts), len(view.output), view) for view in remaining]
    # Parts of the output compete by length, as a short one may be contained by chance; generations
    # that equal the output, or are unrelated to it, compete by time.
    best = max(
        ranked, key=lambda row: (row[0], row[1] if row[0] in (1, 2) else 0, *_end_order(row[2]))
    )
    return best[2]


def _is_superseded(view: SpanView, ancestors: Container[str], has_text_elsewhere: bool) -> bool:
    """True if a descendant or a retry holds the text that this generation lacks."""
    if view.output.strip() and not is_json_structure(view.output):
        return False
    is_failed = view.span.status == "Error" and not view.output.strip() and has_text_elsewhere
    return view.span.span_id in ancestors or is_failed


def _end_order(view: SpanView) -> tuple[int, int, str]:
    return (view.span.end_ns, view.span.start_ns, view.span.span_id)


def _rank(view: SpanView, texts: Sequence[str]) -> int:
    """How the turn's output contains this one: 3 entirely, 2 as a value, 1 mostly, 0 not."""
    text = normalize_text(view.output)
    if not texts or not text:
        return 0
    if text == texts[0]:
        return 3
    if text in texts[1:]:
        return 2
    return int(any(text in whole and len(text) >= MAIN_SHARE * len(whole) for whole in texts))


def _output_texts(output: str) -> list[str]:
    """A turn's output and, if it is JSON, each text in it."""
    value = parse_json(output).value
    texts = _json_texts(value, 0) if isinstance(value, Mapping | list) else ()
    return [normalize_text(text) for text in (output, *texts) if text.strip()]


def _json_texts(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth < MAX_DEPTH and isinstance(value, Mapping | list):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _json_texts(inner, depth + 1)
