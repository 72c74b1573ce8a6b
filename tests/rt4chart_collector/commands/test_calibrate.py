"""`rt4chart calibrate` on a stored database."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from otel_rt4chart.cli import main
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.labels.recalibrations import (
    recalibration_history,
    recalibration_in_force,
)
from tests.rt4chart_collector.records import VERIFIER
from tests.rt4chart_collector.store.labels.label_rows import (
    NOW,
    SCOPE,
    draw,
    insert_answers,
    label_all,
)


def test_it_prints_a_threshold_or_how_many_labels_it_takes(
    client: Client, dsn: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the labels of the last draw; without a draw it says what to do."""
    insert_answers(client, range(1, 61))
    made = draw(client, 500)
    label_all(client, made.queue[:30], share=1.0)

    main(["calibrate", "--dsn", dsn])
    few = capsys.readouterr().out
    label_all(client, made.queue, share=1.0)
    main(["calibrate", "--dsn", dsn, "--json"])
    many = json.loads(capsys.readouterr().out)

    assert "30 labels that were drawn by chance" in few
    assert "cannot tell from which confidence on at most 20% of the flagged claims are right" in few
    # Every claim is wrong: no flagged one is right, and no entailed one is not.
    assert (many["labels"], many["flagged"]["threshold"], many["flagged"]["errors"]) == (
        180,
        0.0,
        0,
    )
    assert many["bins"] != []
    assert main(["calibrate", "--dsn", dsn, "--verifier", "other"]) == 2
    assert "no claims were drawn yet" in capsys.readouterr().err


def test_a_recalibration_is_applied_listed_and_taken_back(
    client: Client, dsn: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every claim is wrong: flagged ones are right for sure, and entailed ones are not."""
    insert_answers(client, range(1, 101))
    label_all(client, draw(client, 500).queue, share=1.0)

    assert main(["calibrate", "--dsn", dsn]) == 0
    offered = capsys.readouterr().out
    applied = main(["calibrate", "--dsn", dsn, "--apply", "--by", "ann", "--note", "release 7"])
    told = capsys.readouterr().out
    found = recalibration_in_force(client, VERIFIER)
    main(["calibrate", "--dsn", dsn, "--history"])
    history = capsys.readouterr().out
    main(["calibrate", "--dsn", dsn])
    again = capsys.readouterr().out
    assert main(["calibrate", "--dsn", dsn, "--revert", "--by", "bob"]) == 0
    back = capsys.readouterr().out

    assert "helps: rt4chart calibrate --apply" in offered
    assert applied == 0
    assert told.startswith(f"{VERIFIER}+c1 from now on: running services follow within 15 seconds")
    assert found is not None
    assert found.confidence(0.6, is_flagged=True) > 0.8
    assert found.confidence(0.6, is_flagged=False) < 0.2
    assert f"applied by ann: {VERIFIER}+c1: release 7" in history
    assert "300 labels, Brier score" in history
    # The labels were drawn before it: by them, it needs no other one now.
    assert "no recalibration: the labels do not show that other confidences would be better" in (
        again
    )
    assert back == f"{VERIFIER} again: running services follow within 15 seconds\n"
    assert recalibration_in_force(client, VERIFIER) is None


def test_labels_drawn_under_a_recalibration_are_of_the_judges_own_confidences(
    client: Client, dsn: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second one is fitted to what the judge states, and not on top of the first."""
    insert_answers(client, range(1, 101))
    label_all(client, draw(client, 500).queue, share=1.0)
    main(["calibrate", "--dsn", dsn, "--apply", "--by", "ann"])
    first = recalibration_in_force(client, VERIFIER)
    assert first is not None
    name = first.id_of(VERIFIER)
    insert_answers(client, range(1, 101), verifier=name, split=first.claims)
    label_all(client, draw(client, 500, now_ns=NOW + 1, scope=replace(SCOPE, verifier=name)).queue)
    capsys.readouterr()

    # People changed their minds: now three claims in ten are wrong.
    assert main(["calibrate", "--dsn", dsn, "--apply", "--by", "ann", "--json"]) == 0
    second = recalibration_in_force(client, VERIFIER)

    assert json.loads(capsys.readouterr().out)["verifier"] == f"{VERIFIER}+c2"
    assert second is not None
    assert second.confidence(0.75, is_flagged=False) == pytest.approx(0.7, abs=0.12)
    assert second.confidence(0.75, is_flagged=True) == pytest.approx(0.3, abs=0.12)


def test_a_curve_in_force_stays_beside_a_new_threshold(
    client: Client, dsn: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The labels give no better curve: one without any would undo what helped."""
    insert_answers(client, range(1, 101))
    label_all(client, draw(client, 500).queue, share=1.0)
    main(["calibrate", "--dsn", dsn, "--apply", "--by", "ann"])
    first = recalibration_in_force(client, VERIFIER)
    capsys.readouterr()

    assert (
        main(["calibrate", "--dsn", dsn, "--apply", "--threshold", "flagged", "--by", "bob"]) == 0
    )

    second = recalibration_in_force(client, VERIFIER)
    told = capsys.readouterr().out
    main(["calibrate", "--dsn", dsn, "--history"])
    assert first is not None
    assert second is not None
    assert second == replace(first, number=2, flagged_threshold=second.flagged_threshold)
    assert f"the curve of {VERIFIER}+c1 stays" in told
    assert "no curve" not in capsys.readouterr().out


def test_it_refuses_what_does_not_help(
    client: Client, dsn: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Too few labels, no gain, a threshold that is not proved; nothing is stored then."""
    insert_answers(client, range(1, 101))
    made = draw(client, 500)
    label_all(client, made.queue[:30])

    few = main(["calibrate", "--dsn", dsn, "--apply"])
    told_few = capsys.readouterr().out
    label_all(client, made.queue[:150], share=0.5)
    unproved = main(["calibrate", "--dsn", dsn, "--apply", "--threshold", "flagged", "--json"])
    told = json.loads(capsys.readouterr().out)

    assert (few, unproved) == (1, 1)
    assert told_few.startswith("nothing was changed:\nno recalibration: too few labels: 40 of ")
    assert told["applied"] is None
    assert told["refused"] == [
        "no threshold: too many of the labelled flagged claims are right at every confidence"
    ]
    assert recalibration_history(client) == []
    assert main(["calibrate", "--dsn", dsn, "--revert", "--verifier", VERIFIER]) == 2
    assert main(["calibrate", "--dsn", dsn, "--apply", "--route", "support"]) == 2
    assert main(["calibrate", "--dsn", dsn, "--threshold", "both"]) == 2
    errors = capsys.readouterr().err
    assert "has no recalibration: nothing to revert" in errors
    assert "a judge has one recalibration" in errors


def test_a_proved_threshold_is_applied(
    client: Client, dsn: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The verdicts below it are undecided from then on."""
    insert_answers(client, range(1, 201))
    queue = draw(client, 2000).queue
    sure = [row for row in queue if row.is_flagged and (row.confidence or 0) >= 0.5]
    unsure = [row for row in queue if row.is_flagged and (row.confidence or 0) < 0.5]
    label_all(client, sure, share=1.0)
    label_all(client, [row for row in queue if row not in sure and row not in unsure], share=0.5)
    label_all(client, unsure, share=0.0)

    assert main(["calibrate", "--dsn", dsn, "--apply", "--threshold", "flagged"]) == 0

    found = recalibration_in_force(client, VERIFIER)
    assert found is not None
    assert 0.4 <= found.flagged_threshold <= 0.52
    assert found.entailed_threshold == 0.0
    assert "flagged claims below a stated confidence of" in capsys.readouterr().out
