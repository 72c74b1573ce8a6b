"""The state of labelling as text: rates, judge's quality and agreement of raters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from otel_rt4chart.core.text import printable
from otel_rt4chart.verify.core.rates import Rate
from otel_rt4chart.verify.rates.agreement import Agreement
from otel_rt4chart.verify.rates.corrected import LimitVerdict
from otel_rt4chart.verify.rates.judge_quality import JudgeQuality
from rt4chart_collector.core.times import utc_time
from rt4chart_collector.store.labels.corrected_rates import GOAL, RouteRate
from rt4chart_collector.store.labels.draws import LabelDraw
from rt4chart_collector.store.labels.rater_agreement import RaterAgreement

# Above this share of claims that nobody can decide, the rate is of the others, and it is said.
MANY_UNDECIDED = 0.1
GOAL_POINTS = f"± {GOAL * 100:.0f} points"


def status_lines(
    draw: LabelDraw, rates: Sequence[RouteRate], agreement: RaterAgreement
) -> Iterator[str]:
    """The draw, its routes with rate and quality of the judge, and the raters."""
    first = draw.routes[0]
    yield (
        f"draw {draw.id} of {utc_time(first.at_ns)} by {printable(first.actor)}: claims that "
        f"{printable(draw.verifier)} judged, of answers from {utc_time(first.since_ns)} to "
        f"{utc_time(first.until_ns)}"
    )
    for rate in rates:
        yield ""
        yield f"{printable(rate.route) or '-'}  {printable(rate.service)}"
        yield from (f"  {line}" for line in route_lines(rate))
    yield ""
    yield from agreement_lines(agreement)


def carried_lines(verifier: str, rates: Sequence[RouteRate]) -> Iterator[str]:
    """What the labels of a draw say of another verifier, by the claims that both have."""
    yield ""
    if not any(rate.covered for rate in rates):
        yield (
            f"{printable(verifier)} has judged none of these answers: rt4chart backfill with the "
            "--since of the draw lets it judge them, and these labels then count for it"
        )
        return
    yield f"by the same labels, {printable(verifier)}:"
    for rate in rates:
        yield ""
        yield f"{printable(rate.route) or '-'}  {printable(rate.service)}"
        yield from (f"  {line}" for line in route_lines(rate))


def route_lines(rate: RouteRate) -> Iterator[str]:
    """What the labels say of a route."""
    yield f"judge's rate {percent(rate.raw)}, corrected {corrected_text(rate)}"
    if (misleading := rate.of_misleading) is not None:
        yield f"misleading claims, corrected {corrected_text(misleading)}"
    counts = rate.counts
    yield f"{counts.sample} labels count, {rate.pending} drawn claims have none yet"
    if counts.carried:
        yield f"{counts.carried} of them were given on the same claims of another verifier"
    if counts.gone:
        yield (
            f"{counts.gone} labels do not count: this verifier splits those answers otherwise, and "
            "has no claim with that text"
        )
    if counts.not_judged:
        yield (
            f"{counts.not_judged} labels do not count: this verifier has not judged those answers; "
            "rt4chart backfill does it"
        )
    if counts.waiting:
        yield f"{counts.waiting} labels wait for an open claim that comes before them in the queue"
    if counts.not_drawn:
        yield (
            f"{counts.not_drawn} labels are on claims that were not drawn by chance: they count "
            "for the agreement of raters and for the judge on labelled claims, not in the rate"
        )
    undecided = counts.cannot_tell + counts.skipped
    if undecided:
        share = undecided / (undecided + counts.sample)
        yield f"{counts.cannot_tell} cannot be told, {counts.skipped} were skipped" + (
            f" ({share:.0%}): the rate is of claims that can be told"
            if share > MANY_UNDECIDED
            else ""
        )
    if rate.quality is not None:
        yield f"the judge on this route: {quality_text(rate.quality)}"
    if counts.not_drawn and rate.quality_on_labels is not None:
        found = quality_text(rate.quality_on_labels)
        yield f"the judge on the {rate.quality_on_labels.labels} labelled claims: {found}"


def corrected_text(rate: RouteRate) -> str:
    """The corrected rate with its interval, and how many labels it lacks."""
    found = rate.corrected
    if found.rate.value is None:
        return f"unknown: {lacking_text(rate)}"
    return f"{rate_text(found.rate)}; {goal_text(rate)}"


def missing_text(rate: RouteRate) -> str:
    """How many labels a route lacks: for a rate, else for the goal."""
    return lacking_text(rate) if rate.corrected.more_labels else goal_text(rate)


def lacking_text(rate: RouteRate) -> str:
    """Why there is no corrected rate yet."""
    found = rate.corrected
    if found.is_too_small:
        return "too few answers for a corrected rate"
    return f"{labels_text(found.more_labels)} for a corrected rate"


def goal_text(rate: RouteRate) -> str:
    """How many more labels the goal takes, or why labels alone do not reach it."""
    more, found = rate.labels_to_goal, rate.corrected
    if more is not None:
        return f"{labels_text(more)} for {GOAL_POINTS}" if more else f"within {GOAL_POINTS}"
    if not found.left:
        return f"all claims have labels; {GOAL_POINTS} take more answers"
    least = (found.least_half_width or 0.0) * 100
    claims = f"{found.left:,} other claim{'s' * (found.left != 1)}"
    return f"labels on the {claims} give ± {least:.1f} points; {GOAL_POINTS} take more answers"


def limit_text(rate: RouteRate, limit: float) -> str:
    """Whether the corrected rate is above the limit, and if unknown, what would tell."""
    found, own = rate.decide(limit), rate.corrected.rate
    known = f"{fine_rate_text(own)} is {{}} {limit * 100:.4g}% with 95% confidence"
    if found.verdict is LimitVerdict.ABOVE:
        return f"closed: {known.format('above')}"
    if found.verdict is LimitVerdict.NOT_ABOVE:
        return f"open: {known.format('not above')}"
    if not rate.is_covered:
        covered = f"labels were drawn from {rate.covered:.0%} of the claims"
        way = "label more of the drawn ones" if rate.pending else "rt4chart label --draw"
        return f"cannot tell: {covered}: {way}"
    rates = "" if own.value is None else f"; {fine_rate_text(own)}"
    if found.more_labels is None:
        return f"cannot tell: more answers are needed, labels do not suffice{rates}"
    return f"cannot tell: {labels_text(found.more_labels)}{rates}"


def fine_rate_text(rate: Rate) -> str:
    """A rate with its 95% interval, to the tenth of a percent, as limits are compared."""
    value, low, high = ((share or 0.0) * 100 for share in (rate.value, rate.low, rate.high))
    return f"{value:.1f}% [{low:.1f}–{high:.1f}]"


def labels_text(more: int) -> str:
    """A number of labels that are missing."""
    return f"{more:,} more label{'s' * (more != 1)}"


def rate_text(rate: Rate) -> str:
    """A rate with its 95% interval."""
    if rate.value is None:
        return "–"
    if rate.low is None or rate.high is None:
        return percent(rate.value)
    return f"{percent(rate.value)} [{rate.low * 100:.0f}–{rate.high * 100:.0f}]"


def percent(share: float | None) -> str:
    """A share in percent, a dash for None."""
    return "–" if share is None else f"{share:.0%}"


def quality_text(quality: JudgeQuality) -> str:
    """Precision and recall, each with its interval."""
    return f"precision {rate_text(quality.precision)}, recall {rate_text(quality.recall)}"


def agreement_lines(found: RaterAgreement) -> Iterator[str]:
    """Krippendorff's alpha, the kappa of each rater, and who may label at random."""
    if not found.labels:
        yield "no labels yet"
        return
    yield "labels by " + ", ".join(f"{printable(name)} ({n})" for name, n in found.labels.items())
    if not found.alpha.claims:
        yield "no claim has labels of two raters: their agreement is unknown"
        return
    yield (
        f"on {found.alpha.claims} claims with two or more labels, Krippendorff's alpha "
        f"{agreement_text(found.alpha)}"
    )
    for name, kappa in found.by_rater.items():
        if kappa.claims:
            yield f"  {printable(name)}: Cohen's kappa with the others {agreement_text(kappa)}"
    for name in found.poor_raters:
        yield (
            f"  {printable(name)} agrees with the others hardly more than chance: the labels count "
            f"still; compare with rt4chart label --status --without {printable(name)}"
        )


def agreement_text(found: Agreement) -> str:
    """An agreement with its interval."""
    if found.value is None:
        return "is undefined, because all labels are the same"
    if found.low is None or found.high is None:
        return f"{found.value:.2f}"
    return f"{found.value:.2f} [{found.low:.2f}–{found.high:.2f}]"
