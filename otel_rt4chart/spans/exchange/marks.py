"""What the application decided about an answer, from the marks on its spans."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from otel_rt4chart.core import semconv
from otel_rt4chart.spans.model import values
from otel_rt4chart.spans.model.verdict import Decision
from otel_rt4chart.spans.model.view import View

# Why an answer was left out; what else a mark may say is not for the application to decide.
HINTS = (Decision.NOT_SAMPLED, Decision.THROTTLED, Decision.OVER_BUDGET)


@dataclass(frozen=True, slots=True)
class Mark:
    """The application's decision; None where it left none."""

    sampled: bool | None = None
    sample_rate: float | None = None
    hint: Decision | None = None


def mark_of(line: Iterable[View], others: Iterable[View], elsewhere: Mark | None = None) -> Mark:
    """The mark of the answer and those above it (`line`), of whom each process marked its own.

    An answer that any of them chose is chosen, at the highest rate: they draw alike, so that this
    is the probability that any did. Where none did, the span that ended last tells why. Without a
    mark there, the first one of the `others` holds, else that `elsewhere`.
    """
    found_on = [(one.span, mark) for one in line if (mark := _mark(one)) is not None]
    # Who saw no answer wrote the rate alone: where others decided, bounds included, they know more.
    decided = [(span, mark) for span, mark in found_on if semconv.DECISION in span.attributes]
    marked = [(span.end_ns, mark) for span, mark in decided or found_on]
    chosen = [mark for _, mark in marked if mark.sampled]
    if chosen:
        return max(chosen, key=lambda mark: mark.sample_rate or 0.0)
    if marked:
        latest = max(end for end, _ in marked)
        return [mark for end, mark in marked if end == latest][-1]
    found = (mark for one in others if (mark := _mark(one)) is not None)
    return next(found, elsewhere or Mark())


def _mark(one: View) -> Mark | None:
    attributes = one.span.attributes
    sampled = values.flag(attributes.get(semconv.SAMPLED))
    rate = values.number(attributes.get(semconv.SAMPLE_RATE))
    told = attributes.get(semconv.DECISION)
    hint = next((one for one in HINTS if told == one), None)
    if sampled is None and rate is None and hint is None:
        return None
    return Mark(sampled, rate, hint)
