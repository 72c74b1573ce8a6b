"""Budgets of an hour or a day on what is sent to an endpoint, which processes share by a ledger.

Each limit has an account for each of its periods: for all calls, or for those of one route. A
process leases a slice of an account from the ledger and spends it without asking again, so that the
ledger is asked once a slice, not once a call. Which period a call belongs to is what the clock of
its process says: clocks that disagree move spending between two accounts, and exceed neither.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol

from otel_rt4chart.core.errors import RT4ChartError
from otel_rt4chart.core.tenants import is_tenant, service_prefix
from otel_rt4chart.verify.llm.prices import Price

HOUR_NS = 3600 * 10**9
# A slice is this part of the limit, or one call where that costs more.
SLICES = 64
# A used-up account, or a ledger that does not answer, is asked again after this time.
ASKED_AGAIN_NS = 5 * 10**9
# A ledger remembers accounts that began within this time: no clock is further behind.
KEPT_NS = 72 * HOUR_NS
# Sums of parts of a limit are not exact.
ROUNDING = 1e-9
# What each reason of a refusal begins with: nothing is left, or nobody knows what is.
OVER_BUDGET, BUDGET_UNKNOWN = "over_budget", "budget_unknown"
ALL_SCOPE = "all"
# What the name of a tenant's limit begins with, and its scope.
OF_TENANT = "tenant:"
# The reason of a refusal where a period's budget is used up: a retry before its end cannot help.
USED_UP = re.compile(rf"{OVER_BUDGET}: \S+ \w+ (?:an hour|a day)\b")


class LedgerError(RT4ChartError):
    """The ledger cannot say now what is left of a budget."""


class Unit(StrEnum):
    """What a budget counts."""

    CALLS = "calls"
    TOKENS = "tokens"
    USD = "usd"


class Period(StrEnum):
    """How long a budget lasts: a whole hour or day, in UTC."""

    HOUR = "hour"
    DAY = "day"

    @property
    def ns(self) -> int:
        """Its length."""
        return HOUR_NS if self is Period.HOUR else 24 * HOUR_NS


class Spender(NamedTuple):
    """Of what a call is sent: the answer's route and tenant; "" for none."""

    route: str = ""
    tenant: str = ""


@dataclass(frozen=True, slots=True)
class BudgetLimit:
    """The most that may be spent in each period; without `route` and `tenant`, of all calls.

    Otherwise one of them is a name, or a prefix followed by `*`: each one that matches has its own.
    """

    amount: float
    unit: Unit
    period: Period
    route: str = ""
    tenant: str = ""

    def scope_of(self, spender: Spender) -> str | None:
        """The scope in which its calls count; None if this limit is not about it."""
        if self.tenant:
            is_of = bool(spender.tenant) and _matches(self.tenant, spender.tenant)
            return OF_TENANT + spender.tenant if is_of else None
        if self.route:
            # Two tenants may have routes of one name.
            route = service_prefix(spender.tenant) if spender.tenant else ""
            is_of = _matches(self.route, spender.route)
            return f"route:{route}{spender.route}" if is_of else None
        return ALL_SCOPE


def _matches(wanted: str, name: str) -> bool:
    prefix, star, _ = wanted.partition("*")
    return name.startswith(prefix) if star else name == wanted


@dataclass(frozen=True, slots=True)
class Account:
    """What a limit allows in one period, in all or to one route or tenant: the scope."""

    scope: str
    unit: Unit
    period: Period
    starts_ns: int

    @property
    def name(self) -> str:
        """Its unit, period and scope in words: `usd a day`, `tokens an hour of route:support`."""
        of = "" if self.scope == ALL_SCOPE else f" of {self.scope}"
        article = "an" if self.period is Period.HOUR else "a"
        return f"{self.unit} {article} {self.period}{of}"


_LIMIT = re.compile(r"(?P<amount>\d+(?:\.\d+)?) ?(?P<unit>calls|tokens|usd)/(?P<period>hour|day)")


def parse_budgets(written: str) -> tuple[BudgetLimit, ...]:
    """Parse `5usd/day, support/*=200000tokens/hour, tenant:*=1usd/day`; ValueError for others."""
    return tuple(_limit_from(entry.strip()) for entry in written.split(",") if entry.strip())


def _limit_from(entry: str) -> BudgetLimit:
    route, _, limit = entry.rpartition("=")
    found = _LIMIT.fullmatch(limit.strip())
    if found is None or ("=" in entry and not route.strip()) or not float(found["amount"]) > 0:
        raise ValueError(entry)
    unit, period, name = Unit(found["unit"]), Period(found["period"]), route.strip()
    if not name.startswith(OF_TENANT):
        return BudgetLimit(float(found["amount"]), unit, period, name)
    tenant = name.removeprefix(OF_TENANT)
    if not is_tenant(tenant.removesuffix("*") or "a"):
        raise ValueError(entry)
    return BudgetLimit(float(found["amount"]), unit, period, tenant=tenant)


class Ledger(Protocol):
    """What was leased of each account by all processes that share it."""

    def lease(self, account: Account, *, limit: float, need: float, most: float) -> float:
        """How much this process may spend more: from `need` to `most`, or 0 if less is left.

        Raises LedgerError where that is not known now. May block.
        """

    def give_back(self, account: Account, amount: float) -> None:
        """Return a leased amount that this process will not spend. Raises LedgerError."""


class MemoryLedger:
    """The ledger of a process that shares its budgets with no other."""

    def __init__(self) -> None:
        """Nothing is leased."""
        self._leased: dict[Account, float] = {}
        self._newest_ns = 0

    def lease(self, account: Account, *, limit: float, need: float, most: float) -> float:
        """See `Ledger`."""
        if account.starts_ns > self._newest_ns:
            self._newest_ns = account.starts_ns
            kept_ns = account.starts_ns - KEPT_NS
            self._leased = {one: n for one, n in self._leased.items() if one.starts_ns >= kept_ns}
        leased = self._leased.get(account, 0.0)
        granted = next_slice(limit - leased, need=need, most=most)
        self._leased[account] = leased + granted
        return granted

    def give_back(self, account: Account, amount: float) -> None:
        """See `Ledger`."""
        self._leased[account] = self._leased.get(account, 0.0) - amount


def next_slice(left: float, *, need: float, most: float) -> float:
    """How much to lease of what is left; 0 if that is less than is needed.

    Near the end slices get smaller, so that one process does not hold what another one needs.
    """
    if left < need - ROUNDING:
        return 0.0
    return min(max(need, min(most, left / 4)), max(left, need))


NOBODY = Spender()
_spender: ContextVar[Spender] = ContextVar("spender", default=NOBODY)


@contextmanager
def spending_for(spender: Spender) -> Iterator[None]:
    """Count the calls that are sent in the block, also by threads that it starts, as of this."""
    before = _spender.set(spender)
    try:
        yield
    finally:
        _spender.reset(before)


class CallCost(NamedTuple):
    """What a call may cost, or has cost; `usd` is None for a model without a known price."""

    calls: int
    tokens: int
    usd: float | None

    def of(self, unit: Unit) -> float:
        """The cost in this unit; infinite where it is not known."""
        known = {Unit.CALLS: self.calls, Unit.TOKENS: self.tokens, Unit.USD: self.usd}[unit]
        return float("inf") if known is None else float(known)


NOTHING = CallCost(0, 0, 0.0)


@dataclass(frozen=True, slots=True)
class Booking:
    """A call that was allowed: what it may cost, and the accounts in which that is reserved."""

    accounts: tuple[Account, ...] = ()
    reserved: CallCost = NOTHING


@dataclass(slots=True)
class _Share:
    """What this process has leased of an account, and what it has not spent of that.

    `refused_ns` is when the ledger last had less than `refused` left, or could not say (`problem`).
    """

    limit: float
    leased: float = 0.0
    left: float = 0.0
    refused: float = 0.0
    refused_ns: int = 0
    problem: str = ""

    def is_known_empty(self, need: float, now_ns: int) -> bool:
        is_recent = 0 <= now_ns - self.refused_ns < ASKED_AGAIN_NS
        return is_recent and self.refused_ns > 0 and need >= self.refused - ROUNDING


class AccountState(NamedTuple):
    """An account of the current period, as this process knows it."""

    account: Account
    limit: float
    leased: float
    left: float
    is_used_up: bool


@dataclass(slots=True)
class SharedBudget:
    """The budgets of an endpoint; threads may share it by `lock`.

    With a shared ledger the processes together stay within a limit but for what calls cost beyond
    their estimate, and what the ledger itself allows. `ledger` may be replaced before the first
    call. `clock` is in nanoseconds since 1970. `refused` counts the calls that were not sent, by
    what their reason begins with.
    """

    limits: Sequence[BudgetLimit]
    ledger: Ledger
    clock: Callable[[], int]
    lock: AbstractContextManager[object]
    prices: Mapping[str, Price] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)
    _shares: dict[Account, _Share] = field(default_factory=dict)
    _hour: int = 0

    def reserve(self, model: str, input_tokens: int, output_tokens: int) -> Booking | str:
        """Reserve what a call may cost at most, or the reason why it may not be sent. May block."""
        cost = self.cost(model, input_tokens, 0, output_tokens)
        with self.lock:
            now_ns = self.clock()
            self._forget_past(now_ns)
            accounts = list(self._accounts(now_ns))
            for account, limit in accounts:
                refusal = self._ensure(account, limit, cost.of(account.unit), now_ns)
                if refusal:
                    self.refused[refusal.partition(":")[0]] += 1
                    return refusal
            for account, _ in accounts:
                self._shares[account].left -= cost.of(account.unit)
        return Booking(tuple(account for account, _ in accounts), cost)

    def settle(self, booking: Booking, cost: CallCost) -> None:
        """Replace what was reserved for a call by what it has cost."""
        with self.lock:
            for account in booking.accounts:
                # A cost that is not known, as of a failed call, is taken to be what was reserved.
                share, actual = self._shares.get(account), cost.of(account.unit)
                if share is not None and actual < float("inf"):
                    share.left += booking.reserved.of(account.unit) - actual

    def cost(
        self, model: str, input_tokens: int, cached_tokens: int, output_tokens: int
    ) -> CallCost:
        """What a call with these tokens costs."""
        price = self.prices.get(model)
        usd = None if price is None else price.of(input_tokens, cached_tokens, output_tokens)
        return CallCost(1, input_tokens + output_tokens, usd)

    def states(self) -> list[AccountState]:
        """The accounts of the current periods that were used here; never blocks."""
        now_ns = self.clock()
        return [
            AccountState(
                account,
                share.limit,
                share.leased,
                share.left,
                share.refused_ns > 0 and not share.problem,
            )
            for account, share in list(self._shares.items())
            if account.starts_ns == now_ns // account.period.ns * account.period.ns
        ]

    def close(self) -> None:
        """Give back what was not spent; what cannot be given back is lost for its period."""
        with self.lock:
            for account, share in self._shares.items():
                left, share.left = share.left, min(share.left, 0.0)
                if left > 0 and self.clock() < account.starts_ns + account.period.ns:
                    try:
                        self.ledger.give_back(account, left)
                    except LedgerError:
                        return

    def _accounts(self, now_ns: int) -> Iterator[tuple[Account, float]]:
        """The accounts of what the calling thread sends, the smallest limit of each."""
        found: dict[Account, float] = {}
        for limit in self.limits:
            if (scope := limit.scope_of(_spender.get())) is not None:
                starts_ns = now_ns // limit.period.ns * limit.period.ns
                account = Account(scope, limit.unit, limit.period, starts_ns)
                found[account] = min(limit.amount, found.get(account, limit.amount))
        yield from found.items()

    def _ensure(self, account: Account, limit: float, need: float, now_ns: int) -> str:
        """Lease more if this is not left here; the reason if it cannot be leased."""
        share = self._shares.setdefault(account, _Share(limit))
        if share.left >= need - ROUNDING:
            return ""
        missing = need - share.left
        refusal = f"{OVER_BUDGET}: {limit:,.12g} {account.name}"
        if missing > limit:
            return refusal
        if not share.is_known_empty(missing, now_ns):
            share.problem, granted = "", 0.0
            try:
                most = max(limit / SLICES, missing)
                granted = self.ledger.lease(account, limit=limit, need=missing, most=most)
            except LedgerError as error:
                share.problem = f"{BUDGET_UNKNOWN}: what is left of {account.name}: {error}"
            share.leased += granted
            share.left += granted
            # A ledger that does not answer is not asked about a smaller call either.
            share.refused = 0.0 if share.problem else missing
            share.refused_ns = 0 if granted else now_ns
        if share.left >= need - ROUNDING:
            return ""
        return share.problem or refusal

    def _forget_past(self, now_ns: int) -> None:
        """Forget, once an hour, the accounts that ended long ago; the ledger knows them."""
        if now_ns // HOUR_NS == self._hour:
            return
        self._hour = now_ns // HOUR_NS
        before_ns = now_ns - 2 * HOUR_NS
        ended = [one for one in self._shares if one.starts_ns + one.period.ns < before_ns]
        for account in ended:
            del self._shares[account]
