"""What is usual on a route: the rate of the trailing fourteen days and how much days differ."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from otel_rt4chart.verify.core.rates import design_effect
from rt4chart_collector.detect.drift.policy import DAY_NS, HOUR_NS
from rt4chart_collector.store.rates.ticks import Bin, Tick, answer_sums

TRAILING_NS = 14 * DAY_NS
WARM_CLAIMS = 2000
LEAST_DEAD_BAND = 0.005
# A rise of fewer standard deviations between days than this is no news (docs/understand/drift.md).
DEAD_BAND_SDS = 1.6
Z_90 = 1.2816
# From a month's allowance of false alarms to a day's, as a logarithm.
A_DAY = math.log(30)
# Few days say little of how much days differ: as if so many more had differed by this share of
# the rate.
PRIOR_DAYS, PRIOR_SHARE = 2, 0.1

ModelVersion = tuple[str, str]
BinKey = tuple[int, int, float]
Histogram = Mapping[BinKey, int]


@dataclass(frozen=True, slots=True)
class Baseline:
    """What answers of one model and prompt version are measured against.

    `rate` is the share of claims, weighted, as it is shown. `share` is the mean of the answers' own
    shares, which the evidence is about, and `variance` the variance of one answer's; both lie a
    little towards a half, as if one of two more answers were unfaithful: no baseline is zero.
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
        """True where too few claims are known to page on."""
        return self.claims < WARM_CLAIMS

    @property
    def version(self) -> ModelVersion:
        """The model and the prompt version."""
        return self.model, self.prompt_version

    @property
    def reason(self) -> str:
        """Why nobody is paged, in a sentence; empty where the baseline is warm."""
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
    """The baseline at a time, from ticks before it; None where no answer is left.

    Without `version` it is that of the newest tick's. Hours that an alarmed span touches are left
    out whole.
    """
    past = sorted((t for t in ticks if t.start_ns < now_ns), key=lambda t: t.start_ns)
    if not past:
        return None
    model, prompt = version or (past[-1].model, past[-1].prompt_version)
    hours: dict[int, Histogram] = {}
    for tick in past:
        if (tick.model, tick.prompt_version) == (model, prompt):
            hour = tick.start_ns // HOUR_NS
            hours[hour] = added(hours.get(hour, {}), tick.bins)
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
            add(days.setdefault(start // DAY_NS, {}), hours[hour])
    whole: dict[BinKey, int] = {}
    for day in days.values():
        add(whole, day)
    bins = [Bin(m, x, n, rate) for (m, x, rate), n in sorted(whole.items())]
    sums = answer_sums(bins)
    if sums.wm <= 0:
        return None
    total = _moments(whole)
    size = total.size
    share = (total.mean * size + 1) / (size + 2)
    variance = max(total.variance, share * (1 - share) / (size + 2))
    sd = _between_days([_moments(day) for day in days.values()], share, variance)
    error = math.sqrt(variance / size + sd**2 / len(days))
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
        design_effect=design_effect(sums, rate, sums.wm**2 / sums.wwm),
        share=share,
        variance=variance,
        error=error,
        between_day_sd=sd,
        dead_band=dead_band(share, math.hypot(sd, error), len(days)),
    )


def dead_band(share: float, sd: float, days: int) -> float:
    """How far above the baseline a day's rate may lie that pages nobody.

    1.6 deviations, of the upper 90% bound that so many days give it (Wilson and Hilferty's cube
    root), as a factor on the rate: what differs between days multiplies, so upward it is longer.
    """
    free = days - 1 + PRIOR_DAYS
    spread = 2 / (9 * free)
    cautious = sd / max(1 - spread - Z_90 * math.sqrt(spread), 0.2) ** 1.5
    return max(LEAST_DEAD_BAND, share * math.expm1(DEAD_BAND_SDS * cautious / share))


def edge(band: float) -> float:
    """What evidence beyond a dead band is short of that it pages, as a logarithm.

    The least band only says that less is no news: that a rise passes it need be as sure as once a
    day, if the rise itself is as sure as a month asks. A band of twice that or more is there
    because days differ, and is held in full.
    """
    return A_DAY * max(2 - band / LEAST_DEAD_BAND, 0.0)


def added(histogram: Histogram, bins: Iterable[Bin]) -> Histogram:
    """The histogram with these bins in it; the given one stays as it is."""
    grown = dict(histogram)
    for one in bins:
        if one.decided > 0 and one.answers > 0 and one.sample_rate > 0:
            kind = one.decided, one.unfaithful, one.sample_rate
            grown[kind] = grown.get(kind, 0) + one.answers
    return grown


def add(histogram: dict[BinKey, int], other: Histogram) -> None:
    """Put the other's answers into the histogram."""
    for kind, count in other.items():
        histogram[kind] = histogram.get(kind, 0) + count


@dataclass(frozen=True, slots=True)
class _Moments:
    """Weighted mean and variance of answers' shares, and Kish's number of answers."""

    mean: float
    variance: float
    size: float


def _moments(histogram: Histogram) -> _Moments:
    w = wx = wxx = ww = 0.0
    for (decided, unfaithful, rate), count in sorted(histogram.items()):
        share, weight = unfaithful / decided, count / rate
        w += weight
        wx += weight * share
        wxx += weight * share * share
        ww += weight / rate
    mean = wx / w
    return _Moments(mean, max(wxx / w - mean * mean, 0.0), w * w / ww)


def _between_days(days: Sequence[_Moments], share: float, variance: float) -> float:
    """How much days differ beyond sampling noise (DerSimonian and Laird, 1986), with a prior."""
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
