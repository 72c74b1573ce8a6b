"""The baseline of a route: its rate in the previous fourteen days, and how much days differ."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from otel_rt4chart.verify.core.rates import (
    Rate,
    design_effect,
    effective_size,
    is_measurable,
    wilson,
)
from rt4chart_collector.detect.drift.policy import DAY_NS, HOUR_NS
from rt4chart_collector.detect.drift.shares import Shares, shares_of
from rt4chart_collector.store.rates.ticks import Bin, Tick, answer_sums

# Two whole weeks, so that each day of the week counts twice.
TRAILING_NS = 14 * DAY_NS
# With this many claims the standard error of a rate of 6% is below one point.
WARM_CLAIMS = 2000
# Smaller rises are not worth a page; larger ones must exceed the usual differences between days
# (docs/understand/drift.md, "Dead band").
LEAST_DEAD_BAND = 0.005
DEAD_BAND_SDS = 1.6
Z_90 = 1.2816  # the 90% quantile of the normal distribution
# The difference between an alarm a month and one a day, on the scale of the evidence.
LOG_DAYS_A_MONTH = math.log(30)
# A few days say little about the variance between days. The prior counts as this many further days
# with a standard deviation of this share of the rate.
PRIOR_DAYS, PRIOR_SHARE = 2, 0.1

ModelVersion = tuple[str, str]
BinKey = tuple[int, int, float]
Histogram = Mapping[BinKey, int]


@dataclass(frozen=True, slots=True)
class Baseline:
    """The usual rate with which answers of one model and prompt version are compared.

    `rate` is the weighted share of the counted claims, as it is displayed. `share` is the likely
    mean of the answers' own shares, which the evidence is about, and `variance` the likely variance
    of a single one (`Shares`), so that no baseline is zero.
    """

    model: str
    prompt_version: str
    verifier: str
    since_ns: int
    until_ns: int
    answers: int
    claims: int
    rate: float
    design_effect: float
    share: float
    variance: float
    error: float
    between_day_sd: float
    dead_band: float

    @property
    def is_cold(self) -> bool:
        """True if there are too few claims to page on."""
        return self.claims < WARM_CLAIMS

    @property
    def measured_rate(self) -> Rate:
        """The rate with its interval, which is wider than for independent claims."""
        size = max(self.claims / self.design_effect, 1.0)
        return Rate(self.rate, *wilson(self.rate, size))

    @property
    def version(self) -> ModelVersion:
        """The model and the prompt version."""
        return self.model, self.prompt_version

    @property
    def reason(self) -> str:
        """Why no alarm is possible, in a sentence; empty if the baseline is warm."""
        if not self.is_cold:
            return ""
        name = " ".join(part for part in self.version if part) or "this route"
        return (
            f"{self.claims:,} of the {WARM_CLAIMS:,} decided claims are known that a baseline "
            f"of {name} needs."
        )


def baseline_of(
    ticks: Iterable[Tick],
    *,
    now_ns: int,
    alarmed: Sequence[tuple[int, int]] = (),
    verifier: str = "",
    version: ModelVersion | None = None,
) -> Baseline | None:
    """The baseline at a time, from the ticks before it; None if no answer remains.

    Without `version` it is the version of the newest tick. Hours with a part in an alarm are left
    out entirely.
    """
    past = sorted((t for t in ticks if t.start_ns < now_ns), key=lambda t: t.start_ns)
    if not past:
        return None
    model, prompt = version or (past[-1].model, past[-1].prompt_version)
    hours: dict[int, Histogram] = {}
    for tick in past:
        if (tick.model, tick.prompt_version) == (model, prompt):
            hour = tick.start_ns // HOUR_NS
            hours[hour] = with_bins(hours.get(hour, {}), tick.bins)
    return baseline_from(hours, (model, prompt), verifier, now_ns=now_ns, alarmed=alarmed)


def baseline_from(
    hours: Mapping[int, Histogram],
    version: ModelVersion,
    verifier: str,
    *,
    now_ns: int,
    alarmed: Sequence[tuple[int, int]] = (),
) -> Baseline | None:
    """The baseline from histograms of whole hours since 1970; see `baseline_of`."""
    days: dict[int, dict[BinKey, int]] = {}
    for hour in sorted(hours):
        start = hour * HOUR_NS
        is_known = hours[hour] and now_ns - TRAILING_NS <= start < now_ns
        if is_known and not _touches(start, alarmed):
            merge_into(days.setdefault(start // DAY_NS, {}), hours[hour])
    whole: dict[BinKey, int] = {}
    for day in days.values():
        merge_into(whole, day)
    bins = bins_of(whole)
    sums = answer_sums(bins)
    if not is_measurable(sums):
        return None
    total = shares_of(bins)
    share, variance = total.likely_mean, total.likely_variance
    sd = _between_days([shares_of(bins_of(day)) for day in days.values()], share, variance)
    error = math.sqrt(variance / total.size + sd**2 / len(days))
    rate = sums.wx / sums.wm
    return Baseline(
        model=version[0],
        prompt_version=version[1],
        verifier=verifier,
        since_ns=min(days) * DAY_NS,
        until_ns=now_ns,
        answers=sums.answers,
        claims=sums.claims,
        rate=rate,
        design_effect=design_effect(sums, rate, effective_size(sums)),
        share=share,
        variance=variance,
        error=error,
        between_day_sd=sd,
        dead_band=dead_band(share, math.hypot(sd, error), len(days)),
    )


def dead_band(share: float, sd: float, days: int) -> float:
    """The rise above the baseline that is within the usual differences between days.

    It is 1.6 standard deviations, at the upper 90% confidence bound that so many days allow (the
    chi-square quantile by Wilson and Hilferty's cube root, 1931). It is applied as a factor on the
    rate: differences between days are multiplicative, so the band is longer upwards.
    """
    free = days - 1 + PRIOR_DAYS
    spread = 2 / (9 * free)
    cautious = sd / max(1 - spread - Z_90 * math.sqrt(spread), 0.2) ** 1.5
    return max(LEAST_DEAD_BAND, share * math.expm1(DEAD_BAND_SDS * cautious / share))


def dead_band_allowance(band: float) -> float:
    """By how much the threshold is lower for evidence of a rise beyond the dead band, as a log.

    The minimum band only says which rises are too small to matter. That a rise exceeds it needs the
    certainty of one false alarm a day, if the rise itself has that of one a month. A band of twice
    the minimum or more exists because days differ, and gets no allowance.
    """
    return LOG_DAYS_A_MONTH * max(2 - band / LEAST_DEAD_BAND, 0.0)


def with_bins(histogram: Histogram, bins: Iterable[Bin]) -> Histogram:
    """A copy of the histogram with these bins added."""
    grown = dict(histogram)
    for bin_ in bins:
        if bin_.decided > 0 and bin_.answers > 0 and bin_.sample_rate > 0:
            kind = bin_.decided, bin_.counted, bin_.sample_rate
            grown[kind] = grown.get(kind, 0) + bin_.answers
    return grown


def merge_into(histogram: dict[BinKey, int], other: Histogram) -> None:
    """Add the answers of the other histogram in place."""
    for kind, count in other.items():
        histogram[kind] = histogram.get(kind, 0) + count


def bins_of(histogram: Histogram) -> list[Bin]:
    """The bins of the histogram, in order: sums of floats depend on it."""
    return [Bin(m, x, n, rate) for (m, x, rate), n in sorted(histogram.items())]


def _between_days(days: Sequence[Shares], share: float, variance: float) -> float:
    """The standard deviation between days beyond sampling noise, with a prior.

    DerSimonian and Laird's estimator (1986) for the variance between studies: here, days.
    """
    weights = [day.size / variance for day in days]
    total = sum(weights)
    mean = sum(w * day.mean for w, day in zip(weights, days, strict=True)) / total
    spread = sum(w * (day.mean - mean) ** 2 for w, day in zip(weights, days, strict=True))
    free = len(days) - 1
    scale = total - sum(w * w for w in weights) / total
    found = max(spread - free, 0.0) / scale if free else 0.0
    prior = (PRIOR_SHARE * share) ** 2
    return math.sqrt((free * found + PRIOR_DAYS * prior) / (free + PRIOR_DAYS))


def _touches(hour_ns: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(since < hour_ns + HOUR_NS and hour_ns < until for since, until in spans)
