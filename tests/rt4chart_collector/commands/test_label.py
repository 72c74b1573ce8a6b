"""`rt4chart label` on a stored database."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from otel_rt4chart.cli import main
from rt4chart_collector.store.answers.spans import insert_spans
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.labels.draws import latest_draw
from rt4chart_collector.store.labels.trusted_labels import RaterKind, labels_in
from tests.rt4chart_collector.commands.test_commands import recent
from tests.rt4chart_collector.pipeline.line import BAD, GOOD

Run = Callable[..., int]


@pytest.fixture
def run(dsn: str, client: Client, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A command on a database with ten answers of just now, judged by the rules."""
    monkeypatch.delenv("RT4CHART_JUDGE", raising=False)
    for number in range(1, 11):
        insert_spans(client, recent(number, BAD if number % 2 else GOOD))
    main(["backfill", "--judge", "rules", "--since", "1h", "--dsn", dsn])
    return lambda *argv: main([*argv, "--dsn", dsn])


def stand_in(client: Client, verifier: str = "weak/1") -> None:
    """Give the verdicts of the rules to another judge, so that the rules may check it."""
    for table in ("rt4chart_verifications", "rt4chart_claims", "rt4chart_route_5m"):
        client.command(
            f"INSERT INTO {table} SELECT * REPLACE ('{verifier}' AS VerifierId) "  # noqa: S608
            f"FROM (SELECT * FROM {table} {'' if table.endswith('5m') else 'FINAL'} "
            "WHERE startsWith(VerifierId, 'rules/'))"
        )


def test_a_trusted_judge_labels_and_the_status_shows_it(
    client: Client, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """The draw, the labels under the judge's name, then the rates in words and in JSON."""
    stand_in(client)
    capsys.readouterr()

    code = run("label", "--judge", "rules", "--verifier", "weak/1", "--n", "8")
    told = capsys.readouterr().out
    status = run("label", "--status", "--json")
    figures = json.loads(capsys.readouterr().out)
    run("label", "--status")
    words = capsys.readouterr().out

    labels = labels_in(client, QueryScope())
    (route,) = figures["routes"]
    assert (code, status) == (0, 0)
    assert told.startswith("8 labels by rules/")
    assert {(one.kind, one.verifier) for one in labels} == {(RaterKind.JUDGE, "weak/1")}
    assert (figures["verifier"], route["labels"], route["pending"]) == ("weak/1", 8, 2)
    assert (route["more_labels"], route["corrected"]["rate"]) == (12, None)
    assert "corrected unknown: too few answers for a corrected rate" in words
    assert "no claim has labels of two raters: their agreement is unknown" in words


def test_the_status_says_what_the_labels_say_of_another_verifier(
    client: Client, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """Labels are of claims: those of a draw count for every verifier that has the same claims."""
    stand_in(client)
    run("label", "--judge", "rules", "--verifier", "weak/1", "--n", "8")
    stand_in(client, "new/2")
    capsys.readouterr()

    run("label", "--status", "--verifier", "new/2", "--json")
    figures = json.loads(capsys.readouterr().out)
    run("label", "--status", "--verifier", "new/2")
    words = capsys.readouterr().out
    run("label", "--status", "--verifier", "newer/3")
    unknown = capsys.readouterr().out

    found = figures["by_the_same_labels"]
    (route,) = found["routes"]
    assert (figures["verifier"], found["verifier"]) == ("weak/1", "new/2")
    assert (route["labels"], route["labels_carried"], route["labels_gone"]) == (8, 8, 0)
    assert "by the same labels, new/2:" in words
    assert "8 of them were given on the same claims of another verifier" in words
    assert "newer/3 has judged none of these answers: rt4chart backfill" in unknown


def test_a_judge_that_labels_nothing_fails(
    client: Client, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """The passages that it would need were deleted; it says so."""
    stand_in(client)
    client.command("TRUNCATE TABLE otel_traces")

    assert run("label", "--judge", "rules", "--verifier", "weak/1", "--n", "3") == 1
    told = capsys.readouterr().out
    assert told.startswith("0 labels by rules/")
    assert "not labelled: " in told


def test_labels_go_out_and_come_back(
    client: Client, run: Run, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """An export is imported again; a refused row makes the exit status 1."""
    stand_in(client)
    run("label", "--judge", "rules", "--verifier", "weak/1", "--n", "3")
    file = tmp_path / "labels.jsonl"
    capsys.readouterr()

    codes = [run("label", "--export", str(file)), run("label", "--import", str(file))]
    told = capsys.readouterr().out
    file.write_text('{"id": "0/0/0", "label": "good"}')
    codes.append(run("label", "--import", str(file)))

    assert codes == [0, 0, 1]
    assert "0 labels imported (rt4chart), 3 were there already" in told
    assert "refused: 1 × unknown label 'good'" in capsys.readouterr().out


def test_without_a_draw_there_is_no_status(
    client: Client, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is drawn by looking; without a terminal nobody is asked."""
    assert run("label", "--status") == 2
    assert "no claims were drawn yet" in capsys.readouterr().err
    assert run("label", "--judge", "rules") == 2
    assert "expected another judge than rules/" in capsys.readouterr().err
    assert run("label", "--route", "nowhere", "--judge", "rules") == 2
    assert "on the route 'nowhere'" in capsys.readouterr().err
    client.command("DROP TABLE rt4chart_labels")
    assert run("label", "--status") == 2
    assert "has no table rt4chart_labels" in capsys.readouterr().err


def test_the_last_draw_is_continued(client: Client, run: Run) -> None:
    """As long as it has claims for the rater; --draw and --seed make a new one."""
    stand_in(client)
    scope, label = QueryScope(), ("label", "--judge", "rules", "--verifier", "weak/1")
    run(*label, "--n", "3", "--size", "6")
    first = latest_draw(client, scope)
    run(*label, "--n", "3")
    same = latest_draw(client, scope)
    run(*label, "--n", "3")
    longer = latest_draw(client, scope)
    run(*label, "--n", "1", "--seed", "other")
    other = latest_draw(client, scope)

    assert first is not None
    assert longer is not None
    assert other is not None
    assert same == first
    assert (len(first.queue), len(longer.queue)) == (6, 10)
    assert other.routes[0].seed == "other"
    assert [row.id for row in longer.queue][:6] == [row.id for row in first.queue]


@pytest.mark.e2e
def test_a_person_labels_at_a_terminal(tmp_path: Path) -> None:
    """A real process at a real terminal: keys need no Enter, and x leaves."""
    dsn = f"chdb://{tmp_path}/db"
    script = (
        "import sys\n"
        "from tests.rt4chart_collector.commands.test_label import made\n"
        "made(sys.argv[1])\n"
    )
    subprocess.run([sys.executable, "-c", script, dsn], check=True, capture_output=True)
    rt4chart = [sys.executable, "-m", "otel_rt4chart", "label", "--dsn", dsn, "--rater", "ann"]
    pid, terminal = pty.fork()
    if not pid:
        os.environ["COLUMNS"] = "200"
        os.execv(sys.executable, rt4chart)  # noqa: S606 - our own command
    shown = ""
    for key, awaited in ((b"", "x exit"), (b"", "claim "), (b"1", "you: entailed"), (b"x", "")):
        os.write(terminal, key)
        deadline = time.monotonic() + 60
        while awaited and awaited not in shown and time.monotonic() < deadline:
            shown += os.read(terminal, 4096).decode(errors="replace")
    _, status = os.waitpid(pid, 0)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)

    assert os.waitstatus_to_exitcode(status) == 0
    assert "you: entailed; the judge: " in plain


def made(dsn: str) -> None:
    """A database with three judged answers."""
    from rt4chart_collector.store.engine.connect import connect
    from rt4chart_collector.store.schema.migrate import migrate

    with connect(dsn) as client:
        migrate(client)
        for number in range(1, 4):
            insert_spans(client, [replace(span) for span in recent(number, GOOD)])
    main(["backfill", "--judge", "rules", "--since", "1h", "--dsn", dsn])
