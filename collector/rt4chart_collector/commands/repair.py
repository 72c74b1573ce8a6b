"""`rt4chart repair`: damaged parts of tables, and sums that do not agree with the verdicts."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import time
from collections.abc import Sequence

from otel_rt4chart.core.errors import StoreError
from otel_rt4chart.core.settings import load
from rt4chart_collector.core.settings import ServiceSettings
from rt4chart_collector.store.engine.connect import Client, connect
from rt4chart_collector.store.engine.damage import DamagedPart, check_parts, detach
from rt4chart_collector.store.engine.leases import acquire_lease, release_lease
from rt4chart_collector.store.engine.ownership import connect_owner, own_path
from rt4chart_collector.store.rates.rollup import (
    LEASE_NS,
    SUMS_LEASE,
    correct_sums,
    find_wrong_sums,
)

# Longer than a verdict and its sums are apart, also on a replica that lags.
SETTLE_S = 30.0
ADVICE = (
    "restore the database from a backup (docs/deploy/layouts.md), or give up these rows with "
    "`rt4chart repair --detach`"
)


def execute(options: argparse.Namespace) -> int:
    """Read all parts; with `--detach`, in a database that no service owns, set damaged ones aside.

    A running service would go on with what it has read before. With `--sums`, correct sums.
    """
    dsn = load(ServiceSettings, {"dsn": options.dsn}).dsn
    if options.sums:
        with connect(dsn, creates=False) as client:
            return _corrected(client, round(options.since * 10**9))
    if options.detach:
        with own_path(dsn), connect_owner(dsn) as client:
            return _detached(client, list(check_parts(client)))
    with connect(dsn, creates=False) as client:
        return _listed(list(check_parts(client)))


def _listed(found: Sequence[DamagedPart]) -> int:
    if not found:
        sys.stdout.write("no part is damaged\n")
        return 0
    sys.stdout.write("".join(f"{part}\n" for part in found) + f"nothing was changed: {ADVICE}\n")
    return 1


def _corrected(client: Client, span_ns: int) -> int:
    """Correct the sums of that time up to now, once a write in progress would have ended."""
    now_ns = time.time_ns()
    found = find_wrong_sums(client, now_ns - span_ns, now_ns)
    if not found:
        sys.stdout.write("all sums agree with the verdicts\n")
        return 0
    number = sum(len(wrong.numbers) for wrong in found)
    again = f"they are read again in {SETTLE_S:g} s"
    sys.stdout.write(f"sums that do not agree with the verdicts: {number}; {again}\n")
    sys.stdout.flush()
    time.sleep(SETTLE_S)
    holder = f"repair/{os.getpid()}/{secrets.token_hex(4)}"
    if not acquire_lease(client, SUMS_LEASE, holder, now_ns=time.time_ns(), for_ns=LEASE_NS):
        raise StoreError("another process corrects the sums; run this again in a few minutes")
    try:
        sys.stdout.write(f"corrected: {correct_sums(client, found)}\n")
    finally:
        release_lease(client, SUMS_LEASE, holder, now_ns=time.time_ns())
    return 0


def _detached(client: Client, found: Sequence[DamagedPart]) -> int:
    for part in found:
        detach(client, part)
        sys.stdout.write(f"detached {part}\n")
    if not found:
        sys.stdout.write("no part is damaged\n")
    return 0
