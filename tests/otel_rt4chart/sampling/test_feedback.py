"""Which attributes and events say that the user dislikes the answer."""

from __future__ import annotations

import json

import pytest

from otel_rt4chart.sampling.signals import is_disliked
from otel_rt4chart.spans.model.record import Attributes, SpanEvent, SpanRecord


def span(attributes: Attributes, *events: SpanEvent) -> SpanRecord:
    """A span with these attributes and events."""
    return SpanRecord("0" * 32, "1" * 16, "answer", 1, 2, attributes=attributes, events=events)


def human(**fields: str | float) -> Attributes:
    """A person's annotation, flattened as OpenInference writes it."""
    given = {"annotator_kind": "HUMAN", **fields}
    return {f"annotations.0.annotation.{key}": value for key, value in given.items()}


@pytest.mark.parametrize(
    "attributes",
    [
        {"rt4chart.feedback": "down"},
        {"rt4chart.feedback": "thumbs_down"},
        {"rt4chart.feedback": "👎"},
        {"rt4chart.feedback": False},
        {"rt4chart.feedback": "false"},
        {"rt4chart.feedback": -1},
        {"rt4chart.feedback": 0},
        human(name="user feedback", score=0),
        human(name="user feedback", label="thumbs-down", score=0),
        human(name="correctness", label="incorrect"),
        {"evaluations.3.evaluation.name": "vote", "evaluations.3.evaluation.score": -1},
        {"annotations": json.dumps([{"annotation": {"name": "rating", "label": "Bad"}}])},
        {"gen_ai.evaluation.name": "user_feedback", "gen_ai.evaluation.score.value": 0.0},
        {"gen_ai.evaluation.name": "thumbs", "gen_ai.evaluation.score.label": "down"},
    ],
)
def test_a_dislike_is_read(attributes: Attributes) -> None:
    """In each of the forms that the conventions know, and in ours."""
    assert is_disliked(span(attributes))


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"rt4chart.feedback": "up"},
        {"rt4chart.feedback": True},
        {"rt4chart.feedback": 1},
        {"rt4chart.feedback": ""},
        human(name="user feedback", label="thumbs-up", score=0),
        human(name="toxicity", score=0),
        human(name="user feedback"),
        {"annotations.0.annotation.name": "faithful", "annotations.0.annotation.label": "wrong"},
        {"gen_ai.evaluation.name": "relevance", "gen_ai.evaluation.score.value": 0.0},
        {"annotations": "[{"},
        {"annotations": "[1, null]"},
        {"annotationsmith": "down"},
    ],
)
def test_what_is_no_dislike_is_left_alone(attributes: Attributes) -> None:
    """A judge's verdict is not the user's, and a score of 0 may be good."""
    assert not is_disliked(span(attributes))


def test_an_event_on_the_span_counts_too() -> None:
    """OpenTelemetry's evaluations are events."""
    said = {"gen_ai.evaluation.name": "feedback", "gen_ai.evaluation.score.label": "negative"}

    assert is_disliked(span({}, SpanEvent("gen_ai.evaluation.result", 1, said)))
