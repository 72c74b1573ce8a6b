"""The sampling policy: rates by route, risk rules and limits, from a variable or a document."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from otel_rt4chart.core.errors import InputError, SettingsError

_BITS = 53  # what a float holds exactly, so that the comparison rounds nothing


def is_sampled(trace_id: str, rate: float, salt: str = "") -> bool:
    """True for the share `rate` of all trace ids; what is sampled at 0.1 is sampled at 0.5 too.

    Another `salt` draws another sample. Raises `SettingsError` for a rate outside [0, 1].
    """
    return position(trace_id, salt) < checked_rate(rate)


def position(trace_id: str, salt: str = "") -> float:
    """Where the trace lies in [0, 1): uniform over trace ids, fixed for each of them."""
    digest = hashlib.sha256((salt + trace_id).encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> (64 - _BITS)) / (1 << _BITS)


def checked_rate(rate: object) -> float:
    """The rate itself; `SettingsError` for what is no probability (NaN too)."""
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate <= 1:
        raise SettingsError(f"sample_rate: expected a number from 0 to 1, got {rate!r}")
    return float(rate)


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


KEYS = frozenset({"rate", "routes", "raised", "expires"})


@dataclass(frozen=True, slots=True)
class Told:
    """What a document says; None where it says nothing. `expires` is in seconds of the epoch."""

    rate: float | None = None
    routes: Mapping[str, float] | None = None
    expires: float = math.inf
    raised: Mapping[str, float] = field(default_factory=dict)

    def over(self, policy: Policy) -> Policy:
        """The policy with what the document says; what it leaves out stays."""
        told = replace(
            policy,
            rate=policy.rate if self.rate is None else self.rate,
            route_rates=policy.route_rates if self.routes is None else self.routes,
        )
        raised = {route: max(rate, told.rate_of(route)) for route, rate in self.raised.items()}
        return replace(told, route_rates={**told.route_rates, **raised}) if raised else told


def told_from_document(text: bytes) -> Told:
    """Read a document; InputError, which quotes nothing of it, for what is none."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError("expected JSON, got something else") from error
    # A misspelt key would do nothing, in silence.
    if not isinstance(whole, dict) or not whole.keys() <= KEYS:
        raise InputError("expected an object of rate, routes, raised and expires, got others")
    rate, routes, raised = whole.get("rate"), whole.get("routes"), whole.get("raised")
    if not (isinstance(routes, dict | None) and isinstance(raised, dict | None)):
        raise InputError("routes, raised: expected objects of rates by route, got something else")
    try:
        return Told(
            rate=None if rate is None else checked_rate(rate),
            routes=None if routes is None else {key: checked_rate(routes[key]) for key in routes},
            expires=_seconds(whole.get("expires")),
            raised={key: checked_rate(rate) for key, rate in (raised or {}).items()},
        )
    except SettingsError as error:
        raise InputError("rate and routes: expected numbers from 0 to 1, got others") from error


def _seconds(expires: object) -> float:
    """An ISO 8601 time with its zone, as seconds of the epoch; infinite where there is none."""
    if expires is None:
        return math.inf
    try:
        time = datetime.fromisoformat(str(expires))
        if time.tzinfo is not None:
            return time.timestamp()
    except (ValueError, OverflowError):
        pass
    raise InputError('expires: expected a time with its zone, "2026-01-31T12:00:00Z", got another')
