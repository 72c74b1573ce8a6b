"""The sampling policy: rates by route, risk rules and limits, from settings or a document."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from otel_rt4chart.core.errors import InputError, SettingsError

_FLOAT_BITS = 53  # the mantissa of a float, so that the comparison with a rate is exact


def is_sampled(trace_id: str, rate: float, salt: str = "") -> bool:
    """True for the share `rate` of all trace ids; a trace sampled at 0.1 is also sampled at 0.5.

    A different `salt` gives a different sample. Raises `SettingsError` for a rate outside [0, 1].
    """
    return position(trace_id, salt) < checked_rate(rate)


def position(trace_id: str, salt: str = "") -> float:
    """The position of a trace in [0, 1): uniform over trace ids, constant for each of them."""
    # Hashed, because trace ids need not be uniform (those of AWS X-Ray begin with the time), and a
    # head sampler may have selected traces by the very bits of their ids.
    digest = hashlib.sha256((salt + trace_id).encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> (64 - _FLOAT_BITS)) / (1 << _FLOAT_BITS)


def checked_rate(rate: object) -> float:
    """Return the rate; `SettingsError` if it is no probability, for example NaN."""
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate <= 1:
        raise SettingsError(f"sample_rate: expected a number from 0 to 1, got {rate!r}")
    return float(rate)


class Risk(StrEnum):
    """A rule that samples an answer regardless of the rate; the first that applies is the reason.

    `error`: a span of the trace has the status Error. `feedback`: the user disliked the answer.
    `low_score`: the best retrieved document scores below the bound. `confirmation`: the question
    asks to confirm a statement.
    """

    ERROR = "error"
    FEEDBACK = "feedback"
    LOW_SCORE = "low_score"
    CONFIRMATION = "confirmation"


@dataclass(frozen=True, slots=True)
class Policy:
    """Which answers to sample; `SettingsError` for an invalid rate or limit.

    `route_rates` maps a route, or a prefix followed by `*`, to its rate. `per_minute` and `per_day`
    limit the samples of this process; None means no limit. `low_score` assumes that a higher score
    is better.
    """

    rate: float = 1.0
    route_rates: Mapping[str, float] = field(default_factory=dict)
    salt: str = ""
    risks: frozenset[Risk] = frozenset()
    low_score: float | None = None
    per_minute: int | None = None
    per_day: int | None = None

    def __post_init__(self) -> None:
        """Reject invalid rates, and limits that would sample nothing."""
        for rate in (self.rate, *self.route_rates.values()):
            checked_rate(rate)
        for name, most in (("per_minute", self.per_minute), ("per_day", self.per_day)):
            if most is not None and most < 1:
                raise SettingsError(f"{name}: expected 1 or more, or None, got {most!r}")

    def rate_of(self, route: str) -> float:
        """The rate of the route, else of the longest matching pattern, else the default."""
        if not self.route_rates:
            return self.rate
        if route in self.route_rates:
            return self.route_rates[route]
        patterns = (rate for rate in self.route_rates if rate.endswith("*"))
        matching = (pattern for pattern in patterns if route.startswith(pattern[:-1]))
        longest = max(matching, key=len, default=None)
        return self.rate if longest is None else self.route_rates[longest]


DOCUMENT_KEYS = frozenset({"rate", "routes", "raised", "expires"})


@dataclass(frozen=True, slots=True)
class RatesDocument:
    """A document with sampling rates; None for omitted fields. `expires` is in epoch seconds."""

    rate: float | None = None
    routes: Mapping[str, float] | None = None
    expires: float = math.inf
    raised: Mapping[str, float] = field(default_factory=dict)

    def apply_to(self, policy: Policy) -> Policy:
        """The policy with the rates of the document; omitted fields stay."""
        updated = replace(
            policy,
            rate=policy.rate if self.rate is None else self.rate,
            route_rates=policy.route_rates if self.routes is None else self.routes,
        )
        raised = {route: max(rate, updated.rate_of(route)) for route, rate in self.raised.items()}
        return (
            replace(updated, route_rates={**updated.route_rates, **raised}) if raised else updated
        )


def parse_rates_document(text: bytes) -> RatesDocument:
    """Parse a document; InputError if malformed. The message quotes nothing of the document."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError("expected JSON, got something else") from error
    # A misspelt key would be ignored silently.
    if not isinstance(document, dict) or not document.keys() <= DOCUMENT_KEYS:
        raise InputError("expected an object with rate, routes, raised and expires, got other keys")
    rate, routes, raised = document.get("rate"), document.get("routes"), document.get("raised")
    if not (isinstance(routes, dict | None) and isinstance(raised, dict | None)):
        raise InputError("routes, raised: expected objects of rates by route, got something else")
    try:
        return RatesDocument(
            rate=None if rate is None else checked_rate(rate),
            routes=None if routes is None else {key: checked_rate(routes[key]) for key in routes},
            expires=_epoch_seconds(document.get("expires")),
            raised={key: checked_rate(rate) for key, rate in (raised or {}).items()},
        )
    except SettingsError as error:
        raise InputError("rate and routes: expected numbers from 0 to 1, got others") from error


def _epoch_seconds(expires: object) -> float:
    """An ISO 8601 time with a zone, in epoch seconds; infinite if there is none."""
    if expires is None:
        return math.inf
    try:
        time = datetime.fromisoformat(str(expires))
        if time.tzinfo is not None:
            return time.timestamp()
    except (ValueError, OverflowError):
        pass
    raise InputError(
        'expires: expected a time with a zone, such as "2026-01-31T12:00:00Z", got another value'
    )
