"""The rate of wrong claims from a cheap judge on all of them and trusted labels on a few."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from otel_rt4chart.verify.core.rates import Z_95, Rate
from otel_rt4chart.verify.rates.distributions import NEUTRAL, beta_quantile, t_95
from otel_rt4chart.verify.rates.labels import TrustedLabel, by_stratum
from otel_rt4chart.verify.rates.population import Population

# Below this there is no rate: an interval from fewer labels covers most of [0, 1] or is luck.
MIN_LABELS = 20
# Labels of one answer say nearly the same, so their number alone is not enough.
MIN_ANSWERS = 10
# A stratum with fewer labels is merged with the one whose scores are nearest.
MIN_STRATUM_LABELS = 5
# So many labels' worth of doubt that the scores explain anything of the labels.
DOUBT_LABELS = 4.0


@dataclass(frozen=True, slots=True)
class CorrectedRate:
    """The share of wrong claims with its 95% interval, or the number of labels that are missing.

    `rate` is empty while `more_labels` is above 0. `tuning` is how far the scores are believed
    within a stratum (λ of PPI++). `label_variance` falls with more labels, `traffic_variance` with
    more answers alone. `left` is how many claims have no label; if `is_too_small`, the route has
    too few claims or answers for a rate even when all are labelled.
    """

    rate: Rate
    labels: int
    more_labels: int
    tuning: float = 0.0
    label_variance: float = 0.0
    traffic_variance: float = 0.0
    left: int = 0
    is_too_small: bool = False

    @property
    def least_half_width(self) -> float | None:
        """Half the width of the interval once all claims are labelled; None without a rate.

        It is above 0: the rate is also that of other answers of the same kind.
        """
        if self.rate.value is None:
            return None
        share = self.labels / (self.labels + self.left)
        return Z_95 * math.sqrt(self.label_variance * share + self.traffic_variance)

    def labels_for(self, half_width: float) -> int | None:
        """How many labels in all an interval of ± `half_width` takes, drawn like those at hand.

        None without a rate, and where labels alone cannot do it: there are too few claims.
        """
        left = (half_width / Z_95) ** 2 - self.traffic_variance
        if self.rate.value is None or left <= 0:
            return None
        wanted = max(math.ceil(self.labels * self.label_variance / left), 1)
        return wanted if wanted <= self.labels + self.left else None


class LimitVerdict(StrEnum):
    """Whether a rate is above a limit."""

    ABOVE = "above"
    NOT_ABOVE = "not_above"
    CANNOT_TELL = "cannot_tell"


@dataclass(frozen=True, slots=True)
class LimitDecision:
    """Where a rate lies; `more_labels` would tell, as far as known, where it cannot be told."""

    verdict: LimitVerdict
    more_labels: int | None = None


@dataclass(frozen=True, slots=True)
class _StratumFit:
    """What the labels of a stratum say; `size` is Kish's effective number of them."""

    share: float
    size: float
    mean: float
    mean_score: float
    variance: float
    score_variance: float
    covariance: float

    def residual_variance(self, tuning: float) -> float:
        """The variance of `wrong - tuning * score`."""
        squared = tuning * tuning * self.score_variance
        return max(self.variance - 2 * tuning * self.covariance + squared, 0.0)


def corrected_rate(population: Population, labels: Sequence[TrustedLabel]) -> CorrectedRate:
    """The stratified, power-tuned prediction-powered estimate of the share of wrong claims.

    In a stratum h, all claims have the mean score F, the labelled ones the weighted means f of
    their scores and y of their labels; the weights are 1 / (sampling rate · probability of the
    draw), as in active inference (Zrnic and Candès 2024, arXiv 2403.03208). The rate is

        Σ_h share_h · (λF_h + y_h - λf_h)

    which is right on average whatever the judge does (Angelopoulos et al. 2023, Science 382;
    stratified: Fisch et al. 2024, arXiv 2406.04291). λ in [0, 1] has the least variance (PPI++:
    Angelopoulos, Duchi and Zrnic 2023, arXiv 2311.01453, section 6).

    The interval does not lean on the normal distribution, which is wrong with few labels. Each
    stratum has the beta distribution of an effective number of labels, widened by Student's t; the
    sum of strata and the variance between answers are matched by one beta distribution.
    """
    missing = _missing_labels(labels)
    left = max(population.claims - len(labels), 0)
    if missing or population.weight <= 0:
        return CorrectedRate(
            Rate(None, None, None),
            len(labels),
            max(missing, 1),
            left=left,
            is_too_small=population.claims > 0 and (missing > left or _is_few(population)),
        )
    population, labels = _merged(population, labels)
    fits = _fits(population, labels)
    tuning = _tuning(population, fits)
    means = {
        name: _clipped(tuning * population.scores[name] + fit.mean - tuning * fit.mean_score)
        for name, fit in fits.items()
    }
    levels = {name: fit.mean - tuning * fit.mean_score for name, fit in fits.items()}
    traffic = population.variance(levels, tuning)
    each = _labels_each(fits, tuning) * _answer_effect(labels, fits, tuning)
    degrees = max(len(labels) - len(fits) - (tuning > 0), 1)
    widening = each * (t_95(degrees) / Z_95) ** 2
    value = sum(fit.share * means[name] for name, fit in fits.items())
    centre, variance = 0.0, 0.0
    for name, fit in fits.items():
        size = fit.size / widening
        wrong, right = means[name] * size + NEUTRAL, (1 - means[name]) * size + NEUTRAL
        centre += fit.share * wrong / (wrong + right)
        variance += fit.share**2 * wrong * right / (wrong + right) ** 2 / (wrong + right + 1)
    low, high = _beta_interval(centre, variance + traffic)
    rate = Rate(value, min(low, value), max(high, value))
    return CorrectedRate(rate, len(labels), 0, tuning, variance, traffic, left)


def decide_limit(found: CorrectedRate, limit: float) -> LimitDecision:
    """Whether the rate is above the limit, with the confidence of the interval.

    Each of the two answers is wrong at most 2.5% of the time, as one end of a 95% interval is.
    """
    rate = found.rate
    if rate.value is None or rate.low is None or rate.high is None:
        more = None if found.is_too_small else found.more_labels
        return LimitDecision(LimitVerdict.CANNOT_TELL, more)
    if rate.low > limit:
        return LimitDecision(LimitVerdict.ABOVE)
    if rate.high <= limit:
        return LimitDecision(LimitVerdict.NOT_ABOVE)
    wanted = found.labels_for(abs(rate.value - limit)) if rate.value != limit else None
    more = None if wanted is None or not found.left else max(wanted - found.labels, 1)
    return LimitDecision(LimitVerdict.CANNOT_TELL, more)


def _missing_labels(labels: Sequence[TrustedLabel]) -> int:
    answers = len({one.answer for one in labels})
    return max(MIN_LABELS - len(labels), MIN_ANSWERS - answers, 0)


def _is_few(population: Population) -> bool:
    return population.answers < MIN_ANSWERS or population.claims < MIN_LABELS


def _merged(
    population: Population, labels: Sequence[TrustedLabel]
) -> tuple[Population, Sequence[TrustedLabel]]:
    """The same with every stratum large enough; labels of unknown strata go to the nearest."""
    counts = {name: len(own) for name, own in by_stratum(labels).items()}
    into = {name: name for name in population.strata}
    scores = population.scores
    for name in counts.keys() - into.keys():
        # The judge was asked again since the draw: no claim has this verdict any more.
        own = [one.score for one in labels if one.stratum == name]
        scores[name] = sum(own) / len(own)
        into[name] = _nearest(name, population.strata, scores)
    while True:
        sizes = dict.fromkeys(into.values(), 0)
        for name, count in counts.items():
            sizes[into[name]] += count
        small = min(sizes, key=lambda name: (sizes[name], name))
        if len(sizes) == 1 or sizes[small] >= MIN_STRATUM_LABELS:
            break
        target = _nearest(small, [name for name in sizes if name != small], scores)
        into = {name: target if kept == small else kept for name, kept in into.items()}
    moved = [
        one if into[one.stratum] == one.stratum else replace(one, stratum=into[one.stratum])
        for one in labels
    ]
    return population.merged(into), moved


def _nearest(name: str, others: Sequence[str], scores: dict[str, float]) -> str:
    return min(others, key=lambda other: (abs(scores[other] - scores[name]), other))


def _fits(population: Population, labels: Sequence[TrustedLabel]) -> dict[str, _StratumFit]:
    own = by_stratum(labels)
    return {name: _fit(share, own[name]) for name, share in population.shares.items()}


def _fit(share: float, labels: Sequence[TrustedLabel]) -> _StratumFit:
    largest = max(one.expansion for one in labels)
    weights = [one.expansion / largest for one in labels]
    total = sum(weights)
    size = total * total / sum(weight * weight for weight in weights)
    pairs = list(zip(weights, labels, strict=True))
    mean = sum(weight * one.wrong for weight, one in pairs) / total
    score = sum(weight * one.score for weight, one in pairs) / total
    # Bessel's correction, for Kish's effective number of labels.
    scale = (size / (size - 1) if size > 1 else 1.0) / total
    return _StratumFit(
        share=share,
        size=size,
        mean=mean,
        mean_score=score,
        variance=scale * sum(weight * (one.wrong - mean) ** 2 for weight, one in pairs),
        score_variance=scale * sum(weight * (one.score - score) ** 2 for weight, one in pairs),
        covariance=scale
        * sum(weight * (one.wrong - mean) * (one.score - score) for weight, one in pairs),
    )


def _tuning(population: Population, fits: dict[str, _StratumFit]) -> float:
    """The λ in [0, 1] with the least variance: Σ s²·cov/n over Σ s²·var·(1/n + 1/N)."""
    gain = spread = 0.0
    for fit in fits.values():
        claims = max(population.claims * fit.share, 1.0)
        gain += fit.share**2 * fit.covariance / fit.size
        spread += fit.share**2 * fit.score_variance * (1 / fit.size + 1 / claims)
    return _clipped(gain / spread) if spread > 0 else 0.0


def _labels_each(fits: dict[str, _StratumFit], tuning: float) -> float:
    """The variance that the scores leave, as a share of that of the labels alone.

    λ was chosen to make it small, so a few labels' worth of the whole variance is mixed in.
    """
    whole = sum(fit.share**2 / fit.size * fit.variance for fit in fits.values())
    left = sum(fit.share**2 / fit.size * fit.residual_variance(tuning) for fit in fits.values())
    doubt = DOUBT_LABELS / sum(fit.size for fit in fits.values())
    return min((left + doubt * whole) / (whole + doubt * whole), 1.0) if whole > 0 else 1.0


def _answer_effect(
    labels: Sequence[TrustedLabel], fits: dict[str, _StratumFit], tuning: float
) -> float:
    """The factor by which labels of the same answer widen the variance; at least 1 (Kish)."""
    totals = {name: sum(one.expansion for one in own) for name, own in by_stratum(labels).items()}
    answers: dict[str, float] = {}
    apart = 0.0
    for one in labels:
        fit = fits[one.stratum]
        residual = one.wrong - fit.mean - tuning * (one.score - fit.mean_score)
        part = fit.share * one.expansion / totals[one.stratum] * residual
        answers[one.answer] = answers.get(one.answer, 0.0) + part
        apart += part * part
    together = sum(part * part for part in answers.values())
    return max(together / apart, 1.0) if apart > 0 else 1.0


def _beta_interval(mean: float, variance: float) -> tuple[float, float]:
    """The 95% interval of the beta distribution with these moments."""
    size = mean * (1 - mean) / variance - 1
    if size <= 0:
        return 0.0, 1.0
    a, b = mean * size, (1 - mean) * size
    return beta_quantile(0.025, a, b), beta_quantile(0.975, a, b)


def _clipped(value: float) -> float:
    return min(max(value, 0.0), 1.0)
