"""What is to be verified: rates by route, rules that always choose, and bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from otel_rt4chart.errors import SettingsError
from otel_rt4chart.sampling.draw import checked_rate


class Risk(StrEnum):
    """A rule that chooses an answer whatever the rate; where several apply the first one is named.

    `error`: a span of the trace has the status Error. `feedback`: the user dislikes the answer.
    `low_score`: the best retrieved document scores less than the bound. `confirmation`: the
    question asks to confirm what it says.
    """

    ERROR = "error"
    FEEDBACK = "feedback"
    LOW_SCORE = "low_score"
    CONFIRMATION = "confirmation"


@dataclass(frozen=True, slots=True)
class Policy:
    """Whom to choose; `SettingsError` for a rate or a bound that cannot be meant.

    `route_rates` maps a route, or a beginning of one with `*` behind it, to its rate.
    `per_minute` and `per_day` bound what this process chooses; None is without a bound.
    `low_score` is for scores of which the higher is the better.
    """

    rate: float = 1.0
    route_rates: Mapping[str, float] = field(default_factory=dict)
    salt: str = ""
    risks: frozenset[Risk] = frozenset()
    low_score: float | None = None
    per_minute: int | None = None
    per_day: int | None = None

    def __post_init__(self) -> None:
        """Refuse what is no probability, and bounds under which nothing could be chosen."""
        for rate in (self.rate, *self.route_rates.values()):
            checked_rate(rate)
        for name, most in (("per_minute", self.per_minute), ("per_day", self.per_day)):
            if most is not None and most < 1:
                raise SettingsError(f"{name}: expected 1 or more, or None, got {most!r}")

    def rate_of(self, route: str) -> float:
        """The route's own rate, else that of the longest pattern it fits, else the default."""
        if route in self.route_rates:
            return self.route_rates[route]
        patterns = (one for one in self.route_rates if one.endswith("*"))
        fitting = (one for one in patterns if route.startswith(one[:-1]))
        longest = max(fitting, key=len, default=None)
        return self.rate if longest is None else self.route_rates[longest]
