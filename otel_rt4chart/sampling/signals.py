"""The signals of a trace that matter for sampling: force, errors, feedback, scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from opentelemetry import trace

from otel_rt4chart.core import semconv
from otel_rt4chart.core.guard import guard
from otel_rt4chart.spans.model.record import Attributes, SpanRecord
from otel_rt4chart.spans.model.span_view import OperationKind, SpanView
from otel_rt4chart.spans.model.values import (
    as_flag,
    as_list,
    as_mapping,
    as_number,
    as_text,
    nest_dotted_keys,
    parse_json,
)

ANNOTATION_PREFIXES = ("annotations", "evaluations")
# Words in the names of user ratings, and in labels of dislike.
RATING_WORDS = frozenset({"feedback", "thumb", "thumbs", "rating", "vote"})
DISLIKE_WORDS = frozenset(
    {"down", "👎", "negative", "dislike", "disliked", "bad", "unhelpful", "incorrect", "wrong"}
)


@dataclass(frozen=True, slots=True)
class Rating:
    """A rating of the answer, by a user if `is_human` or if its name says so."""

    name: str
    label: str = ""
    score: float | None = None
    is_human: bool = False

    @property
    def dislikes(self) -> bool:
        """By the label if there is one, else by a score of 0 or less.

        A score counts only if the name means a rating: a human score of 0 for toxicity is good.
        """
        is_rating = bool(RATING_WORDS & _words(self.name))
        if self.label:
            return (self.is_human or is_rating) and bool(DISLIKE_WORDS & _words(self.label))
        return is_rating and self.score is not None and self.score <= 0


def is_disliked(span: SpanRecord) -> bool:
    """True if the span or one of its events records a user's dislike."""
    return any(rating.dislikes for rating in _ratings(span))


def _ratings(span: SpanRecord) -> Iterator[Rating]:
    for attributes in (span.attributes, *(event.attributes for event in span.events)):
        if (feedback := attributes.get(semconv.FEEDBACK)) is not None:
            yield _feedback_rating(feedback)
        if semconv.GEN_AI_EVALUATION_NAME in attributes:
            yield Rating(
                as_text(attributes.get(semconv.GEN_AI_EVALUATION_NAME)),
                as_text(attributes.get(semconv.GEN_AI_EVALUATION_LABEL)),
                as_number(attributes.get(semconv.GEN_AI_EVALUATION_SCORE)),
            )
    for prefix in ANNOTATION_PREFIXES:
        yield from map(_annotation_rating, _annotation_items(span.attributes, prefix))


def _feedback_rating(feedback: object) -> Rating:
    """Feedback as a word, a number, or a flag that is true for a like."""
    flag = as_flag(feedback)
    score = as_number(feedback) if flag is None else float(flag)
    return Rating("feedback", "" if score is not None else as_text(feedback), score)


def _annotation_items(attributes: Attributes, prefix: str) -> list[object]:
    """A list from flattened keys, from JSON, or as it is."""
    start = f"{prefix}."
    flat = {key: value for key, value in attributes.items() if key.startswith(start)}
    value = nest_dotted_keys(flat).get(prefix) if flat else attributes.get(prefix)
    return as_list(parse_json(value).value if isinstance(value, str) else value)


def _annotation_rating(item: object) -> Rating:
    """The rating of an annotation, whose fields are nested in `annotation` or `evaluation`."""
    outer = as_mapping(item)
    fields = next((inner for inner in outer.values() if isinstance(inner, Mapping)), outer)
    return Rating(
        as_text(fields.get("name")),
        as_text(fields.get("label")),
        as_number(fields.get("score")),
        is_human=as_text(fields.get("annotator_kind")).upper() == "HUMAN",
    )


def _words(text: str) -> frozenset[str]:
    spaced = "".join(char if char.isalnum() or char == "👎" else " " for char in text.lower())
    return frozenset(spaced.split())


QUESTION_KINDS = (OperationKind.CHAIN, OperationKind.AGENT, OperationKind.LLM)


@dataclass(frozen=True, slots=True)
class Signals:
    """What is known of a trace when its local root has ended.

    `question` is the user's question, `top_score` the best score of the retrieved documents, None
    without scores. `is_error`: a span has the status Error. `forced`: the application called
    `force`. `is_disliked`: a user's feedback is negative.
    """

    route: str = ""
    forced: bool = False
    is_error: bool = False
    question: str = ""
    top_score: float | None = None
    is_disliked: bool = False

    def at(self, route: str) -> Signals:
        """The same signals of this route; `dataclasses.replace` takes twice as long."""
        return Signals(
            route, self.forced, self.is_error, self.question, self.top_score, self.is_disliked
        )

    def merged(self, other: Signals) -> Signals:
        """Both combined; the order only matters for the route, where the first one wins.

        Of two questions the shorter one wins: a prompt repeats the question amid its context.
        """
        questions = [item for item in (self.question, other.question) if item]
        scores = [item for item in (self.top_score, other.top_score) if item is not None]
        return Signals(
            route=self.route or other.route,
            forced=self.forced or other.forced,
            is_error=self.is_error or other.is_error,
            question=min(questions, key=lambda value: (len(value), value), default=""),
            top_score=max(scores, default=None),
            is_disliked=self.is_disliked or other.is_disliked,
        )


def signals_of(view: SpanView) -> Signals:
    """The signals of one span; the route only if the application set it."""
    attributes = view.span.attributes
    return Signals(
        route=as_text(attributes.get(semconv.ROUTE)),
        forced=as_flag(attributes.get(semconv.FORCE)) is True,
        is_error=view.span.status == "Error",
        question=(view.user_message or view.input) if view.kind in QUESTION_KINDS else "",
        top_score=_top_score(view),
        is_disliked=is_disliked(view.span),
    )


def _top_score(view: SpanView) -> float | None:
    """The best score of a retriever's documents; the scores of rerankers have another scale."""
    if view.kind is not OperationKind.RETRIEVER and not view.is_datastore:
        return None
    scores = (document.score for document in view.documents)
    return max(
        (score for score in scores if score is not None and math.isfinite(score)), default=None
    )


def force() -> None:
    """Have the current trace verified regardless of the rate; no effect without a span."""
    with guard("forcing a verification"):
        trace.get_current_span().set_attribute(semconv.FORCE, True)
