from __future__ import annotations

import json
from pathlib import Path

from tests.terminal import COLUMNS, on_a_terminal

ROWS = [
    {"id": "refund", "contexts": ["The trial lasts 14 days. Refunds are paid within 5 working days "
     "if approved."], "answer": "The trial lasts 30 days. Refunds are paid within 5 working days."},
    {"id": "a\x1b[2J\u202e" + "x" * 40, "contexts": ["The trial lasts 14 days."],
     "answer": "The trial lasts 14 days."},
    {"id": "bad"},
    {"contexts": ["The trial lasts 14 days."], "answer": "Is it free?"},
]  # fmt: skip


def test_a_terminal_shows_rows_as_a_table(tmp_path: Path) -> None:
    """What failed stands beside its answer, an error below its row; no line is too long."""
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))

    status, shown = on_a_terminal(
        "verify", str(tmp_path / "in.jsonl"), "--judge", "rules", environ={"NO_COLOR": "1"}
    )

    table = shown.partition("4 rows")[0]
    lines = table.splitlines()
    assert status == 1
    assert lines[0].split() == ["row", "verdict", "failed", "what"]
    assert lines[1].split()[:6] == ["refund", "contradicted", "2", "of", "2", "contradicted:"]
    assert lines[2].split()[:3] == ["restriction", "left", "out:"]
    assert lines[3].split()[-4:] == ["entailed", "0", "of", "1"]
    assert lines[4].split() == ["bad", "error"]
    assert 'expected "answer"' in lines[5]
    assert lines[6].split() == ["#4", "no", "claims", "0", "of", "0"]
    assert max(map(len, lines)) <= COLUMNS
    assert "\x1b" not in table
    assert "\u202e" not in table


def test_a_terminal_gets_json_lines_if_asked(tmp_path: Path) -> None:
    """One for each row, before the summary."""
    (tmp_path / "in.jsonl").write_text(json.dumps(ROWS[0]) + "\n")

    _, shown = on_a_terminal("verify", str(tmp_path / "in.jsonl"), "--json", "--judge", "rules")

    assert json.loads(shown.splitlines()[0])["label"] == "contradicted"
