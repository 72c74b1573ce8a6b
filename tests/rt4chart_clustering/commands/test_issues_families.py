"""`rt4chart issues families`, from the command line to what is printed."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

from otel_rt4chart.cli import main
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_clustering.issues import FIRST, SECOND_ID, store_issue
from tests.rt4chart_clustering.made import numbers


def test_families_are_told_across_routes(
    client: Client, dsn: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two issues of a pattern on two routes are one family; a route alone can be asked for."""
    now = time.time_ns()
    found = [replace(one, time_ns=now) for one in numbers(8)]
    store_issue(client, found[:5], title="Number \x1b[2Jdiffers")
    store_issue(client, [replace(one, route="sales") for one in found[5:]], number=SECOND_ID)

    assert main(["issues", "families", "--dsn", dsn, "--json"]) == 0
    (family,) = json.loads(capsys.readouterr().out)
    assert (family["family"], family["claims"]) == ("replaced", 8)
    assert family["routes"] == ["billing", "sales"]
    assert set(family["issues"]) == {f"{FIRST:016x}", f"{SECOND_ID:016x}"}
    assert main(["issues", "families", "--route", "sales", "--dsn", dsn, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["claims"] == 3
    assert main(["issues", "families", "--dsn", dsn]) == 0
    shown = capsys.readouterr().out
    assert "Replaced by something else" in shown
    assert "\x1b" not in shown
    assert main(["issues", "families", "--route", "nowhere", "--dsn", dsn]) == 0
    assert capsys.readouterr().out == "No matching issues.\n"
