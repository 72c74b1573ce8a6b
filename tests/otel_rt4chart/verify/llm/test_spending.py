"""Budgets of hours and days: what they mean, and what processes share."""

from __future__ import annotations

from collections import defaultdict
from threading import Lock

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from otel_rt4chart.verify.llm.prices import Price
from otel_rt4chart.verify.llm.spending import (
    HOUR_NS,
    NOTHING,
    USED_UP,
    Account,
    Booking,
    BudgetLimit,
    CallCost,
    Ledger,
    LedgerError,
    MemoryLedger,
    Period,
    SharedBudget,
    Spender,
    Unit,
    parse_budgets,
    spending_for,
)

NOON = 1_900_000_800_000_000_000 // HOUR_NS * HOUR_NS
SECOND = 10**9
PRICES = {"m": Price(1.0, 0.5, 2.0)}


def budget_of(written: str, ledger: Ledger | None = None, now_ns: int = NOON) -> SharedBudget:
    """The budget of one process, whose clock stands still."""
    clock = Clock()
    clock.now = now_ns
    return SharedBudget(parse_budgets(written), ledger or MemoryLedger(), clock, Lock(), PRICES)


class Clock:
    """Time that tests set."""

    now = NOON

    def __call__(self) -> int:
        """The time."""
        return self.now


class Away:
    """A ledger that cannot be asked."""

    def lease(self, account: Account, *, limit: float, need: float, most: float) -> float:
        """Not known."""
        raise LedgerError("gone")

    def give_back(self, account: Account, amount: float) -> None:
        """Not known."""
        raise LedgerError("gone")


def test_a_setting_names_amounts_units_periods_and_routes() -> None:
    """Routes may contain what separates the parts of a limit."""
    written = "20usd/day, support/*=500 tokens/hour,a=b=3calls/day, tenant:acme*=1usd/day"
    assert parse_budgets(written) == (
        BudgetLimit(20, Unit.USD, Period.DAY),
        BudgetLimit(500, Unit.TOKENS, Period.HOUR, "support/*"),
        BudgetLimit(3, Unit.CALLS, Period.DAY, "a=b"),
        BudgetLimit(1, Unit.USD, Period.DAY, tenant="acme*"),
    )


@pytest.mark.parametrize(
    "written",
    [
        *("20", "20usd", "0usd/day", "usd/day", "=5usd/day", "5eur/day"),
        *("tenant:a/b=5usd/day", "tenant:*a=5usd/day"),
    ],
)
def test_another_setting_is_refused(written: str) -> None:
    """Nothing is guessed: a budget that was not understood would not bound anything."""
    with pytest.raises(ValueError, match=r".*"):
        parse_budgets(written)


def test_a_call_counts_in_all_and_for_its_route() -> None:
    """Each route that a pattern names has a budget of its own."""
    budget = budget_of("3calls/hour, support/*=1calls/hour")
    with spending_for(Spender("support/a")):
        assert isinstance(budget.reserve("m", 1, 1), Booking)
        assert budget.reserve("m", 1, 1) == "over_budget: 1 calls an hour of route:support/a"
    with spending_for(Spender("support/b")):
        assert isinstance(budget.reserve("m", 1, 1), Booking)
    assert isinstance(budget.reserve("m", 1, 1), Booking)
    assert budget.reserve("m", 1, 1) == "over_budget: 3 calls an hour"
    assert budget.refused == {"over_budget": 2}


def test_a_tenant_has_a_budget_of_its_own() -> None:
    """Also in routes that others have by the same name; what is of no tenant counts in all."""
    budget = budget_of("tenant:*=2calls/hour, chat=1calls/hour")
    with spending_for(Spender("chat", "acme")):
        assert isinstance(budget.reserve("m", 1, 1), Booking)
        refused = budget.reserve("m", 1, 1)
        assert refused == "over_budget: 1 calls an hour of route:~acme/chat"
    with spending_for(Spender("other", "acme")):
        assert isinstance(budget.reserve("m", 1, 1), Booking)
        assert budget.reserve("m", 1, 1) == "over_budget: 2 calls an hour of tenant:acme"
    for spender in (Spender("chat", "bolt"), Spender("chat")):
        with spending_for(spender):
            assert isinstance(budget.reserve("m", 1, 1), Booking)
    assert all(isinstance(budget.reserve("m", 1, 1), Booking) for _ in range(9))


def test_what_a_call_did_not_use_is_there_for_the_next_one() -> None:
    """A call is reserved with what it may cost at most."""
    budget = budget_of("0.001usd/day")
    booked = budget.reserve("m", 200, 300)

    assert isinstance(booked, Booking)
    assert USED_UP.match(str(budget.reserve("m", 200, 300)))
    budget.settle(booked, budget.cost("m", 200, 200, 10))

    assert isinstance(budget.reserve("m", 200, 300), Booking)


def test_a_call_that_failed_keeps_what_was_reserved() -> None:
    """Nobody knows what it has cost."""
    budget = budget_of("0.001usd/day")
    booked = budget.reserve("m", 200, 300)
    assert isinstance(booked, Booking)

    budget.settle(booked, CallCost(1, 500, None))

    assert isinstance(budget.reserve("m", 200, 300), str)


def test_without_the_ledger_only_what_was_leased_is_spent() -> None:
    """Then calls are refused for a reason that a retry may end, and asked again after seconds."""
    clock, ledger = Clock(), MemoryLedger()
    budget = SharedBudget(parse_budgets("640calls/hour"), ledger, clock, Lock())
    assert isinstance(budget.reserve("m", 1, 1), Booking)

    budget.ledger = Away()
    sent = 1 + sum(isinstance(budget.reserve("m", 1, 1), Booking) for _ in range(50))
    reason = budget.reserve("m", 1, 1)
    budget.ledger = ledger
    at_once = budget.reserve("m", 1, 1)
    clock.now += 6 * SECOND

    assert sent == 10  # one slice
    assert reason == "budget_unknown: what is left of calls an hour: gone" == at_once
    assert isinstance(budget.reserve("m", 1, 1), Booking)


def test_what_a_process_did_not_spend_is_given_back_at_its_end() -> None:
    """Another process may spend it in the same hour."""
    ledger = MemoryLedger()
    first, second = budget_of("1000calls/hour", ledger), budget_of("1000calls/hour", ledger)
    assert isinstance(first.reserve("m", 1, 1), Booking)
    first.close()

    spent = sum(isinstance(second.reserve("m", 1, 1), Booking) for _ in range(1100))

    assert spent == 999


# A slice of an hour is five tokens, and more than what is left of it may fit a small call.
HOURLY, DAILY = 320.0, 900.0


class SharedSpending(RuleBasedStateMachine):
    """Some processes, whose clocks differ by seconds, call, settle, stop and lose the ledger.

    What was sent in an hour, or day, of the processes' clocks never costs more than the budget, and
    a call that fits is sent when a new hour has begun for all.
    """

    @initialize(skews=st.lists(st.integers(-5, 5), min_size=1, max_size=4))
    def start(self, skews: list[int]) -> None:
        """Each process has a clock of its own."""
        self.now = NOON
        self.ledger: Ledger = MemoryLedger()
        self.clocks = [Clock() for _ in skews]
        self.skews = skews
        self.processes = [self._process(clock) for clock in self.clocks]
        self.booked: list[tuple[int, Booking]] = []
        self.spent: defaultdict[Account, float] = defaultdict(float)
        self._set()

    def _process(self, clock: Clock) -> SharedBudget:
        limits = parse_budgets(f"{HOURLY:g}tokens/hour, {DAILY:g}tokens/day")
        return SharedBudget(limits, self.ledger, clock, Lock())

    def _set(self) -> None:
        for clock, skew in zip(self.clocks, self.skews, strict=True):
            clock.now = self.now + skew * SECOND

    @rule(at=st.integers(0, 3), tokens=st.sampled_from([1, 3, 90]))
    def call(self, at: int, tokens: int) -> None:
        """A process sends a call, or is refused."""
        number = at % len(self.processes)
        found = self.processes[number].reserve("m", tokens, 0)
        if isinstance(found, Booking):
            self.booked.append((number, found))
            for account in found.accounts:
                self.spent[account] += tokens

    @rule(at=st.integers(0, 3), tokens=st.sampled_from([1, 3]))
    def spend_the_rest(self, at: int, tokens: int) -> None:
        """A process sends calls until one is refused."""
        before = -1
        while before < len(self.booked):
            before = len(self.booked)
            self.call(at, tokens)

    @rule(share=st.floats(0, 1), at=st.integers(0, 99))
    def settle(self, share: float, at: int) -> None:
        """A call has cost a part of what was reserved, maybe in the next hour."""
        if self.booked:
            number, booked = self.booked.pop(at % len(self.booked))
            used = int(booked.reserved.tokens * share)
            self.processes[number].settle(booked, CallCost(1, used, None))
            for account in booked.accounts:
                self.spent[account] += used - booked.reserved.tokens

    @rule(seconds=st.sampled_from([1, 4, 60, 1799, 3600, 7200]))
    def wait(self, seconds: int) -> None:
        """Time goes by."""
        self.now += seconds * SECOND
        self._set()

    @rule(at=st.integers(0, 3), seconds=st.integers(-5, 5))
    def turn_back(self, at: int, seconds: int) -> None:
        """A clock is set, also back over the turn of an hour."""
        self.skews[at % len(self.skews)] = seconds
        self._set()

    @rule(at=st.integers(0, 3))
    def restart(self, at: int) -> None:
        """A process ends, and gives back what it did not spend; another one starts."""
        number = at % len(self.processes)
        self.processes[number].close()
        self.booked = [one for one in self.booked if one[0] != number]
        self.processes[number] = self._process(self.clocks[number])

    @rule(at=st.integers(0, 3))
    def lose(self, at: int) -> None:
        """A process calls while it cannot ask the ledger."""
        process = self.processes[at % len(self.processes)]
        process.ledger = Away()
        self.call(at, 30)
        process.ledger = self.ledger

    @rule(at=st.integers(0, 3))
    def new_day(self, at: int) -> None:
        """Nothing is stuck: on a new day a call that fits is sent."""
        self.now = (self.now // (24 * HOUR_NS) + 1) * 24 * HOUR_NS + 60 * SECOND
        self._set()
        number = at % len(self.processes)
        found = self.processes[number].reserve("m", 50, 0)
        assert isinstance(found, Booking), found
        self.processes[number].settle(found, NOTHING)

    @invariant()
    def is_within(self) -> None:
        """No account is overdrawn."""
        for account, spent in getattr(self, "spent", {}).items():
            assert spent <= (HOURLY if account.period is Period.HOUR else DAILY) + 1e-6, account


TestSharedSpending = SharedSpending.TestCase
