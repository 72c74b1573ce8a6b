from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from otel_rt4chart.cli import main
from otel_rt4chart.commands.verify import progress
from tests.endpoint_server import EndpointServer
from tests.oracle import Oracle, Truth

GOOD: list[dict[str, Any]] = [
    {"id": 1, "question": "How long?", "contexts": ["The trial lasts 14 days."],
     "answer": "The trial lasts 30 days."},
    {"id": "b", "contexts": [{"id": "doc", "text": "Dogs are welcome in the garden."}],
     "answer": "Dogs are welcome in the garden.", "route": "pets"},
    {"id": 3, "contexts": ["مرحبا. The ticket costs 3 EUR."],
     "answer": "The 👩‍👩‍👧 ticket costs 5 EUR."},
]  # fmt: skip
BROKEN = [b"not json", b'{"id": 5, "contexts": ["x"]}', b'{"id": 6, "answer": "x", "contexts": []}']


def run(tmp_path: Path, lines: list[bytes]) -> tuple[int, list[dict[str, Any]]]:
    """The exit status and the rows of `rt4chart verify`."""
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(lines))
    status = main(["verify", str(tmp_path / "in.jsonl"), "--out", str(tmp_path / "out.jsonl")])
    rows = (tmp_path / "out.jsonl").read_text("utf-8").splitlines()
    return status, [json.loads(row) for row in rows]


def test_three_good_and_three_broken_rows_give_six_rows_and_status_1(tmp_path: Path) -> None:
    """A bad row is a row with an error, and the exit status tells."""
    status, rows = run(tmp_path, [*(json.dumps(row).encode() for row in GOOD), *BROKEN])

    assert status == 1
    assert [row.get("id") for row in rows] == [1, "b", 3, None, 5, 6]
    assert [("error" in row, "label" in row) for row in rows] == [(False, True)] * 3 + [
        (True, False)
    ] * 3
    assert [row["line"] for row in rows[3:]] == [4, 5, 6]


def test_good_rows_alone_give_status_0(tmp_path: Path) -> None:
    """The status is about the rows, not about their verdicts."""
    status, rows = run(tmp_path, [json.dumps(row).encode() for row in GOOD])

    assert status == 0
    assert rows[0]["label"] == "contradicted"
    assert rows[1]["label"] == "entailed"
    assert rows[1]["route"] == "pets"


def test_offsets_are_code_points_with_emoji_and_right_to_left_text(tmp_path: Path) -> None:
    """Slicing the answer, and the passage, by the offsets gives the texts."""
    _, (row,) = run(tmp_path, [json.dumps(GOOD[2]).encode()])
    claim = row["claims"][0]
    evidence = claim["evidence"][0]

    assert str(GOOD[2]["answer"])[claim["start"] : claim["end"]].startswith("5")
    passage = GOOD[2]["contexts"][0]
    assert passage[evidence["start"] : evidence["end"]] == evidence["text"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"answer": "x", "contexts": ["\xff"]}', "expected UTF-8, byte 30 is 0xff"),
        (b"[1]", "expected a JSON object, got a list"),
        (b'{"id": ' + b"7" * 5000 + b"}", "expected one JSON object a line"),
        (
            b'{"contexts": ["x"]}',
            'expected "answer" (or "response" or "output") to be a string, got nothing',
        ),
        (b'{"answer": " ", "contexts": ["x"]}', 'expected "answer" to hold text'),
        (b'{"answer": "x"}', "to be a list of passages, got nothing"),
        (
            b'{"answer": "x",\n',
            "Expecting property name enclosed in double quotes, at column 16 of",
        ),
        (b'{"answer": "x", "contexts": []}', "got an empty list"),
        (b'{"answer": "x", "contexts": [1]}', "expected passage 1 to be a string"),
        (b'{"answer": "x", "contexts": ["y"], "question": 1}', 'expected "question"'),
    ],
)
def test_a_bad_row_says_what_was_expected_and_what_came(
    tmp_path: Path, line: bytes, expected: str
) -> None:
    """The error names the field and what to change."""
    status, (row,) = run(tmp_path, [line])

    assert status == 1
    assert expected in str(row["error"])


def test_a_passage_of_a_megabyte_is_verified_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is cut: undecided with the limit and the figure, and decided with other limits."""
    passage = "The quick brown fox jumps over the lazy dog. " * 23_000 + "The trial lasts 14 days."
    row = {"id": 1, "contexts": [passage], "answer": "The trial lasts 14 days."}

    _, (limited,) = run(tmp_path, [json.dumps(row).encode()])
    monkeypatch.setenv("RT4CHART_JUDGE_PASSAGE_CHARACTERS", "2000000")
    monkeypatch.setenv("RT4CHART_JUDGE_SENTENCES_PER_ANSWER", "50000")
    status, (out,) = run(tmp_path, [json.dumps(row).encode()])

    assert limited["label"] == "undecided"
    assert "expected at most 500,000" in json.dumps(limited)
    assert (status, out["label"]) == (0, "entailed")


def test_a_lone_surrogate_passes_through(tmp_path: Path) -> None:
    """JSON can escape what UTF-8 cannot hold; the row is still verified."""
    text = r"The trial \ud800 is free."
    row = f'{{"id": 1, "contexts": ["{text}"], "answer": "{text}"}}'

    status, (out,) = run(tmp_path, [row.encode()])

    assert (status, out["label"]) == (0, "entailed")


def test_an_unknown_judge_is_named_with_the_known_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Wrong use is status 2 and one line."""
    status = main(["verify", str(tmp_path / "in.jsonl"), "--judge", "oracle"])

    assert status == 2
    assert capsys.readouterr().err == (
        "rt4chart verify: unknown judge 'oracle': "
        "expected one of cascade, local, openai, rules, single, onnx:PATH, onnx-spans:PATH\n"
    )


def test_a_missing_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Wrong use is status 2 and one line."""
    assert main(["verify", str(tmp_path / "none.jsonl")]) == 2
    assert "cannot open" in capsys.readouterr().err


def test_the_input_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Naming the input as output is wrong use, and costs nobody their rows."""
    rows = json.dumps(GOOD[0]).encode()
    (tmp_path / "rows.jsonl").write_bytes(rows)

    status = main(
        ["verify", str(tmp_path / "rows.jsonl"), "--out", str(tmp_path / "." / "rows.jsonl")]
    )

    assert status == 2
    assert (tmp_path / "rows.jsonl").read_bytes() == rows
    assert "--out: expected a file other than the input" in capsys.readouterr().err


def test_a_missing_input_leaves_an_older_output_as_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Wrong use is told in one line, before anything is written."""
    (tmp_path / "out.jsonl").write_bytes(b"older")

    status = main(["verify", str(tmp_path / "no.jsonl"), "--out", str(tmp_path / "out.jsonl")])

    assert status == 2
    assert (tmp_path / "out.jsonl").read_bytes() == b"older"
    assert "cannot open" in capsys.readouterr().err


def test_a_model_judges_a_file_and_its_cost_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The endpoint is named by the client's own variables."""
    file, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    row = {"id": 1, "contexts": ["The pool is heated."], "answer": "The pool is warm."}
    file.write_text(json.dumps(row) + "\n")
    truth = Truth("contradicted", ("heated",), "warm", "heated")
    with EndpointServer(Oracle({"The pool is warm.": truth})) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        status = main(["verify", str(file), "--judge", "openai", "--out", str(out)])

    written = json.loads(out.read_text())
    assert status == 0
    assert (written["label"], written["judge"]) == ("contradicted", "openai/gpt-4o-mini/1.1.1.1")
    assert written["usage"]["calls"] == 2
    told = capsys.readouterr().err.splitlines()
    assert told[:2] == [
        "1 rows, 0 with an error",
        "1 claims: 0 entailed (0%), 1 contradicted (100%), 0 baseless (0%), 0 undecided (0%)",
    ]
    assert re.fullmatch(
        r"2 calls, \d+ prompt \+ \d+ completion tokens, 0\.\d{4} USD, 0 verdicts from the cache",
        told[-1],
    )


def test_a_not_a_number_and_a_byte_order_mark_are_told_apart(tmp_path: Path) -> None:
    """The one is no JSON, the other is what some editors write first."""
    file, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    good = json.dumps({"id": 1, "contexts": ["It is warm."], "answer": "It is warm."})
    file.write_text("\ufeff" + good + '\n{"id": NaN, "contexts": ["a"], "answer": "b"}\n')

    status = main(["verify", str(file), "--out", str(out)])

    first, second = map(json.loads, out.read_text().splitlines())
    assert (status, first["label"]) == (1, "entailed")
    assert "NaN is not a JSON number" in second["error"]


def test_a_source_that_has_expired_by_now_is_stale(tmp_path: Path) -> None:
    """A row without a date is of today; with one, of that day."""
    context = {"text": "The trial lasts 14 days.", "metadata": {"valid_to": "2020-01-31"}}
    row = {"contexts": [context], "answer": "The trial lasts 14 days."}
    dated = row | {"as_of": "2019-06-01"}

    _, found = run(tmp_path, [json.dumps(row).encode(), json.dumps(dated).encode()])

    stale = [any(one["name"] == "stale" for one in row["findings"]) for row in found]
    assert stale == [True, False]


@pytest.mark.parametrize(("most", "status"), [("0.5", 0), ("0.4", 1)])
def test_a_rate_above_what_is_allowed_is_status_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], most: str, status: int
) -> None:
    """The rate of the whole file, one of two here, and the summary says so."""
    file = tmp_path / "in.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in GOOD[:2]))

    assert main(["verify", str(file), "--fail-over", most]) == status

    told = capsys.readouterr().err
    assert "unfaithful rate 50.0% of 2 decided claims (95% interval " in told
    assert "misleading rate 0.0% of 2 decided claims (95% interval " in told
    line = "--fail-over 0.4: the rate of unfaithful and misleading claims is 0.5"
    assert (line in told) is bool(status)


def test_a_file_without_rows_passes_no_limit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing was verified; without a limit it is no failure."""
    file = tmp_path / "in.jsonl"
    file.touch()

    assert main(["verify", str(file), "--judge", "rules", "--fail-over", "0.5"]) == 1
    assert "--fail-over 0.5: the file has no rows" in capsys.readouterr().err
    assert main(["verify", str(file), "--judge", "rules"]) == 0


@pytest.mark.parametrize(("count", "status"), [("either", 1), ("misleading", 1), ("unfaithful", 0)])
def test_misleading_answers_fail_unless_only_unfaithful_ones_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], count: str, status: int
) -> None:
    """Every claim of the file is entailed, and one of its passages' conditions is left out."""
    text = "The policy covers outpatient MRI when prior authorization has been obtained."
    row = {"contexts": [text], "answer": "The policy covers outpatient MRI."}
    file = tmp_path / "in.jsonl"
    file.write_text(json.dumps(row) + "\n")

    options = ["--judge", "rules", "--fail-over", "0", "--count", count]
    assert main(["verify", str(file), *options]) == status

    written = capsys.readouterr()
    (claim,) = json.loads(written.out)["claims"]
    assert (claim["label"], claim["status"]) == ("entailed", "qualifier_dropped")
    assert "misleading rate 100.0% of 1 decided claims" in written.err


def test_the_answer_with_its_edits_is_in_the_row(tmp_path: Path) -> None:
    """Offsets of the edits are those of the answer."""
    text = "The policy covers outpatient MRI when prior authorization has been obtained."
    row = {"contexts": [text], "answer": "The policy covers outpatient MRI."}

    _, (found,) = run(tmp_path, [json.dumps(row).encode()])

    (edit,) = found["edits"]
    assert (found["action"], found["reason"]) == ("revise", "1 claim: restriction left out")
    assert (edit["start"], edit["end"], edit["claim"]) == (32, 32, 0)
    assert found["revised"] == text


@pytest.mark.parametrize(
    ("option", "told"),
    [
        (["--fail-over", "7%"], "expected a share from 0 to 1, got '7%'"),
        (["--fail-over", "١"], "expected a share from 0 to 1, got '١'"),
        (["--jobs", "0"], "expected an integer from 1 to 1000, got '0'"),
    ],
)
def test_an_option_that_cannot_be_meant_is_refused(
    capsys: pytest.CaptureFixture[str], option: list[str], told: str
) -> None:
    """By the parser."""
    with pytest.raises(SystemExit):
        main(["verify", "-", *option])

    assert told in capsys.readouterr().err


def test_progress_is_one_line_that_is_wiped(capsys: pytest.CaptureFixture[str]) -> None:
    """Count and rate."""
    clock = iter((0.0, 1.0, 4.0))
    with progress(lambda: next(clock)) as show:
        show(1)
        show(2)

    assert capsys.readouterr().err.split("\r\x1b[K") == [
        "", "1 rows, 1.0 a second", "2 rows, 0.5 a second", "",
    ]  # fmt: skip
