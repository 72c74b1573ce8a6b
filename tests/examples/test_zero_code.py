from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from otel_rt4chart.spans.exchange.exchanges import find_candidates
from tests.examples.otlp_endpoint import Received, running_endpoint

APP = Path(__file__).parents[2] / "examples/zero_code/app.py"


@pytest.fixture
def endpoint() -> Iterator[Received]:
    """A running endpoint."""
    with running_endpoint() as running:
        yield running


def run(endpoint: Received, **variables: str) -> subprocess.CompletedProcess[str]:
    """The application, as its page says."""
    tool = Path(sys.executable).with_name("opentelemetry-instrument")
    return subprocess.run(
        [tool, sys.executable, APP],
        env=os.environ
        | {
            "OTEL_TRACES_EXPORTER": "otlp",
            "OTEL_METRICS_EXPORTER": "none",
            "OTEL_LOGS_EXPORTER": "none",
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
            "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint.url,
        }
        | variables,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )


def test_variables_alone_bring_marked_spans(endpoint: Received) -> None:
    """No line of the application is ours."""
    # Neither the chain nor the service has a name here.
    route = "unknown_service:python"
    done = run(endpoint, RT4CHART_SAMPLE_RATE="0.999", RT4CHART_ROUTE_RATES=f"{route}=1")

    assert done.stdout == "The free trial lasts 30 days.\n"
    (found,) = find_candidates(endpoint.spans)
    assert found.exchange.question == "How long is the free trial?"
    assert found.exchange.passages[0].metadata == {"source": "trial.md"}
    assert (found.route, found.sampled, found.sample_rate) == (route, True, 1.0)


def test_the_inline_mode_by_variables_sends_the_verdict(endpoint: Received) -> None:
    """The process verifies its own answer before it ends, and links the verdict to it."""
    run(endpoint, RT4CHART_MODE="inline", RT4CHART_JUDGE="rules", RT4CHART_EMIT="carrier")

    (found,) = find_candidates(endpoint.spans)
    (carrier,) = [one for one in endpoint.spans if one.scope_name == "otel_rt4chart"]
    assert [(link.trace_id, link.span_id) for link in carrier.links] == [
        (found.trace_id, found.span_id)
    ]
    assert (carrier.trace_id, carrier.parent_span_id) == (found.trace_id, found.span_id)
    assert carrier.attributes["rt4chart.label"] == "contradicted"
    assert "“30 days” in the answer, “14 days”" in str(carrier.attributes["rt4chart.claims"])


def test_a_wrong_variable_switches_ours_off_and_nothing_else(endpoint: Received) -> None:
    """The application runs, is traced, and the log names the variable."""
    done = run(endpoint, RT4CHART_SAMPLE_RATE="often")

    assert done.stdout == "The free trial lasts 30 days.\n"
    assert "RT4CHART_SAMPLE_RATE: expected a number from 0 to 1" in done.stderr
    assert not [one for one in endpoint.spans if "rt4chart.sampled" in one.attributes]
    assert len(find_candidates(endpoint.spans)) == 1
