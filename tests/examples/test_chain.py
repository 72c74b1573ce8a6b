"""The example of a chain: what it sends is enough to name the step that invented the number."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from otel_rt4chart.judges.answer_verdicts import verify_candidate
from otel_rt4chart.judges.trails import trail_maker
from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.spans.graph.chain import find_chain
from otel_rt4chart.verify import LocalJudge, Verifier
from tests.examples.otlp_endpoint import running_endpoint

APP = Path(__file__).parents[2] / "examples/chain/app.py"


def test_the_summary_is_named() -> None:
    """And the command that it prints names the trace."""
    pytest.importorskip("rt4chart_models", reason="the base install has no embedded models")
    with running_endpoint() as endpoint:
        told = subprocess.run(
            [sys.executable, str(APP)],
            env=os.environ | {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint.url},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout
    (answer,) = find_candidates(endpoint.spans)
    verifier = Verifier(LocalJudge())

    verdict = verify_candidate(answer, verifier, rate=1.0, clock=lambda: 0)
    chain = find_chain(endpoint.spans, answer.span_id)
    (blame,) = trail_maker(verifier, calls=60).make(verdict, chain).trail

    assert told == f"rt4chart trail {answer.trace_id}\n"
    assert (blame.stage, blame.problem) == ("summarise", "")
