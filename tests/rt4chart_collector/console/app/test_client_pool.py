"""Connections and threads of the console: few, and none waits for ever."""

from __future__ import annotations

import asyncio
import threading

import pytest

from otel_rt4chart.core.errors import StoreError
from rt4chart_collector.console.app.client_pool import ClientPool, TenantPool
from rt4chart_collector.console.app.page_threads import PageThreads
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.schema.tenant_client import TenantClient
from tests.polling import wait_until


def test_a_client_is_used_again_unless_the_store_failed_under_it(client: Client) -> None:
    """After an error the next page has another connection."""
    pool = ClientPool(client.sibling, 2, 1.0)
    with pool.client() as first:
        first.command("SELECT 1")
    with pool.client() as again:
        assert again is first
    with pytest.raises(StoreError), pool.client() as failing:
        failing.command("SELECT nothing_of_that_name")

    with pool.client() as fresh:
        assert fresh is not first
    pool.close()
    with pytest.raises(StoreError, match="shutting down"), pool.client():
        pass


def test_whoever_waits_too_long_is_told(client: Client) -> None:
    """No page hangs because others have all connections."""
    pool = ClientPool(client.sibling, 1, 0.05)

    with pool.client(), pytest.raises(StoreError, match="became free"), pool.client():
        pass
    pool.close()


def test_a_spare_client_is_one_that_is_free_at_once(client: Client) -> None:
    """It leaves half of the clients to pages that have none, and nobody waits for it."""
    pool = ClientPool(client.sibling, 4, 0.05)
    with pool.client(), pool.spare() as one, pool.spare() as two, pool.spare() as three:
        assert (one is None, two is None, three is None) == (False, False, True)
        with pool.client(), pytest.raises(StoreError, match="became free"), pool.client():
            pass
    with pool.client(), pool.client(), pool.client(), pool.client(), pool.spare() as none:
        assert none is None
    with TenantPool(pool, "acme").spare() as own:
        assert isinstance(own, TenantClient)
    pool.close()
    single = ClientPool(client.sibling, 1, 0.05)
    with single.spare() as none:
        assert none is None
    single.close()


def test_statements_in_the_background_leave_the_engine_to_pages(any_client: Client) -> None:
    """Also those of a tenant; they have a client of their own, which takes a place."""
    query = "SELECT toString(getSetting('priority')), toString(getSetting('max_threads'))"
    pool = ClientPool(any_client.sibling, 1, 0.05)
    with TenantPool(pool, "acme").background() as tenant:
        assert tenant.query(query).result_rows == [("10", "1")]
        with pytest.raises(StoreError, match="became free"), pool.client():
            pass
    with pool.client() as page:
        assert page.query(query).result_rows != [("10", "1")]
    pool.close()
    with pytest.raises(StoreError, match="shutting down"), pool.background():
        pass


def test_embedded_path_is_given_back_after_the_last_page(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service that starts finds it free; a page after that opens it again."""
    monkeypatch.setattr("rt4chart_collector.console.app.client_pool.IDLE_S", 0.05)
    pool = ClientPool(client.sibling, 2, 1.0)
    with pool.client() as first:
        pass
    wait_until(lambda: not first._is_open)

    with pool.client() as later:
        assert later is not first
    pool.close()


def test_a_late_page_is_given_up_and_its_thread_known() -> None:
    """The request is told; the thread counts until it ends, and then makes room."""
    done = threading.Event()

    async def scene() -> None:
        threads = PageThreads(1, 0.5)
        with pytest.raises(TimeoutError):
            await threads.run(lambda: done.wait(5))
        assert len(threads.alive) == 1
        with pytest.raises(TimeoutError):
            await threads.run(lambda: True)
        done.set()
        for late in threads.alive:
            await asyncio.to_thread(late.join, 5)
        await asyncio.sleep(0)
        assert await threads.run(lambda: "well")
        with pytest.raises(ValueError, match="from within"):
            await threads.run(_fail)

    asyncio.run(scene())


def _fail() -> None:
    raise ValueError("from within")
