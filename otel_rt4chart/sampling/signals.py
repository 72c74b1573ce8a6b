"""What the spans of a trace say that matters for sampling: errors, feedback, length."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from otel_rt4chart.core import semconv
from otel_rt4chart.spans.model import values
from otel_rt4chart.spans.model.record import Attributes, SpanRecord
from otel_rt4chart.spans.model.view import Kind, View

ANNOTATIONS = ("annotations", "evaluations")
# What a rating by a user is called, and the labels by which one dislikes; compared word by word.
RATING = frozenset({"feedback", "thumb", "thumbs", "rating", "vote"})
DISLIKES = frozenset(
    {"down", "👎", "negative", "dislike", "disliked", "bad", "unhelpful", "incorrect", "wrong"}
)


@dataclass(frozen=True, slots=True)
class Rating:
    """A judgement of the answer: a user's where `is_human`, or where its name says so."""

    name: str
    label: str = ""
    score: float | None = None
    is_human: bool = False

    @property
    def dislikes(self) -> bool:
        """By the label if there is one, else by a score of 0 or less.

        A score counts only under a name that says rating: of toxicity, a person's 0 is good.
        """
        is_rating = bool(RATING & _words(self.name))
        if self.label:
            return (self.is_human or is_rating) and bool(DISLIKES & _words(self.label))
        return is_rating and self.score is not None and self.score <= 0


def is_disliked(span: SpanRecord) -> bool:
    """True where the span, or an event on it, carries a user's dislike."""
    return any(rating.dislikes for rating in _ratings(span))


def _ratings(span: SpanRecord) -> Iterator[Rating]:
    for attributes in (span.attributes, *(event.attributes for event in span.events)):
        if (given := attributes.get(semconv.FEEDBACK)) is not None:
            yield _feedback(given)
        if semconv.GEN_AI_EVALUATION_NAME in attributes:
            yield Rating(
                values.text(attributes.get(semconv.GEN_AI_EVALUATION_NAME)),
                values.text(attributes.get(semconv.GEN_AI_EVALUATION_LABEL)),
                values.number(attributes.get(semconv.GEN_AI_EVALUATION_SCORE)),
            )
    for prefix in ANNOTATIONS:
        yield from map(_annotation, _listed(span.attributes, prefix))


def _feedback(given: object) -> Rating:
    """A word, a number, or a flag that is true for a like."""
    said = values.flag(given)
    score = values.number(given) if said is None else float(said)
    return Rating("feedback", "" if score is not None else values.text(given), score)


def _listed(attributes: Attributes, prefix: str) -> list[object]:
    """A list in flattened keys, as JSON, or as it is."""
    flat = {key: value for key, value in attributes.items() if key.startswith(f"{prefix}.")}
    whole = values.nested(flat).get(prefix) if flat else attributes.get(prefix)
    return values.listed(values.opened(whole).value if isinstance(whole, str) else whole)


def _annotation(item: object) -> Rating:
    """Its fields stand under `annotation` or `evaluation`."""
    outer = values.mapping(item)
    told = next((one for one in outer.values() if isinstance(one, Mapping)), outer)
    return Rating(
        values.text(told.get("name")),
        values.text(told.get("label")),
        values.number(told.get("score")),
        is_human=values.text(told.get("annotator_kind")).upper() == "HUMAN",
    )


def _words(text: str) -> frozenset[str]:
    spaced = "".join(char if char.isalnum() or char == "👎" else " " for char in text.lower())
    return frozenset(spaced.split())


ASKED = (Kind.CHAIN, Kind.AGENT, Kind.LLM)


@dataclass(frozen=True, slots=True)
class Signals:
    """What is known of a trace when its local root has ended.

    `question` is what the user asked; `top_score` the best score of the retrieved documents, None
    where none has one; `is_error` that a span has the status Error; `forced` that the application
    wants the answer verified; `is_disliked` that a user's feedback says so.
    """

    route: str = ""
    forced: bool = False
    is_error: bool = False
    question: str = ""
    top_score: float | None = None
    is_disliked: bool = False

    def merged(self, other: Signals) -> Signals:
        """Both together, in any order, but for the route: there the first that is named stays.

        Of two questions the shorter one stays: a prompt repeats the question among its context.
        """
        questions = [one for one in (self.question, other.question) if one]
        scores = [one for one in (self.top_score, other.top_score) if one is not None]
        return Signals(
            route=self.route or other.route,
            forced=self.forced or other.forced,
            is_error=self.is_error or other.is_error,
            question=min(questions, key=lambda one: (len(one), one), default=""),
            top_score=max(scores, default=None),
            is_disliked=self.is_disliked or other.is_disliked,
        )


def signals_of(view: View) -> Signals:
    """What one span says of its trace; the route only where the application named it."""
    attributes = view.span.attributes
    return Signals(
        route=values.text(attributes.get(semconv.ROUTE)),
        forced=values.flag(attributes.get(semconv.FORCE)) is True,
        is_error=view.span.status == "Error",
        question=(view.user_message or view.input) if view.kind in ASKED else "",
        top_score=_top_score(view),
        is_disliked=is_disliked(view.span),
    )


def _top_score(view: View) -> float | None:
    """Of a retriever's documents: a reranker's scores are on another scale."""
    if view.kind is not Kind.RETRIEVER and not view.is_datastore:
        return None
    scores = (document.score for document in view.documents)
    return max((one for one in scores if one is not None and math.isfinite(one)), default=None)
