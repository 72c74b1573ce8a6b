"""How rates that are corrected by labels are shown."""

from __future__ import annotations

from markupsafe import Markup

from otel_rt4chart.verify.core.rates import Rate
from rt4chart_collector.console.view.filters import interval, percent, plural
from rt4chart_collector.labelling.status import labels_text
from rt4chart_collector.store.labels.corrected_rates import RouteRate

HINT = (
    "share of all claims that are contradicted or baseless by the labels of people, who correct "
    "the judge's errors; with its 95% interval"
)
MISLEADING_HINT = (
    "share of all claims that people call misleading, by labels that say so; with its 95% interval"
)
# Below this share of the claims, the page says of how many the corrected rate is.
NEARLY_ALL = 0.995


def corrected_cell(found: RouteRate | None) -> Markup:
    """The corrected rate with its interval and its labels, or how many it lacks."""
    if found is None:
        return Markup('<span class="n">nothing drawn</span>')
    rate = found.corrected.rate
    if rate.value is None:
        is_lacking = not found.corrected.is_too_small
        missing = labels_text(found.corrected.more_labels) if is_lacking else "too few answers"
        return Markup('<span class="n">{}</span>').format(missing)
    return Markup(
        '<strong>{}</strong> <span class="interval">{}</span> <span class="n">{}</span>'
    ).format(percent(rate.value), interval(rate), sample_text(found))


def sample_text(found: RouteRate) -> str:
    """How many labels the rate is from, and of how many claims it is if not of all."""
    sample = plural(found.corrected.labels, "label")
    is_of_all = found.covered >= NEARLY_ALL
    return sample if is_of_all else f"{sample}, drawn from {percent(found.covered)} of the claims"


def quality_cell(found: Rate) -> Markup:
    """The judge's precision or recall with its interval; without such a label it is unknown."""
    if found.value is None:
        return Markup('<span class="quiet">no such label</span>')
    return Markup('<strong>{}</strong> <span class="interval">{}</span>').format(
        percent(found.value), interval(found)
    )
