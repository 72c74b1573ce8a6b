"""The monitor's settings, beside those of the service."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import Field, dataclass, fields

from rt4chart_collector.core.parsing import OFF, number, one_of, setting, whole, yes_or_no
from rt4chart_collector.core.settings import values_of
from rt4chart_collector.detect.drift.policy import RULES, Policy, Rule
from rt4chart_collector.detect.drift.sampling import SamplingPolicy


def seconds_or_off(text: str) -> float:
    """Seconds from 1 to 3600; 0 for off."""
    return 0.0 if text in (OFF, "0") else number(1, 3600)(text)


@dataclass(frozen=True, slots=True)
class MonitorSettings:
    """As `Settings`: a field's variable is its name in capitals after RT4CHART_."""

    monitor: float = setting(
        60.0,
        "seconds between two looks of the monitor at the routes; or off",
        "seconds from 1 to 3600, or off",
        seconds_or_off,
    )
    monitor_routes: int = setting(
        200, "routes that are watched, those with the most claims", "1 to 10000", whole(1, 10_000)
    )
    drift_rule: str = setting("evidence", "how a rise is found", ", ".join(RULES), one_of(*RULES))
    drift_false_alarms: float = setting(
        1.0,
        "false alarms a month that are borne, of all routes together",
        "a number from 0.01 to 100",
        number(0.01, 100),
    )
    drift_threshold: float = setting(
        0.15,
        "the share of claims that alarms, with the rule threshold",
        "a share from 0.001 to 0.999",
        number(0.001, 0.999),
    )
    drift_points: float = setting(
        0.03,
        "the rise that alarms, a share of claims, with the rule window",
        "a share from 0.001 to 0.999",
        number(0.001, 0.999),
    )
    drift_minutes: int = setting(
        60, "minutes that these two rules look back", "minutes from 5 to 1440", whole(5, 1440)
    )
    undecided_share: float = setting(
        0.3,
        "share of an hour's claims without a decision that alarms",
        "a share from 0.01 to 1",
        number(0.01, 1),
    )
    backlog_answers: int = setting(
        200,
        "answers that wait for another attempt, from which on it alarms",
        "1 to 10000000",
        whole(1, 10**7),
    )
    no_data_answers: int = setting(
        20,
        "answers in the same hour a week ago, without any of which now it alarms",
        "1 to 1000000",
        whole(1, 10**6),
    )
    adaptive: bool = setting(
        True,
        "raise a route's sampling while evidence of a rise grows, for who reads the rates",
        "true or false",
        yes_or_no,
    )
    adaptive_cap: float = setting(
        1000.0,
        "verified answers an hour that a route may be raised to",
        "a number from 1 to 1000000",
        number(1, 10**6),
    )
    adaptive_budget: float = setting(
        50.0,
        "answers an hour beyond the routes' own rates, on average over a week, of all routes",
        "a number from 0 to 1000000",
        number(0, 10**6),
    )

    def policy(self, routes: int) -> Policy:
        """What is asked of the detector, for so many routes."""
        rule: Rule = next(one for one in RULES if one == self.drift_rule)
        return Policy(
            false_alarms_per_month=self.drift_false_alarms,
            routes=max(routes, 1),
            rule=rule,
            threshold=self.drift_threshold,
            points=self.drift_points,
            minutes=self.drift_minutes,
        )

    @property
    def sampling(self) -> SamplingPolicy:
        """How far sampling may be raised."""
        return SamplingPolicy(cap_per_hour=self.adaptive_cap, budget_per_hour=self.adaptive_budget)


def monitor_fields() -> list[Field[object]]:
    """The settings, each with a flag."""
    return list(fields(MonitorSettings))


def load_monitor(
    flags: Mapping[str, str | None] | None = None, environ: Mapping[str, str] = os.environ
) -> MonitorSettings:
    """The settings: a flag wins over its variable; SettingsError for what cannot be used."""
    return MonitorSettings(**values_of(fields(MonitorSettings), flags or {}, environ))
