"""What the commands that only read load: no judge, no model, no pages, no grouping."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from rt4chart_collector.service.local_api import serve_local_api
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.draws import DrawRequest, draw_claims
from tests.conftest import ReusedDatabase
from tests.rt4chart_clustering.issues import store_issue
from tests.rt4chart_clustering.made import numbers
from tests.rt4chart_collector.comparison.releases import DENIED, HOUR, NEW, OLD, answered
from tests.rt4chart_collector.traced import research

# What printing stored rows does not need, when the database is that of a running service.
HEAVY = (
    *("chdb", "numpy", "scipy", "sklearn", "hdbscan", "pyarrow", "pandas", "plotly"),
    *("onnxruntime", "tokenizers", "openai", "httpx", "sentencex.segmenter"),
    *("jinja2", "starlette", "uvicorn", "grpc", "confluent_kafka", "apprise", "opentelemetry.sdk"),
    *("otel_rt4chart.verify.pipeline", "otel_rt4chart.verify.local.rules_judge"),
    *("otel_rt4chart.verify.findings.classify", "otel_rt4chart.judges.build"),
    "rt4chart_clustering.description.text_templates",
)
# Runs a command, and then prints its status and the heavy modules that it has imported.
RUN = f"""
import sys
from otel_rt4chart.cli import main
status = main(sys.argv[1:])
print([status, *(name for name in {HEAVY} if name in sys.modules)])
"""


@pytest.fixture(scope="module")
def trace(embedded_database: ReusedDatabase) -> Iterator[str]:
    """A trace in a database that a service serves, with releases, an issue and a draw."""
    client, now_ns = next(opened := embedded_database.emptied()), time.time_ns()
    verdicts = [
        answered(at, release, DENIED, start_ns=now_ns - (3 - at) * HOUR)
        for at, release in enumerate((OLD, NEW))
    ]
    insert_verdicts(client, verdicts)
    store_issue(client, numbers(3))
    draw_claims(
        client,
        DrawRequest(QueryScope(0, now_ns, verdicts[0].verifier), 2, "ann"),
        now_ns=now_ns,
    )
    found = research(client).trace_id
    with serve_local_api(client.target, None):
        yield found
    next(opened, None)


@pytest.mark.parametrize(
    "command",
    [
        "issues list",
        "alerts list",
        "report",
        "report --json",
        "answers",
        "compare",
        "trail TRACE",
        "label --status",
    ],
)
def test_a_command_that_reads_loads_nothing_that_it_does_not_need(
    command: str, trace: str, store_dsn: str
) -> None:
    """It is over before a judge would be loaded; the database is that of a running service."""
    words = command.replace("TRACE", trace).split()

    out = subprocess.run(
        [sys.executable, "-c", RUN, *words, "--dsn", store_dsn],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip

    assert out.stdout.splitlines()[-1] == "[0]", out.stderr
