"""The span of time around a rise that its chart covers, and the steps of the rate in it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median, median_high

from otel_rt4chart.verify.core.rates import AnswerSums, Rate, claim_rate
from rt4chart_collector.store.rates.ticks import TICK_NS, Bin, Tick, answer_sums

MINUTE_NS = 60 * 10**9
HOUR_NS = 60 * MINUTE_NS
# The time before the rise is as long as the rise, between these; after its end, a quarter of it.
LEAST_BEFORE_NS, MOST_BEFORE_NS = 6 * HOUR_NS, 24 * HOUR_NS
LEAST_AFTER_NS, MOST_AFTER_NS = HOUR_NS, 12 * HOUR_NS
LONGEST_NS = 14 * 24 * HOUR_NS
STEP_MINUTES = (5, 10, 15, 20, 30, 60, 120, 180, 240, 360, 720)
# Steps are as short as these numbers allow: few claims say little, many steps cannot be told apart.
MOST_STEPS, FEW_STEPS, ENOUGH_CLAIMS = 48, 18, 20


@dataclass(frozen=True, slots=True)
class IncidentSpan:
    """The time of the chart; `is_cut` if the rise lasted longer than it shows."""

    begin_ns: int
    until_ns: int
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class RateStep:
    """The rate of the answers of one step, with the claims and the answers that it is of."""

    begin_ns: int
    end_ns: int
    rate: Rate
    claims: int
    answers: int


def incident_span(since_ns: int, *, end_ns: int, now_ns: int) -> IncidentSpan:
    """Hours before a rise, up to now, or to some time after its end; `end_ns` is 0 if it lasts."""
    length = max((end_ns or now_ns) - since_ns, TICK_NS)
    begin = since_ns - min(max(length, LEAST_BEFORE_NS), MOST_BEFORE_NS)
    after = min(max(length // 4, LEAST_AFTER_NS), MOST_AFTER_NS)
    until = min(now_ns, end_ns + after) if end_ns else now_ns
    until = max(until, since_ns + TICK_NS)
    return IncidentSpan(begin, min(until, begin + LONGEST_NS), until > begin + LONGEST_NS)


def rate_steps(ticks: Sequence[Tick], span: IncidentSpan, *, anchor_ns: int) -> list[RateStep]:
    """The rate in steps of one length, without those that have no decided claim.

    A step begins at `anchor_ns`, the beginning of the rise or the change that came with it: no step
    mixes answers from before it with later ones.
    """
    within = [tick for tick in ticks if span.begin_ns <= tick.start_ns < span.until_ns]
    step_ns = _step_length(within, span, anchor_ns)
    first, last = _ends(span, anchor_ns, step_ns)
    parts: dict[int, list[Bin]] = {}
    for number, bins in _by_step(within, step_ns, anchor_ns).items():
        parts.setdefault(min(max(number, first), last), []).extend(bins)
    found = []
    for number, bins in sorted(parts.items()):
        sums = answer_sums(bins)
        begin = span.begin_ns if number == first else anchor_ns + number * step_ns
        end = span.until_ns if number == last else anchor_ns + (number + 1) * step_ns
        if sums.claims:
            found.append(_step(begin, end, sums))
    return found


def usual_length(steps: Sequence[RateStep]) -> int:
    """The length of the steps in nanoseconds, apart from that of the first and the last one."""
    return median_high(step.end_ns - step.begin_ns for step in steps) if steps else 0


def _ends(span: IncidentSpan, anchor_ns: int, step_ns: int) -> tuple[int, int]:
    """The numbers of the first and the last step.

    Less than half a step at an end of the span belongs to the step beside it: a rate of the last
    minutes says little. The step at the anchor and the one before it stay what they are.
    """
    first = (span.begin_ns - anchor_ns) // step_ns
    last = (span.until_ns - 1 - anchor_ns) // step_ns
    if anchor_ns + (first + 1) * step_ns - span.begin_ns < step_ns / 2 and first < -1:
        first += 1
    if span.until_ns - (anchor_ns + last * step_ns) < step_ns / 2 and last > 0:
        last -= 1
    return first, last


def _step(begin_ns: int, end_ns: int, sums: AnswerSums) -> RateStep:
    return RateStep(begin_ns, end_ns, claim_rate(sums), sums.claims, sums.answers)


def _step_length(ticks: Sequence[Tick], span: IncidentSpan, anchor_ns: int) -> int:
    """The shortest step with enough claims, unless that would leave too few steps."""
    length = span.until_ns - span.begin_ns
    fitting = [
        minutes * MINUTE_NS
        for minutes in STEP_MINUTES
        if minutes * MINUTE_NS * MOST_STEPS >= length
    ]
    for step_ns in fitting:
        steps = _by_step(ticks, step_ns, anchor_ns).values()
        claims = [sum(bin_.decided * bin_.answers for bin_ in bins) for bins in steps]
        is_last = length <= step_ns * FEW_STEPS
        if is_last or (claims and median(claims) >= ENOUGH_CLAIMS):
            return step_ns
    return fitting[-1] if fitting else STEP_MINUTES[-1] * MINUTE_NS


def _by_step(ticks: Iterable[Tick], step_ns: int, anchor_ns: int) -> dict[int, list[Bin]]:
    """The answers by the number of their step; that which begins at the anchor has 0."""
    found: dict[int, list[Bin]] = {}
    for tick in ticks:
        found.setdefault((tick.start_ns - anchor_ns) // step_ns, []).extend(tick.bins)
    return found
