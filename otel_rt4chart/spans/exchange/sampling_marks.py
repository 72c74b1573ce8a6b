"""The sampling decision of the application, read from the marks on its spans."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from otel_rt4chart.core import semconv
from otel_rt4chart.spans.model.span_view import SpanView
from otel_rt4chart.spans.model.values import as_flag, as_number
from otel_rt4chart.spans.model.verdict import Decision

# The reasons that an application may give for not sampling; other values of a mark are ignored.
UNSAMPLED_DECISIONS = (Decision.NOT_SAMPLED, Decision.THROTTLED, Decision.OVER_BUDGET)


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
    sampled = as_flag(attributes.get(semconv.SAMPLED))
    rate = as_number(attributes.get(semconv.SAMPLE_RATE))
    decision = attributes.get(semconv.DECISION)
    hint = next((reason for reason in UNSAMPLED_DECISIONS if reason == decision), None)
    if sampled is None and rate is None and hint is None:
        return None
    return SamplingMark(sampled, rate, hint)
