from __future__ import annotations

import json
import time
from dataclasses import replace

from otel_rt4chart.verify import RulesJudge, Verifier
from rt4chart_collector.demo.helpdesk import SERVICE, read_helpdesk
from rt4chart_collector.demo.loading import RecordedRequest, load_requests
from rt4chart_collector.demo.verdict_cache import verify_all
from rt4chart_collector.store.answers.answers import verified_answers
from rt4chart_collector.store.answers.spans import spans_of
from rt4chart_collector.store.engine.connect import Client


def test_a_request_is_stored_as_a_trace_with_its_verdict(client: Client) -> None:
    """Question, passages, answer, release and the answer's id are in its spans."""
    answer = read_helpdesk()["refunds-008"]
    request = RecordedRequest(
        answer.id, SERVICE, answer.route, "2.4.0", time.time(), answer.exchange()
    )
    reports = verify_all(
        [request.exchange], lambda: Verifier(RulesJudge()), {}, lambda done, total: None
    )
    steps: list[tuple[int, int]] = []

    load_requests(client, [request], "rules/1", reports, lambda *step: steps.append(step))

    (stored,) = verified_answers(client)
    (report,) = reports.values()
    spans = spans_of(client, [stored.trace_id])
    assert steps == [(1, 1)]
    assert (stored.service, stored.route, stored.verifier) == (SERVICE, answer.route, "rules/1")
    assert (stored.question, stored.answer) == (answer.question, answer.answer)
    # Confidence is stored with fewer digits.
    assert [replace(one, confidence=0) for one in stored.claims] == [
        replace(one, confidence=0) for one in report.claims
    ]
    assert json.loads(stored.metadata) == {"answer_id": "refunds-008"}
    assert {span.resource["service.version"] for span in spans} == {"2.4.0"}
    assert len(spans) == 3
