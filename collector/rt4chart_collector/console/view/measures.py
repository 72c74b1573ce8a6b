"""The measure of a page, `?measure=`, and how a rate of each measure is shown."""

from __future__ import annotations

from markupsafe import Markup
from starlette.requests import Request

from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.console.view.filters import count, interval, percent, plural
from rt4chart_collector.console.view.params import choice_param
from rt4chart_collector.store.rates.claim_rates import RateSlice

TITLES = {
    Measure.UNFAITHFUL: "Unfaithful",
    Measure.MISLEADING: "Misleading",
    Measure.EITHER: "Unfaithful or misleading",
}
HINTS = {
    Measure.UNFAITHFUL: "share of decided claims that are contradicted or baseless, with its 95% "
    "interval",
    Measure.MISLEADING: "share of decided claims that are entailed and mislead, of the answers "
    "checked for it, with its 95% interval",
    Measure.EITHER: "share of decided claims that are unfaithful or misleading, of the answers "
    "checked for both, with its 95% interval",
}


def measure_param(request: Request) -> Measure:
    """The measure that the page sorts and draws by."""
    return Measure(choice_param(request, "measure", tuple(Measure), Measure.UNFAITHFUL))


def checked_text(found: RateSlice, measure: Measure) -> str:
    """How many of the verified answers the rate is of; "" if it is of all of them."""
    checked = found.sums_of(measure).answers
    if checked >= found.answers:
        return ""
    return f"{count(checked)} of {plural(found.answers, 'answer')} checked"


def rate_cell(found: RateSlice, measure: Measure) -> Markup:
    """A rate with its interval, or why there is none."""
    rate = found.rate_of(measure)
    if rate.value is not None:
        text = checked_text(found, measure)
        return Markup('<strong>{}</strong> <span class="interval">{}</span>{}').format(
            percent(rate.value),
            interval(rate),
            Markup(' <span class="n">{}</span>').format(text) if text else "",
        )
    is_unchecked = found.answers > 0 and found.sums_of(measure).answers == 0
    return Markup('<span class="quiet">{}</span>').format(
        "not checked yet" if is_unchecked else "no decided claims"
    )
