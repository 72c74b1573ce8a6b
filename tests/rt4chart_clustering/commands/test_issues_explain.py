"""`rt4chart issues explain`, without a model and with one that a real local server plays."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from typing import Any

import pytest

from otel_rt4chart.cli import main
from otel_rt4chart.core.settings import load
from otel_rt4chart.settings.application import JudgeSettings
from rt4chart_clustering.explain.explain_issues import (
    RETRY_NS,
    due_issues,
    explain_due_issues,
)
from rt4chart_clustering.explain.finding import SCORES
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issue_events import IssueEvent, events_of, record_events
from tests.endpoint_server import EndpointServer, error, text
from tests.rt4chart_clustering.explain.traces import ANSWER, REFUND, TRIAL, failing, trace
from tests.rt4chart_clustering.issues import FIRST, SECOND_ID, store_issue

SPAN = f"{9:016x}"


@pytest.fixture
def lost(client: Client) -> Client:
    """An issue of five failures whose evidence the reranker dropped, and one never found."""
    traces = [trace(at, ANSWER, found=[TRIAL, REFUND], kept=[TRIAL]) for at in range(1, 6)]
    traces.append(trace(6, ANSWER, found=[TRIAL]))
    ago = time.time_ns() - max(span.end_ns for spans in traces for span in spans)
    moved = [
        [replace(s, start_ns=s.start_ns + ago, end_ns=s.end_ns + ago) for s in spans]
        for spans in traces
    ]
    found = [failing(client, spans, nearest=TRIAL) for spans in moved]
    store_issue(client, found, is_stored=True)
    return client


def finding(quote: str) -> str:
    """A model's reply that submits one."""
    where = {"trace_id": f"{1:032x}", "span_id": SPAN, "passage_id": "", "text": quote}
    arguments = {
        "cause": "The reranker drops it.",
        "stage": "lost_in_rerank",
        "quotes": [where],
        "immediate_fix": "Keep five.",
        "scores": dict.fromkeys(SCORES, 2),
    }
    return json.dumps({"thought": "", "call": {"tool": "submit_finding", "arguments": arguments}})


def explained(dsn: str, capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> Any:  # noqa: ANN401 - JSON
    """What the command prints for machines."""
    assert main(["issues", "explain", "ab", "--json", "--dsn", dsn, *words]) == status
    return json.loads(capsys.readouterr().out)


def test_without_a_model_the_stages_are_counted(
    dsn: str, lost: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    """Counts and shares over all failures, traces, and what to do; nothing is written."""
    told = explained(dsn, capsys)

    assert (told["failures"], told["of"]) == (6, 6)
    rows = [(one["stage"], one["failures"], one["share"]) for one in told["stages"]]
    assert rows == [("lost_in_rerank", 5, 0.8333), ("never_retrieved", 1, 0.1667)]
    assert len(told["stages"][0]["traces"]) == 3
    assert "finding" not in told
    assert [one.kind for one in events_of(lost, FIRST)] == ["born", "state"]
    assert main(["issues", "explain", "ab", "--dsn", dsn]) == 0
    words = capsys.readouterr().out
    assert "5   83%  lost in rerank" in words
    assert "Keep more of the retrieved" in words


def test_a_models_finding_is_kept_and_shown(
    dsn: str,
    lost: Client,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As an event in the trail, by whoever asked for it; `show` has the cause."""
    with EndpointServer(
        [text(finding("Invented, from nowhere.")), text(finding(ANSWER))]
    ) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        told = explained(dsn, capsys, "--llm", "--model", "m-1", "--by", "ann")

    assert (told["finding"]["cause"], told["turns"]) == ("The reranker drops it.", 2)
    assert told["tokens"] > 0
    event = events_of(lost, FIRST)[-1]
    assert (event.actor, event.kind) == ("ann", "cause")
    assert event.note.startswith("m-1, 2 turns, ")
    assert json.loads(event.value) == {**told["finding"], "model": "m-1", "trace_id": ""}
    main(["issues", "show", "ab", "--dsn", dsn])
    shown = capsys.readouterr().out
    assert re.search(r"cause +The reranker drops it\.", shown)
    assert re.search(r"immediate fix +Keep five\.", shown)


def test_one_trace_is_explained_alone(
    dsn: str,
    lost: Client,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its finding stands in the history, and is not the cause of the issue."""
    trace_id = f"{1:032x}"
    with EndpointServer([text(finding(ANSWER))]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        told = explained(dsn, capsys, "--llm", "--model", "m-1", "--trace", trace_id)

    assert (told["failures"], told["finding"]["cause"]) == (1, "The reranker drops it.")
    event = events_of(lost, FIRST)[-1]
    assert (event.kind, json.loads(event.value)["trace_id"]) == ("trace_cause", trace_id)
    assert main(["issues", "explain", "ab", "--dsn", dsn, "--trace", "f" * 32]) == 2
    assert "expected the id of one of the issue's traces" in capsys.readouterr().err


def test_due_issues_are_explained_once_and_again_after_a_regression(
    lost: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those with the most claims first, at most as many as the limit; closed ones never."""
    other = failing(lost, trace(7, ANSWER, found=[TRIAL]), nearest=TRIAL)
    store_issue(lost, [other], number=SECOND_ID, is_stored=True, at_ns=1)
    with EndpointServer([text(finding(ANSWER))] * 2) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("RT4CHART_JUDGE_MODEL", "m-1")
        settings = load(JudgeSettings)
        now_ns = time.time_ns()
        first = [one.id for one in explain_due_issues(lost, settings, limit=1, now_ns=now_ns)]
        record_events(lost, [IssueEvent(SECOND_ID, now_ns, "state", "resolved", actor="ann")])

        assert first == [FIRST]
        assert due_issues(lost, now_ns=now_ns + 1) == []

        record_events(lost, [IssueEvent(FIRST, now_ns + 1, "state", "regressed")])
        assert [one.id for one in due_issues(lost, now_ns=now_ns + 2)] == [FIRST]
        again = explain_due_issues(lost, settings, limit=9, now_ns=now_ns + 2)
        assert [one.id for one in again] == [FIRST]

    assert [one.kind for one in events_of(lost, FIRST)].count("cause") == 2


def test_an_attempt_without_a_finding_is_repeated_after_a_day(
    lost: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that is away must not be asked after every run."""
    monkeypatch.setenv("RT4CHART_JUDGE_RETRIES", "0")
    now_ns = time.time_ns()
    with EndpointServer([error(500, "unwell")]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        list(explain_due_issues(lost, load(JudgeSettings), limit=3, now_ns=now_ns))

    assert events_of(lost, FIRST)[-1].kind == "no_cause"
    assert due_issues(lost, now_ns=now_ns + 1) == []
    assert [one.id for one in due_issues(lost, now_ns=now_ns + RETRY_NS + 1)] == [FIRST]


def test_a_model_that_is_away_leaves_what_needs_none(
    dsn: str,
    lost: Client,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Status 1, and the reason on stderr; the key is in neither."""
    monkeypatch.setenv("RT4CHART_JUDGE_RETRIES", "0")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hush-hush")
    with EndpointServer([error(500, "sk-hush-hush is unwell")]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert main(["issues", "explain", "ab", "--llm", "--dsn", dsn]) == 1

    told = capsys.readouterr()
    assert "lost in rerank" in told.out
    assert "no finding: gpt-4o-mini: 500" in told.err
    assert "hush-hush" not in told.out + told.err
    event = events_of(lost, FIRST)[-1]
    assert event.kind == "no_cause"
    assert "hush-hush" not in event.value
