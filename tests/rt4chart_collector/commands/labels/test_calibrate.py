"""`rt4chart calibrate` on a stored database."""

from __future__ import annotations

import argparse
import json

import pytest

from otel_rt4chart.core.errors import InputError
from rt4chart_collector.commands.labels.calibrate import configure, execute
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.store.labels.label_rows import draw, insert_answers, label_all


def test_it_prints_a_threshold_or_how_many_labels_it_takes(
    client: Client, dsn: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the labels of the last draw; without a draw it says what to do."""
    parser = argparse.ArgumentParser()
    configure(parser)
    insert_answers(client, range(1, 61))
    made = draw(client, 500)
    label_all(client, made.queue[:30], share=1.0)

    execute(parser.parse_args(["--dsn", dsn]))
    few = capsys.readouterr().out
    label_all(client, made.queue, share=1.0)
    execute(parser.parse_args(["--dsn", dsn, "--json"]))
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
    with pytest.raises(InputError, match="no claims were drawn yet"):
        execute(parser.parse_args(["--dsn", dsn, "--verifier", "other"]))
