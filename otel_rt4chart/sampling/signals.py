"""What the spans of a trace say that matters for choosing its answer."""

from __future__ import annotations

import math
from dataclasses import dataclass

from otel_rt4chart import semconv
from otel_rt4chart.sampling.feedback import is_disliked
from otel_rt4chart.spans import values
from otel_rt4chart.spans.view import Kind, View

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
