"""The ledger of the judge's budgets: what each process has leased of them, in one table.

A process claims a slice by a row, then reads what all have claimed: if that is more than the limit,
it withdraws the claim and tries again after a moment. A server shows a completed write to every
later read, so of two processes at least one sees the other, and together they never lease more than
the limit. On a cluster a replica may lag: each of the processes that claim meanwhile may then lease
one slice too much.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated

from otel_rt4chart.core.errors import StoreError
from otel_rt4chart.verify.llm.spending import (
    KEPT_NS,
    ROUNDING,
    Account,
    LedgerError,
    Period,
    SharedBudget,
    Unit,
    next_slice,
)
from rt4chart_collector.store.engine.columns import Version
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.leases import new_holder
from rt4chart_collector.store.engine.rows import (
    LOW_CARDINALITY,
    TIME_S,
    RowTable,
    StoredAs,
    batch_token,
    read,
)

ATTEMPTS = 6
# The longest pause before another attempt, in seconds; it doubles with each.
FIRST_PAUSE_S = 0.01

UnitName = Annotated[Unit, StoredAs("Unit", LOW_CARDINALITY, read=Unit)]
PeriodName = Annotated[Period, StoredAs("Period", LOW_CARDINALITY, read=Period)]


@dataclass(frozen=True, slots=True)
class BudgetLease:
    """What a holder has leased of a budget in the period that starts then, in all.

    `budget` is the limit that the holder knew.
    """

    scope: Annotated[str, StoredAs("Scope", "String")]
    unit: UnitName
    period: PeriodName
    starts_ns: Annotated[int, StoredAs("Starts", TIME_S)]
    holder: Annotated[str, StoredAs("Holder", "String")]
    budget: Annotated[float, StoredAs("Budget", "Float64")]
    leased: Annotated[float, StoredAs("Leased", "Float64")]
    version: Version


@dataclass(frozen=True, slots=True)
class LeasedBudget:
    """A budget of a current period with what all processes have leased of it."""

    scope: str
    unit: UnitName
    period: PeriodName
    starts_ns: Annotated[int, StoredAs("Starts", TIME_S)]
    budget: float
    leased: float
    holders: int


BUDGET_LEASES = RowTable("rt4chart_budget_leases", BudgetLease)
CLAIMED = """
SELECT sumIf(Leased, Holder != {holder:String}), sumIf(Leased, Holder = {holder:String}),
    maxIf(Version, Holder = {holder:String})
FROM rt4chart_budget_leases FINAL
WHERE Starts = toDateTime({starts:Int64}, 'UTC') AND Period = {period:String}
    AND Unit = {unit:String} AND Scope = {scope:String}
"""
CURRENT = """
SELECT Scope AS scope, Unit AS unit, Period AS period,
    toUnixTimestamp(Starts) * 1000000000 AS starts_ns,
    argMax(Budget, Version) AS budget, sum(Leased) AS leased, count() AS holders
FROM rt4chart_budget_leases FINAL
WHERE Period = 'hour' AND Starts = toStartOfHour(toDateTime({now:Int64}, 'UTC'))
    OR Period = 'day' AND Starts = toStartOfDay(toDateTime({now:Int64}, 'UTC'))
GROUP BY Scope, Unit, Period, Starts ORDER BY leased / budget DESC, Scope, Unit, Period
LIMIT {limit:UInt32}
"""
SECOND_NS = 10**9


@dataclass(slots=True)
class StoreLedger:
    """The ledger in the store, as one process sees it; for one thread at a time.

    The holder's name must be of this process alone: only it writes its rows.
    """

    client: Client
    holder: str
    sleep: Callable[[float], None] = time.sleep
    _leased: dict[Account, float] = field(default_factory=dict)
    _versions: dict[Account, int] = field(default_factory=dict)
    _limits: dict[Account, float] = field(default_factory=dict)

    def lease(self, account: Account, *, limit: float, need: float, most: float) -> float:
        """See `Ledger`."""
        try:
            return self._lease(account, limit, need, most)
        except StoreError as error:
            raise LedgerError(f"the store does not tell it: {type(error).__name__}") from error

    def give_back(self, account: Account, amount: float) -> None:
        """See `Ledger`."""
        try:
            leased = self._leased[account] = self._leased.get(account, 0.0) - amount
            self._write(account, leased)
        except StoreError as error:
            raise LedgerError("the store does not take it back") from error

    def _lease(self, account: Account, limit: float, need: float, most: float) -> float:
        self._forget_before(account.starts_ns - KEPT_NS)
        self._limits[account] = limit
        for attempt in range(ATTEMPTS):
            others, own = self._claimed(account)
            # A row that was written before the clock went back, or without an answer, counts.
            own = self._leased.setdefault(account, own)
            granted = next_slice(limit - others - own, need=need, most=most)
            if not granted:
                return 0.0
            self._write(account, own + granted)
            others, _ = self._claimed(account)
            if others + own + granted <= limit + ROUNDING:
                self._leased[account] = own + granted
                return granted
            self._write(account, own)
            # Processes that claimed at the same time must not do so again together.
            pause_s = FIRST_PAUSE_S * 2**attempt
            self.sleep(random.uniform(0, pause_s))  # noqa: S311 - no secret
        raise LedgerError("other processes lease from it at the same time")

    def _claimed(self, account: Account) -> tuple[float, float]:
        """What the others and what this process have claimed."""
        parameters = {
            "holder": self.holder,
            "starts": account.starts_ns // SECOND_NS,
            "period": account.period.value,
            "unit": account.unit.value,
            "scope": account.scope,
        }
        ((others, own, version),) = self.client.query(CLAIMED, parameters).result_rows
        self._versions[account] = max(int(version), self._versions.get(account, 0))
        return float(others), float(own)

    def _write(self, account: Account, leased: float) -> None:
        version = self._versions[account] = self._versions.get(account, 0) + 1
        row = BudgetLease(
            scope=account.scope,
            unit=account.unit,
            period=account.period,
            starts_ns=account.starts_ns,
            holder=self.holder,
            budget=self._limits.get(account, 0.0),
            leased=leased,
            version=version,
        )
        token = batch_token("budget", [(self.holder, account, leased, version)])
        BUDGET_LEASES.insert(self.client, [row], token=token)

    def _forget_before(self, before_ns: int) -> None:
        for account in [one for one in self._leased if one.starts_ns < before_ns]:
            for known in (self._leased, self._versions, self._limits):
                known.pop(account, None)


def leased_budgets(client: Client, now_ns: int, *, limit: int = 200) -> list[LeasedBudget]:
    """The budgets of the current hour and day from which something was leased, fullest first."""
    parameters = {"now": now_ns // SECOND_NS, "limit": limit}
    return read(client, LeasedBudget, CURRENT, parameters)


@contextmanager
def shared_through_store(budget: SharedBudget, client: Client) -> Iterator[None]:
    """Share the budget with the other processes of this store while the block runs.

    At its end, what this process leased and did not spend is given back. The connection is used by
    whatever thread sends a call, one at a time.
    """
    budget.ledger = StoreLedger(client, new_holder())
    try:
        yield
    finally:
        budget.close()
