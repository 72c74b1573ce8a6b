"""The document that tells rates: `{"rate": 0.1, "routes": {"support/*": 0.5}, "expires": "…Z"}`.

`raised` tells routes that are to have a rate at least, over whatever else holds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from otel_rt4chart.errors import InputError, SettingsError
from otel_rt4chart.sampling.draw import checked_rate
from otel_rt4chart.sampling.policy import Policy

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
