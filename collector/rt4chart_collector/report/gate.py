"""Whether the corrected rates of the routes are above a limit: the gate on production traffic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from otel_rt4chart.core.text import printable
from otel_rt4chart.verify.rates.corrected import LimitVerdict
from rt4chart_collector.labelling.status import limit_text
from rt4chart_collector.store.labels.corrected_rates import RouteRate

EXIT = {LimitVerdict.NOT_ABOVE: 0, LimitVerdict.ABOVE: 1, LimitVerdict.CANNOT_TELL: 3}
# The order of the lines, and their limit: names of routes may be made up.
ORDER = (LimitVerdict.ABOVE, LimitVerdict.CANNOT_TELL, LimitVerdict.NOT_ABOVE)
MAX_LINES = 50
NO_DRAW = "cannot tell: no claims of this period were drawn for labels: rt4chart label"


@dataclass(frozen=True, slots=True)
class RateGate:
    """The corrected rates of all routes, and the limit for each of them."""

    limit: float
    routes: Sequence[RouteRate]

    @property
    def verdict(self) -> LimitVerdict:
        """Above where one route is; not above where no route is, and that is known of all."""
        found = {route.decide(self.limit).verdict for route in self.routes}
        if LimitVerdict.ABOVE in found:
            return LimitVerdict.ABOVE
        if found == {LimitVerdict.NOT_ABOVE}:
            return LimitVerdict.NOT_ABOVE
        return LimitVerdict.CANNOT_TELL

    @property
    def exit_status(self) -> int:
        """0 open, 1 closed, 3 cannot tell."""
        return EXIT[self.verdict]

    def lines(self) -> Iterator[str]:
        """The decision on each route, closed ones first."""
        if not self.routes:
            yield NO_DRAW
        ordered = sorted(
            self.routes, key=lambda route: ORDER.index(route.decide(self.limit).verdict)
        )
        for route in ordered[:MAX_LINES]:
            yield f"{printable(route.route) or '-'}: {limit_text(route, self.limit)}"
        if len(ordered) > MAX_LINES:
            yield f"and {len(ordered) - MAX_LINES} more routes"

    def figures(self) -> dict[str, object]:
        """The decisions as JSON values."""
        return {
            "limit": self.limit,
            "verdict": self.verdict,
            "routes": [
                {
                    "service": route.service,
                    "route": route.route,
                    "verdict": decision.verdict,
                    "more_labels": decision.more_labels,
                }
                for route in self.routes
                for decision in [route.decide(self.limit)]
            ],
        }
