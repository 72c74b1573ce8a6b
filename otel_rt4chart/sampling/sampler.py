"""The choice of one answer: forced, by a risk rule, or by its trace's position under a rate."""

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
# While a half of the bucket is left everyone passes; below that the chance falls by the same factor
# with each token, down to `LEAST`. So steep, it settles where tokens are left, in rushes of up to
# some hundred times the bound: the fewer come upon nothing, the fewer nobody stands for.
EASE, LEAST = 0.5, 0.001


class Throttle:
    """A token bucket that fills by `most` a minute and holds as many; not thread-safe.

    It keeps what was spent, so that its size may change at any time.
    """

    def __init__(self) -> None:
        """Full."""
        self._spent = 0.0
        self._at = 0.0

    def chance(self, most: int, now: float) -> float:
        """The probability with which the next one passes: 1 at first, 0 where nothing is left.

        It depends on what passed before and not on who asks, which keeps a weight of 1/chance true.
        """
        # A clock that was set back refills nothing.
        self._spent = max(0.0, self._spent - max(0.0, now - self._at) * most / 60)
        self._at = now
        left = most - self._spent
        return min(1.0, LEAST ** (1 - left / (most * EASE))) if left > 0 else 0.0

    def spend(self) -> None:
        """One passed."""
        self._spent += 1


class DayBudget:
    """A count of what was chosen in a day of UTC; not thread-safe."""

    def __init__(self) -> None:
        """Nothing was spent."""
        self._day = 0
        self._spent = 0

    def is_left(self, most: int, now: float) -> bool:
        """Whether one more may be chosen today; a clock that was set back starts no new day."""
        day = int(now // DAY_S)
        if day > self._day:
            self._day, self._spent = day, 0
        return self._spent < most

    def spend(self) -> None:
        """One was chosen."""
        self._spent += 1


@dataclass(frozen=True, slots=True)
class Choice:
    """Whether an answer is to be verified, and with which probability one like it is chosen.

    `decision` is `sampled`, `not_sampled`, `throttled` or `over_budget`, `reason` what led to it:
    `rate`, `forced`, `risk:` and the rule, `throttle` or `budget`. A chosen answer weighs 1/`rate`.
    One that is not chosen weighs nothing; its `rate` is the one it had before throttle and budget.
    """

    sampled: bool
    rate: float
    decision: str
    reason: str


class Sampler:
    """Chooses answers by a policy, which may be replaced while it runs; any thread may ask.

    Weights. The rate of a chosen answer is its probability of being chosen, so that sums weighted
    by 1/rate are unbiased (Horvitz and Thompson, 1952). A rule of risk is known for every
    candidate and always chooses: the rate is 1, and each answer it found stands for itself alone.

    Throttle. While more than half of its minute is left it lets everyone pass. From there on the
    chance falls with what is left, and the rate of who passes is multiplied by that chance. The
    chance follows from what passed before, not from the answer, so the weights stay true through a
    rush. What bias is left: an answer that comes when nothing is left had no chance at all, and
    nobody stands for it. That is rare but where the bound is a few answers a minute, or a rush is
    some hundred times the bound: weighted totals are then too low, and a weighted share is off as
    far as those answers differ from the others of the rush. The bound is `per_minute` at once and
    `per_minute` a minute in the long run, so at most twice that in one minute; it is this
    process's. Forced answers pass it and use none of it up: somebody waits for each of them.

    Budget. When it is spent nothing more is chosen that day (UTC), forced answers included: it
    bounds money, and a loop can force as well. The rest of the day has no chance, so the day's
    estimate speaks for the time before; a lower rate that lasts the day is better.
    """

    def __init__(self, policy: Policy, *, clock: Callable[[], float] = time.time) -> None:
        """`clock` tells seconds since the epoch."""
        self.policy = policy
        self._clock = clock
        self._throttle = Throttle()
        self._budget = DayBudget()
        self._lock = Lock()
        after_fork(self._renew)

    def _renew(self) -> None:
        self._lock = Lock()

    def choose(self, trace_id: str, signals: Signals) -> Choice:
        """Decide on an answer; each call that chooses counts against the bounds."""
        policy = self.policy
        rate, reason = _wanted(policy, signals)
        drawn = position(trace_id, policy.salt)
        if drawn >= rate:
            return Choice(False, rate, "not_sampled", reason)
        with self._lock:
            now = self._clock()
            if policy.per_day is not None and not self._budget.is_left(policy.per_day, now):
                return Choice(False, rate, "over_budget", "budget")
            chance = 1.0
            if policy.per_minute is not None and reason != "forced":
                chance = self._throttle.chance(policy.per_minute, now)
                if drawn >= rate * chance:
                    return Choice(False, rate, "throttled", "throttle")
                self._throttle.spend()
            self._budget.spend()
        return Choice(True, rate * chance, "sampled", reason)

    def rated(self, trace_id: str, route: str) -> Choice:
        """Decide by the route's rate alone, where there is no answer: no bound is used up."""
        policy = self.policy
        rate = policy.rate_of(route)
        is_chosen = position(trace_id, policy.salt) < rate
        return Choice(is_chosen, rate, "sampled" if is_chosen else "not_sampled", "rate")


def _wanted(policy: Policy, signals: Signals) -> tuple[float, str]:
    """The probability of being chosen, bounds left aside, and why."""
    if signals.forced:
        return 1.0, "forced"
    for risk in Risk:
        if risk in policy.risks and _applies(risk, policy, signals):
            return 1.0, f"risk:{risk}"
    return policy.rate_of(signals.route), "rate"


def _applies(risk: Risk, policy: Policy, signals: Signals) -> bool:
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
