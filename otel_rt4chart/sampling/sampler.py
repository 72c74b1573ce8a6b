"""The sampler: chooses answers that are forced, match a risk rule, or fall under a rate."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from otel_rt4chart.core.forks import after_fork
from otel_rt4chart.sampling.policy import Policy, Risk, position
from otel_rt4chart.sampling.signals import Signals
from otel_rt4chart.verify.findings.premise import asks_to_confirm

DAY_S = 86_400
# While at least half of the bucket is left, every answer passes. Below that the chance falls by the
# same factor with each token, down to MIN_CHANCE. This is so steep that tokens remain in bursts of
# up to a few hundred times the limit: an answer that finds none is missing from the estimate.
FREE_SHARE, MIN_CHANCE = 0.5, 0.001


class Throttle:
    """A token bucket of size `limit` that refills by `limit` a minute; not thread-safe.

    It stores what was spent, so that the limit may change at any time.
    """

    def __init__(self) -> None:
        """A full bucket."""
        self._spent = 0.0
        self._at = 0.0

    def chance(self, limit: int, now: float) -> float:
        """The probability with which the next answer passes: 1 if full, 0 if empty.

        It depends on what passed before and not on the answer, so the weight 1/chance is unbiased.
        """
        # A clock that is set back refills nothing.
        self._spent = max(0.0, self._spent - max(0.0, now - self._at) * limit / 60)
        self._at = now
        left = limit - self._spent
        return min(1.0, MIN_CHANCE ** (1 - left / (limit * FREE_SHARE))) if left > 0 else 0.0

    def spend(self) -> None:
        """Spend one token."""
        self._spent += 1


class DayBudget:
    """Counts samples in a UTC day; not thread-safe."""

    def __init__(self) -> None:
        """An unused budget."""
        self._day = 0
        self._spent = 0

    def is_left(self, limit: int, now: float) -> bool:
        """Whether one more sample is allowed today; a clock that is set back starts no new day."""
        day = int(now // DAY_S)
        if day > self._day:
            self._day, self._spent = day, 0
        return self._spent < limit

    def spend(self) -> None:
        """Count one sample."""
        self._spent += 1


@dataclass(frozen=True, slots=True)
class Choice:
    """Whether an answer is sampled, and the probability with which answers like it are.

    `decision` is `sampled`, `not_sampled`, `throttled` or `over_budget`. `reason` is `rate`,
    `forced`, `risk:` and the rule, `throttle` or `budget`. A sampled answer has the weight
    1/`rate`. One that is not sampled has none; its `rate` is the one before throttle and budget.
    """

    sampled: bool
    rate: float
    decision: str
    reason: str


class Sampler:
    """Samples answers by a policy, which may be replaced at any time. Thread-safe.

    Weights. The rate of a sampled answer is its probability of being sampled, so that sums weighted
    by 1/rate are unbiased (Horvitz and Thompson, 1952). A risk rule is evaluated for every
    candidate and always samples: the rate is 1, and each answer it finds represents only itself.

    Throttle. While more than half of the bucket is left, every answer passes. Below that, the
    chance falls, and the rate of an answer that passes is multiplied by the chance. The chance
    depends on what passed before, not on the answer, so the weights stay correct in a burst. One
    bias remains: an answer that finds the bucket empty has no chance, and no other represents it.
    This is rare unless the limit is a few answers a minute or the burst is some hundred times
    the limit. Weighted totals are then too low, and a weighted share is wrong as far as those
    answers differ from the others of the burst. The limit is `per_minute` at once and `per_minute`
    a minute in the long run, so at most twice that in any minute, for this process. Forced answers
    pass and spend nothing, because somebody waits for each of them.

    Budget. When it is spent, nothing more is sampled on that day (UTC), including forced answers:
    the budget limits costs, and a loop may force. The estimate of that day then covers only the
    time before; a lower rate that lasts all day is better.
    """

    def __init__(self, policy: Policy, *, clock: Callable[[], float] = time.time) -> None:
        """`clock` returns seconds since the epoch."""
        self.policy = policy
        self._clock = clock
        self._throttle = Throttle()
        self._budget = DayBudget()
        self._lock = Lock()
        after_fork(self._renew)

    def _renew(self) -> None:
        self._lock = Lock()

    def choose(self, trace_id: str, signals: Signals) -> Choice:
        """Decide on an answer; a call that samples counts against the limits."""
        policy = self.policy
        rate, reason = _sampling_rate(policy, signals)
        drawn = position(trace_id, policy.salt)
        if drawn >= rate:
            return Choice(False, rate, "not_sampled", reason)
        with self._lock:
            now = self._clock()
            # The budget comes first: an answer over budget must not spend a token of the throttle.
            if policy.per_day is not None and not self._budget.is_left(policy.per_day, now):
                return Choice(False, rate, "over_budget", "budget")
            chance = 1.0
            if policy.per_minute is not None and reason != "forced":
                chance = self._throttle.chance(policy.per_minute, now)
                # The same draw as above, so that the probability is exactly rate * chance.
                if drawn >= rate * chance:
                    return Choice(False, rate, "throttled", "throttle")
                self._throttle.spend()
            self._budget.spend()
        return Choice(True, rate * chance, "sampled", reason)

    def never_samples(self, trace_id: str) -> bool:
        """True if no answer of this trace can be sampled unless it is forced, whatever its route.

        Risk rules need the spans to be read: with any, this is False.
        """
        policy = self.policy
        highest = max((policy.rate, *policy.route_rates.values()))
        if policy.risks:
            return False
        return highest <= 0 or position(trace_id, policy.salt) >= highest

    def choose_by_rate(self, trace_id: str, route: str) -> Choice:
        """Decide by the rate of the route only, for a trace without an answer: no limit is used."""
        policy = self.policy
        rate = policy.rate_of(route)
        is_chosen = position(trace_id, policy.salt) < rate
        return Choice(is_chosen, rate, "sampled" if is_chosen else "not_sampled", "rate")


def _sampling_rate(policy: Policy, signals: Signals) -> tuple[float, str]:
    """The sampling probability before limits, and its reason."""
    if signals.forced:
        return 1.0, "forced"
    for risk in Risk if policy.risks else ():
        if risk in policy.risks and _rule_applies(risk, policy, signals):
            return 1.0, f"risk:{risk}"
    return policy.rate_of(signals.route), "rate"


def _rule_applies(risk: Risk, policy: Policy, signals: Signals) -> bool:
    match risk:
        case Risk.ERROR:
            return signals.is_error
        case Risk.FEEDBACK:
            return signals.is_disliked
        case Risk.LOW_SCORE:
            bound, score = policy.low_score, signals.top_score
            return bound is not None and score is not None and score < bound
        case Risk.CONFIRMATION:
            return asks_to_confirm(signals.question)
