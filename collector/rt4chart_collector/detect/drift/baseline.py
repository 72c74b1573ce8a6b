"""The baseline of a route: its rate in the previous fourteen days, and how much days differ."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from otel_rt4chart.verify.core.rates import (
    Rate,
    design_effect,
    effective_size,
    is_measurable,
    wilson,
)
from rt4chart_collector.detect.drift.hour_sums import Hours, HourSums, hour_sums, total_sums
from rt4chart_collector.detect.drift.policy import DAY_NS, HOUR_NS
from rt4chart_collector.detect.drift.shares import total
from rt4chart_collector.detect.drift.usual_pattern import (
    DAY_HOURS,
    LARGEST_FACTOR,
    FittedPattern,
    UsualPattern,
    fit_pattern,
)
from rt4chart_collector.store.rates.ticks import Tick

# Two whole weeks, so that each day of the week counts twice.
TRAILING_NS = 14 * DAY_NS
# How kinds of questions, hours and days differ is learned over twice that time.
PATTERN_NS = 2 * TRAILING_NS
# The share to bet against must be below 1, or no answer could win.
LARGEST_SHARE = 0.99
# With this many claims the standard error of a rate of 6% is below one point.
WARM_CLAIMS = 2000
# Smaller rises are not worth a page; larger ones must exceed the usual differences between days
# (docs/understand/drift.md, "Dead band").
LEAST_DEAD_BAND = 0.005
DEAD_BAND_SDS = 1.7
Z_90 = 1.2816  # the 90% quantile of the normal distribution
# The difference between an alarm a month and one a day, on the scale of the evidence.
LOG_DAYS_A_MONTH = math.log(30)
# A few days say little about the variance between days. The prior counts as this many further days
# with a standard deviation of this share of the rate.
PRIOR_DAYS, PRIOR_SHARE = 2, 0.1

ModelVersion = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Baseline:
    """The usual rate with which answers of one model and prompt version are compared.

    `rate` is the weighted share of the counted claims, as it is displayed. `share` is the likely
    mean of the answers' own shares, which the evidence is about, and `variance` the likely variance
    of a single one (`Shares`), so that no baseline is zero. `days_known` are the degrees of freedom
    of the deviation between days, `mix` the share of the answers that each kind of question has.
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
    days_known: float
    pattern: UsualPattern = field(default_factory=UsualPattern)
    mix: Mapping[str, float] = field(default_factory=dict)

    def usual(self, kind: str, at_ns: int) -> float:
        """The usual share of answers to this kind of question at this time, below 1."""
        factor = self.pattern.kind(kind).value * self.pattern.time(at_ns // HOUR_NS)
        return min(self.share * factor, LARGEST_SHARE)

    def bound(self, kind: str, at_ns: int) -> float:
        """The share beyond which a rise matters: the dead band above the usual one.

        The band is wider for a kind of question of which little is known.
        """
        of_kind = self.pattern.kind(kind)
        share = self.share * of_kind.value
        sd = share * math.hypot(
            self.between_day_sd / self.share,
            self.error / self.share,
            of_kind.error / of_kind.value,
        )
        risen = min(
            share + dead_band(share, sd, self.days_known),
            max(LARGEST_FACTOR * self.share, share + self.dead_band),
        )
        return min(risen * self.pattern.time(at_ns // HOUR_NS), LARGEST_SHARE)

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
    hours: dict[int, HourSums] = {}
    for tick in past:
        if (tick.model, tick.prompt_version) == (model, prompt):
            add_to_hour(hours, tick)
    return baseline_from(hours, (model, prompt), verifier, now_ns=now_ns, alarmed=alarmed)


def add_to_hour(hours: dict[int, HourSums], tick: Tick) -> None:
    """Add the answers of the tick to those of its hour, if it has any with decided claims."""
    hour, sums = tick.start_ns // HOUR_NS, hour_sums(tick.bins)
    if sums.claims.answers:
        hours[hour] = hours[hour].plus(sums) if hour in hours else sums


def baseline_from(
    hours: Hours,
    version: ModelVersion,
    verifier: str,
    *,
    now_ns: int,
    alarmed: Sequence[tuple[int, int]] = (),
    least_claims: int = 0,
) -> Baseline | None:
    """The baseline from the sums of whole hours since 1970; see `baseline_of`.

    None also with fewer claims than `least_claims`.
    """
    known = {
        hour: hours[hour]
        for hour in sorted(hours)
        if now_ns - PATTERN_NS <= hour * HOUR_NS < now_ns and not _touches(hour * HOUR_NS, alarmed)
    }
    since = -(-(now_ns - TRAILING_NS) // HOUR_NS)
    recent = {hour: sums for hour, sums in known.items() if hour >= since}
    sums = total_sums(found.claims for found in recent.values())
    if not is_measurable(sums) or sums.claims < least_claims:
        return None
    fitted = fit_pattern(known, level_since=since)
    whole = total(found.whole for found in recent.values())
    share, variance = whole.likely_mean, whole.likely_variance
    sd = share * _between_days(fitted)
    days = {hour // DAY_HOURS for hour in recent}
    error = math.sqrt(variance / whole.size + sd**2 / len(days))
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
        dead_band=dead_band(share, math.hypot(sd, error), fitted.free),
        days_known=fitted.free,
        pattern=fitted.pattern,
        mix=_mix_of(recent.values()),
    )


def dead_band(share: float, sd: float, days_known: float) -> float:
    """The rise above the baseline that is within the usual differences between days.

    It is 1.6 standard deviations, at the upper 90% confidence bound that so many degrees of freedom
    allow (the chi-square quantile by Wilson and Hilferty's cube root, 1931). It is applied as a
    factor on the rate: differences between days are multiplicative, so the band is longer upwards.
    """
    free = days_known + PRIOR_DAYS
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


def _mix_of(hours: Iterable[HourSums]) -> dict[str, float]:
    """The share of the answers that each kind of question has."""
    weights: defaultdict[str, float] = defaultdict(float)
    for sums in hours:
        for kind, shares in sums.kinds.items():
            weights[kind] += shares.weight
    whole = sum(weights.values())
    return {kind: weight / whole for kind, weight in weights.items()}


def _between_days(fitted: FittedPattern) -> float:
    """The standard deviation between days, relative to the rate, with a prior."""
    known = fitted.free * fitted.between_days + PRIOR_DAYS * PRIOR_SHARE**2
    return math.sqrt(known / (fitted.free + PRIOR_DAYS))


def _touches(hour_ns: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(since < hour_ns + HOUR_NS and hour_ns < until for since, until in spans)
