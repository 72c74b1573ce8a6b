"""`rt4chart repair --sums`: sums of any time are corrected beside other processes."""

from __future__ import annotations

import time

import pytest

from otel_rt4chart.cli import main
from rt4chart_collector.commands import repair
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.pipeline.line import rollup
from tests.rt4chart_collector.records import SECOND, verdict

DAY = 24 * 3600 * SECOND


def test_sums_of_the_days_asked_for_are_corrected(
    client: Client, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three days ago is outside of the default; a second call finds nothing."""
    monkeypatch.setattr(repair, "SETTLE_S", 0.1)
    dsn, then = client.target.display_name, time.time_ns() - 3 * DAY
    insert_verdicts(client, [verdict(1, start_ns=then), verdict(2, start_ns=then)])
    before = rollup(client)
    client.command("INSERT INTO rt4chart_route_1m SELECT * FROM rt4chart_route_1m")

    said = []
    for since in ("24h", "7d", "7d"):
        assert main(["repair", "--sums", "--since", since, "--dsn", dsn]) == 0
        said.append(capsys.readouterr().out)

    right = "all sums agree with the verdicts\n"
    assert said == [
        right,
        "sums that do not agree with the verdicts: 1; they are read again in 0.1 s\ncorrected: 1\n",
        right,
    ]
    assert rollup(client) == before
