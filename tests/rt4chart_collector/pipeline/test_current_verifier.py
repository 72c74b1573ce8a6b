"""Workers follow the recalibration of their judge in the store."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_rt4chart.verify import RulesJudge, Verifier
from rt4chart_collector.pipeline.current_verifier import REFRESH_NS, CurrentVerifier
from rt4chart_collector.pipeline.recovery import PAUSE_NS
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import batch_token
from rt4chart_collector.store.labels.recalibrations import (
    RECALIBRATIONS,
    apply_recalibration,
    revert_recalibration,
)
from tests.rt4chart_collector.pipeline.line import BAD, Line
from tests.rt4chart_collector.records import SECOND
from tests.rt4chart_collector.store.labels.test_recalibrations import applied

RULES = RulesJudge().id
HALF = (("flagged", ((0.0, 0.0), (1.0, 0.5))),)


def verdicts(client: Client, trace: int) -> list[tuple[str, str, float]]:
    """Verifier, label and confidence of the claims of this answer, by verifier."""
    rows = client.query(
        "SELECT VerifierId, Label, Confidence FROM rt4chart_claims FINAL "
        "WHERE IsDeleted = 0 AND TraceId = {id:String} ORDER BY VerifierId",
        {"id": f"{trace:032x}"},
    ).result_rows
    return [(str(verifier), str(label), float(share)) for verifier, label, share in rows]


def test_new_answers_have_the_new_confidence_and_verifier(client: Client) -> None:
    """Without a restart, after fifteen seconds at most; a revert works the same way."""
    line = Line(client, Verifier(RulesJudge()))
    line.send(1, answer=BAD)
    event = replace(applied(1), judge=RULES, curves=HALF, flagged_threshold=0.0)
    apply_recalibration(client, event)
    line.now += REFRESH_NS
    line.send(2, answer=BAD)
    revert_recalibration(client, RULES, actor="ann", note="", now_ns=line.now)
    line.now += REFRESH_NS
    line.send(3, answer=BAD)

    (first,), (second,), (third,) = (verdicts(client, trace) for trace in (1, 2, 3))
    assert first[:2] == (RULES, "contradicted")
    assert second[:2] == (f"{RULES}+c1", "contradicted")
    assert second[2] == pytest.approx(first[2] / 2)
    assert third == first


def test_answers_of_the_last_day_get_the_new_verdict_too(client: Client) -> None:
    """Recovery finds them undecided by the new verifier; the former one's verdicts stay."""
    line = Line(client, Verifier(RulesJudge()))
    line.send(1, answer=BAD)
    line.after(1)
    apply_recalibration(client, replace(applied(1), judge=RULES, curves=HALF))
    line.now += REFRESH_NS
    line.send(2, answer=BAD)

    line.after(PAUSE_NS / SECOND + 1)
    line.after(1)

    assert [verifier for verifier, _, _ in verdicts(client, 1)] == [RULES, f"{RULES}+c1"]


def test_a_verdict_below_the_tested_threshold_is_undecided(client: Client) -> None:
    """And so is the answer."""
    event = replace(applied(1), judge=RULES, curves=(), flagged_threshold=1.0)
    apply_recalibration(client, event)
    line = Line(client, Verifier(RulesJudge()))

    line.send(1, answer=BAD)

    ((verifier, label, _),) = verdicts(client, 1)
    assert (verifier, label) == (f"{RULES}+c1", "undecided")
    answers = client.query("SELECT Label, VerifierId FROM rt4chart_verifications FINAL").result_rows
    assert answers == [("undecided", f"{RULES}+c1")]


def test_a_store_that_cannot_be_read_changes_nothing(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    """Nor does a row that is damaged; it is tried again later, and said in the log."""
    now = 0
    current = CurrentVerifier(Verifier(RulesJudge()), lambda: now)
    event = replace(applied(1), judge=RULES)
    RECALIBRATIONS.insert(
        client,
        [replace(event, curves=(("flagged", ((0.0, 0.9),)),))],
        token=batch_token("test", [(1,)]),
    )

    assert current.get(client).id == RULES
    assert "recalibrations not read" in caplog.text
    client.command("TRUNCATE TABLE rt4chart_recalibrations")
    apply_recalibration(client, event)
    assert current.get(client).id == RULES
    now = REFRESH_NS
    assert current.get(client).id == current.id == f"{RULES}+c1"
