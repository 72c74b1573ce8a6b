"""The ledger of the judge's budgets in the store, between threads and between processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from threading import Lock, Thread

import pytest

from otel_rt4chart.core.errors import StoreError
from otel_rt4chart.verify.llm.spending import (
    HOUR_NS,
    Account,
    Booking,
    LedgerError,
    Period,
    SharedBudget,
    Unit,
    parse_budgets,
)
from rt4chart_collector.demo.processes import free_port
from rt4chart_collector.store.engine.budgets import (
    LeasedBudget,
    StoreLedger,
    leased_budgets,
)
from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.engine.rows import read_int
from rt4chart_collector.store.schema.migrate import migrate
from tests.clickhouse_server import database, dsn_of

NOON = 1_900_000_800_000_000_000 // HOUR_NS * HOUR_NS
ACCOUNT = Account("all", Unit.TOKENS, Period.HOUR, NOON)
ROWS = "SELECT count() FROM rt4chart_budget_leases"


def ledger(client: Client, holder: str) -> StoreLedger:
    """The ledger as a process of that name sees it."""
    return StoreLedger(client, holder, sleep=lambda _: None)


def test_processes_share_an_account(any_client: Client) -> None:
    """What one has leased is not left for another, and what it gives back is."""
    first, second = ledger(any_client, "a"), ledger(any_client, "b")

    assert first.lease(ACCOUNT, limit=100, need=60, most=60) == 60
    assert second.lease(ACCOUNT, limit=100, need=60, most=60) == 0
    assert second.lease(ACCOUNT, limit=100, need=40, most=60) == 40
    first.give_back(ACCOUNT, 50)
    assert second.lease(ACCOUNT, limit=100, need=50, most=50) == 50
    assert leased_budgets(any_client, NOON + HOUR_NS - 1) == [
        LeasedBudget("all", Unit.TOKENS, Period.HOUR, NOON, 100, 100, 2)
    ]


def test_a_new_hour_and_another_scope_are_accounts_of_their_own(any_client: Client) -> None:
    """Nothing is left over, and nothing is stuck, when the hour turns."""
    own = ledger(any_client, "a")
    assert own.lease(ACCOUNT, limit=10, need=10, most=10) == 10

    for other in (
        Account("all", Unit.TOKENS, Period.HOUR, NOON + HOUR_NS),
        Account("all", Unit.TOKENS, Period.DAY, NOON),
        Account("all", Unit.CALLS, Period.HOUR, NOON),
        Account("route:tenant's \\ \t route", Unit.TOKENS, Period.HOUR, NOON),
    ):
        assert own.lease(other, limit=10, need=10, most=10) == 10
    assert own.lease(ACCOUNT, limit=10, need=1, most=1) == 0


def test_calls_do_not_write(client: Client) -> None:
    """A row is written for a slice: a hundredth of the calls, fewer than ten for each sixteenth."""
    budget = SharedBudget(
        parse_budgets("6400calls/hour"), ledger(client, "a"), lambda: NOON, Lock()
    )

    sent = sum(isinstance(budget.reserve("m", 1, 1), Booking) for _ in range(5000))

    assert sent == 5000
    assert read_int(client, ROWS) <= 50


class Failing:
    """A connection that fails from some statement on."""

    def __init__(self, client: Client, statements: int) -> None:
        self.client, self.left = client, statements

    def query(self, *given: object) -> object:
        """The result, if any is left."""
        self._count()
        return self.client.query(*given)  # type: ignore[arg-type]

    def insert(self, *given: object, **more: object) -> object:
        """The same."""
        self._count()
        return self.client.insert(*given, **more)  # type: ignore[arg-type]

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise StoreError("away")


@pytest.mark.parametrize("statements", range(3))
def test_a_claim_that_was_cut_off_costs_nothing_later(client: Client, statements: int) -> None:
    """The store goes away before, while or after the claim is written, and comes back."""
    own = StoreLedger(Failing(client, statements), "a")  # type: ignore[arg-type]

    with pytest.raises(LedgerError):
        own.lease(ACCOUNT, limit=100, need=80, most=80)
    own.client = client

    assert own.lease(ACCOUNT, limit=100, need=80, most=80) == 80
    assert ledger(client, "b").lease(ACCOUNT, limit=100, need=30, most=30) == 0


def test_threads_that_lease_together_stay_within_the_limit(any_client: Client) -> None:
    """They spend nearly all of it, and never more."""
    granted: list[float] = []

    def spend(holder: str) -> None:
        with any_client.sibling() as own:
            mine = StoreLedger(own, holder)
            while True:
                try:
                    got = mine.lease(ACCOUNT, limit=300, need=1, most=9)
                except LedgerError:
                    continue
                if not got:
                    return
                granted.append(got)

    threads = [Thread(target=spend, args=(f"p{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert 260 <= sum(granted) <= 300 + 1e-6


PROCESS = """
import sys
from threading import Lock
from otel_rt4chart.verify.llm.spending import Booking, SharedBudget, parse_budgets, MemoryLedger
from rt4chart_collector.store.engine.budgets import shared_through_store
from rt4chart_collector.store.engine.connect import connect
now = [int(sys.argv[2])]
budget = SharedBudget(parse_budgets("640calls/hour"), MemoryLedger(), lambda: now[0], Lock())
with connect(sys.argv[1]) as client, shared_through_store(budget, client):
    print("ready", flush=True)
    sys.stdin.readline()
    sent, refused = 0, 0
    while refused < 20:
        if isinstance(budget.reserve("m", 1, 1), Booking):
            sent += 1
        else:
            refused += 1
            now[0] += 6 * 10**9
    print(sent, flush=True)
"""


@pytest.mark.e2e
def test_two_processes_on_one_server_stay_within_the_budget(tmp_path: Path) -> None:
    """Their clocks differ by three seconds; together they spend it all, and no more."""
    port = free_port()
    with database(tmp_path / "db", port):
        with connect(dsn_of(port)) as client:
            migrate(client)
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", PROCESS, dsn_of(port), str(NOON + seconds * 10**9)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for seconds in (60, 63)
        ]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        sent = [int(process.communicate(timeout=120)[0]) for process in processes]
        with connect(dsn_of(port)) as client:
            rows = read_int(client, ROWS)

    print({"sent": sent, "rows": rows})  # noqa: T201
    assert 600 <= sum(sent) <= 640
    assert rows < 400
