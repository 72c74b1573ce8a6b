from __future__ import annotations

import io
import json
import re
import shlex
from pathlib import Path

import pytest

from otel_rt4chart.cli import main
from otel_rt4chart.commands.check import HOW
from otel_rt4chart.core import extras
from otel_rt4chart.verify.core.json_rows import MAX_LINE_BYTES
from tests.terminal import on_a_terminal

PAGE = (Path(__file__).parents[3] / "docs/start/check-an-answer.md").read_text()
ANSWER = "The trial lasts 30 days. Refunds are paid within 5 working days."
PASSAGES = ("The trial lasts 14 days.", "Refunds are paid within 5 working days if approved.")
GIVEN = ("--answer", ANSWER, "--passage", PASSAGES[0], "--passage", PASSAGES[1])


def given_on_stdin(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    """From now on, this is on standard input."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))


def row_of(capsysbinary: pytest.CaptureFixture[bytes]) -> dict[str, object]:
    """The row that was printed."""
    (line,) = capsysbinary.readouterr().out.decode().splitlines()
    found: dict[str, object] = json.loads(line)
    found.pop("usage")
    return found


def test_into_a_pipe_goes_what_verify_writes(
    tmp_path: Path,
    capsysbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From options, from files and from a row on standard input: one verdict."""
    row = json.dumps({"answer": ANSWER, "contexts": PASSAGES}).encode()
    (tmp_path / "rows.jsonl").write_bytes(row)
    (tmp_path / "answer.txt").write_text(ANSWER, "utf-8")
    (tmp_path / "passage.txt").write_text(f"\ufeff{PASSAGES[0]}", "utf-8")
    files = (f"@{tmp_path}/answer.txt", f"@{tmp_path}/passage.txt", PASSAGES[1])

    assert main(["verify", str(tmp_path / "rows.jsonl")]) == 0
    verified = row_of(capsysbinary)
    assert main(["check", *GIVEN]) == 0
    from_options = row_of(capsysbinary)
    assert main(["check", "--answer", files[0], "--passage", files[1], "--passage", files[2]]) == 0
    from_files = row_of(capsysbinary)
    given_on_stdin(monkeypatch, row)
    assert main(["check"]) == 0
    from_row = row_of(capsysbinary)

    assert verified["label"] == "contradicted"
    assert verified == from_options == from_files == from_row


def test_a_terminal_shows_the_words_that_are_wrong() -> None:
    """Underlined in the answer, marked in the passage; with the reason and what to do."""
    status, shown = on_a_terminal("check", *GIVEN)

    assert status == 0
    first, _, answer = shown.splitlines()[:3]
    assert "contradicted: 1 of 2 decided claims is not supported, 1 is supported" in first
    assert "The trial lasts \x1b[4;31m30 days\x1b[0m." in answer
    assert "claimed “30 days”, found “14 days”" in shown
    assert "The trial lasts \x1b[4;1m14 days\x1b[0m." in shown
    assert "restriction left out" in shown
    assert "\x1b[4;1mif approved\x1b[0m" in shown
    assert "What to do: Revise the answer" in shown
    assert "The trial lasts 14 days. Refunds are paid within 5 working days if" in shown


def test_the_page_shows_what_comes_out() -> None:
    """The command of docs/start/check-an-answer.md, its output, and every option."""
    (command,) = re.findall(r"```console\n\$ rt4chart (.*?)\n```", PAGE, flags=re.DOTALL)
    (expected,) = re.findall(r"```text\n(.*?)```", PAGE, flags=re.DOTALL)
    _, shown = on_a_terminal(*shlex.split(command), environ={"NO_COLOR": "1"})
    _, told = on_a_terminal("check", "--help")

    def lasting(text: str) -> str:
        return re.sub(r"\d+% confidence|/\S+", "", text)

    assert lasting(shown) == lasting(expected)
    options = set(re.findall(r"--[a-z]+", told)) - {"--help"}
    assert [option for option in options if f"`{option}" not in PAGE] == []


def test_a_terminal_without_colours_shows_brackets() -> None:
    """NO_COLOR, and not one escape sequence."""
    status, shown = on_a_terminal("check", *GIVEN, environ={"NO_COLOR": "1"})

    assert status == 0
    assert "\x1b" not in shown
    assert "The trial lasts [30 days]." in shown
    assert "days [if approved]." in shown


def test_a_terminal_gets_json_if_asked() -> None:
    """The row, whole."""
    status, shown = on_a_terminal("check", *GIVEN, "--json")

    assert status == 0
    assert json.loads(shown)["label"] == "contradicted"


def test_a_text_commands_no_terminal() -> None:
    """Escape sequences and characters that turn text around are blanks."""
    bad = "The trial\x1b[2J\x1b]0;owned\x07 lasts \u202e30 days."
    _, shown = on_a_terminal("check", "--answer", bad, "--passage", bad.replace("30", "14"))

    assert "\x1b[2J" not in shown
    assert "\x1b]" not in shown
    assert "\u202e" not in shown


def test_without_arguments_a_terminal_is_told_how_in_three_lines() -> None:
    """Texts, files, a row."""
    status, shown = on_a_terminal("check")

    assert (status, shown) == (2, HOW)
    assert len(HOW.splitlines()) == 3


def test_an_argument_may_begin_with_an_at_sign(
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    """Written twice."""
    passage = "@team is on call."

    assert main(["check", "--answer", f"@{passage}", "--passage", f"@{passage}"]) == 0
    assert row_of(capsysbinary)["label"] == "entailed"


def test_an_answer_that_nothing_fails_in_is_accepted() -> None:
    """In words, with nothing marked."""
    status, shown = on_a_terminal("check", "--answer", PASSAGES[0], "--passage", PASSAGES[0])

    assert status == 0
    assert "entailed: 1 decided claim, supported" in shown
    assert "What to do: Accept the answer" in shown
    assert "\x1b[4" not in shown


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--answer", " ", "--passage", "x"), "--answer: expected text, got an empty one"),
        (("--answer", "x"), "expected --passage TEXT, got none"),
        (("--answer", "x", "--passage", " "), "expected --passage TEXT, got none"),
        (("--passage", "x"), "expected --answer TEXT, got none"),
        (("--answer", "x" * 50_001, "--passage", "x"), "raise RT4CHART_JUDGE_ANSWER_CHARACTERS"),
        (
            ("--answer", "x", *("--passage", "x" * 400_000) * 2),
            "passages: expected at most 500,000 characters, got 800,000",
        ),
        (("--answer", "@/nowhere", "--passage", "x"), "cannot open /nowhere: No such file"),
        (("--answer", "x", "--passage", "y", "--judge", "oracle"), "unknown judge 'oracle'"),
        (
            ("--answer", "x", "--passage", "y", "--judge", "openai"),
            "--judge openai: it has no endpoint: set OPENAI_API_KEY",
        ),
    ],
)
def test_what_is_missing_is_said_in_one_line(
    arguments: tuple[str, ...],
    told: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With what to do, and status 2."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)

    assert main(["check", *arguments]) == 2

    error = capsys.readouterr().err
    assert re.fullmatch(r"rt4chart check: [^\n]+\n", error)
    assert told in error


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", 'or a row {"answer", "contexts"} on standard input'),
        (b"{", "expected one JSON object a line"),
        (b'{"answer": "x", "contexts": []}', "got an empty list"),
        (b"x" * (MAX_LINE_BYTES + 1), "expected at most 64 MiB, got more"),
    ],
    ids=["empty", "no JSON", "no passages", "too large"],
)
def test_a_row_that_cannot_be_read_is_an_error_in_one_line(
    content: bytes, told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a file."""
    given_on_stdin(monkeypatch, content)

    assert main(["check"]) == 2

    error = capsys.readouterr().err
    assert re.fullmatch(r"rt4chart check: [^\n]+\n", error)
    assert told in error


def test_a_judge_without_its_models_is_not_replaced_in_silence(
    capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was asked for is an error; the default says that it is the rules, and why."""
    lacking = {**extras.EXTRAS, "local": ("a_package_that_nobody_has",)}
    monkeypatch.setattr(extras, "EXTRAS", lacking)

    assert main(["check", *GIVEN, "--judge", "local"]) == 2
    refused = capsysbinary.readouterr().err.decode()
    assert main(["check", *GIVEN]) == 0
    shown = capsysbinary.readouterr()

    assert "--judge local: a_package_that_nobody_has is not installed: pip install" in refused
    assert str(json.loads(shown.out)["judge"]).startswith("rules/")
    assert "the judge is rules, which finds less than local" in shown.err.decode()


def test_a_judge_that_does_not_answer_is_status_1(
    capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The claims are undecided, and a line says how to test the judge."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("RT4CHART_JUDGE_RETRIES", "0")

    assert main(["check", *GIVEN, "--judge", "openai"]) == 1

    shown = capsysbinary.readouterr()
    assert json.loads(shown.out)["label"] == "undecided"
    assert "rt4chart doctor --judge openai" in shown.err.decode()


@pytest.fixture
def criteria(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rules, one of which the answer fails."""
    file = tmp_path / "criteria.toml"
    file.write_text(
        '[[criteria]]\nname = "cites"\nkind = "must_cite"\n'
        '[[criteria]]\nname = "days"\nkind = "regex"\nmust_match = "days"\n'
    )
    monkeypatch.setenv("RT4CHART_CRITERIA", str(file))


@pytest.mark.usefixtures("criteria")
def test_the_answer_is_judged_by_the_criteria(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """In the row, and the same in a file of rows, whose summary counts them."""
    main(["check", *GIVEN, "--judge", "rules"])
    found = row_of(capsysbinary)["criteria"]
    row = {"answer": ANSWER, "contexts": PASSAGES}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row))
    main(["verify", str(tmp_path / "rows.jsonl"), "--judge", "rules"])
    printed = capsysbinary.readouterr()

    assert isinstance(found, list)
    assert [(one["name"], one["outcome"]) for one in found] == [("cites", "fail"), ("days", "pass")]
    assert json.loads(printed.out)["criteria"] == found
    assert b"cites: 1 of 1 answers fail (100.0%, 95% interval" in printed.err


@pytest.mark.usefixtures("criteria")
def test_a_terminal_shows_the_criteria_before_what_to_do() -> None:
    """With the reason of each."""
    status, shown = on_a_terminal("check", *GIVEN, "--judge", "rules", environ={"NO_COLOR": "1"})

    assert status == 0
    lines = [line.strip() for line in shown.splitlines()]
    at = lines.index("Criteria")
    assert lines[at + 1 : at + 5] == [
        "fail cites",
        "→ 0 citations of retrieved passages, at least 1 expected",
        "pass days",
        "→ “days” matches must_match",
    ]
