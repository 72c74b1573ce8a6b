"""Custom criteria on pages: the outcome on an answer, and the share of answers that fail."""

from __future__ import annotations

from markupsafe import Markup

from otel_rt4chart.verify.criteria.model import CriterionOutcome
from rt4chart_collector.console.view.filters import count, interval, percent
from rt4chart_collector.store.rates.criterion_rates import CriterionRate

HINT = "share of the decided answers that fail, with its 95% interval"
# The class of the colour, and a sign for whoever sees none.
_SHOWN = {
    CriterionOutcome.PASS: ("entailed", "✓"),
    CriterionOutcome.FAIL: ("contradicted", "✗"),
    CriterionOutcome.NOT_APPLICABLE: ("none", "·"),
    CriterionOutcome.UNDECIDED: ("undecided", "?"),
}


def outcome_label(outcome: CriterionOutcome) -> Markup:
    """The outcome with its colour and sign."""
    name, sign = _SHOWN[outcome]
    words = outcome.value.replace("_", " ")
    return Markup(
        '<span class="label label-{}"><span aria-hidden="true">{}</span> {}</span>'
    ).format(name, sign, words)


def failing_cell(found: CriterionRate) -> Markup:
    """The share of answers that fail, with its interval; words where no answer was decided."""
    rate = found.rate
    if rate.value is None:
        return Markup('<span class="quiet">no decided answers</span>')
    return Markup('<strong>{}</strong> <span class="interval">{}</span>').format(
        percent(rate.value), interval(rate)
    )


def decided_cell(found: CriterionRate) -> Markup:
    """How many answers fail of how many that were decided, and what is left out."""
    told = Markup("{} of {}").format(count(found.of.failed), count(found.of.decided))
    if not found.earlier:
        return told
    hint = "judged by an earlier definition of this criterion, or by another model: left out"
    return Markup('{} <span class="quiet" title="{}">+{} earlier</span>').format(
        told, hint, count(found.earlier)
    )
