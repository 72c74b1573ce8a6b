"""The paper's protocol by `rt4chart bench`: variants, repeats, resuming, comparing, the page."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from otel_rt4chart.cli import main
from tests.endpoint_server import Answer, EndpointServer, Seen, error, text
from tests.oracle import Oracle
from tests.otel_rt4chart.bench.conflict_rows import write_rows

BUNDLED = str(Path(__file__).parents[2] / "data/bench")
RULES = ["bench", BUNDLED, "--judge", "rules"]


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """The JSON of a call that succeeds."""
    assert main([*arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_conflict_cases_and_their_evidence_are_tables_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of RAGTruth's own form, whose notes quote the source."""
    main(["bench", str(write_rows(tmp_path)), "--judge", "rules"])
    out = capsys.readouterr().out

    assert "conflict cases        2" in out
    assert "subtle conflict" in out
    assert "characters                  " in out.partition("refuting evidence")[2]


def test_a_data_set_without_quotations_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """In place of the table."""
    main(RULES)

    out = capsys.readouterr().out
    assert "not measured: the labels of this data set quote no evidence" in out


def test_each_variant_is_run_and_compared_with_the_full_pipeline(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every run has its own answers."""
    values = printed(capsys, *RULES, "--ablate", "local,decomposition", "--window", "10,25",
                     "--overlap", "5,10")  # fmt: skip

    runs = values["runs"]
    assert [run["variant"] for run in runs] == [
        "full pipeline",
        "without local",
        "without decomposition",
        "window 10, overlap 5",
        "window 25, overlap 5",
    ]
    assert runs[1]["left_out"] == ["local"]
    assert (runs[3]["window"], runs[3]["overlap"]) == (10, 5)
    assert [len(run["answers"]) for run in runs] == [6] * 5
    assert set(values["against_full"]) == {run["variant"] for run in runs[1:]}


def test_a_pair_that_does_not_fit_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """It is not dropped in silence."""
    main([*RULES, "--window", "5,25"])

    assert "not run: window 5 with overlap 10" in capsys.readouterr().err


def flaky() -> Oracle:
    """A model that says of each claim that it is in no passage."""
    return Oracle({})


def test_repeats_ask_again_and_print_mean_and_spread(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of verdicts from an earlier run would make every repeat the same."""
    monkeypatch.setenv("RT4CHART_JUDGE_CACHE", str(tmp_path / "verdicts"))
    oracle = flaky()
    with EndpointServer(oracle) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        values = printed(
            capsys, "bench", BUNDLED, "--judge", "openai", "--limit", "2", "--repeats", "3"
        )
        costs = [run["cost"] for run in values["runs"]]

    assert [run["repeat"] for run in values["runs"]] == [1, 2, 3]
    assert len({cost["calls"] for cost in costs}) == 1
    assert costs[2]["calls"] > 0
    assert {cost["cache_hits"] for cost in costs} == {0}
    assert sum(cost["calls"] for cost in costs) == len(server.seen)
    assert costs[0]["cost_usd"] > 0
    assert values["repeats"]["full pipeline"]["F1"]["deviation"] == 0.0


def test_a_run_that_broke_off_is_continued(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers on which the endpoint failed are asked again, the others are not."""
    oracle, down = flaky(), [False]

    def script(seen: Seen) -> Answer:
        return error(500, "down") if down[0] else text(json.dumps(oracle.reply(seen)))

    monkeypatch.setenv("RT4CHART_JUDGE_RETRIES", "0")
    call = ["bench", BUNDLED, "--judge", "openai", "--resume", str(tmp_path / "run.jsonl")]
    with EndpointServer(script) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        main([*call, "--limit", "1"])
        down[0] = True
        assert main(call) == 1
        told = capsys.readouterr().err
        down[0], before = False, len(server.seen)
        values = printed(capsys, *call)
        asked = len(server.seen) - before
        again = printed(capsys, *call)

    assert "run the same command again to continue" in told
    assert values["overall"]["answers"] == 6
    assert asked == sum(run["cost"]["calls"] for run in values["runs"]) - 2
    assert again["overall"] == values["overall"]
    assert len(server.seen) == before + asked


def test_reasons_are_those_of_the_first_run_however_often_it_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not of all variants together, and not of the answers alone that were judged just now."""
    folder, file = tmp_path / "data", str(tmp_path / "run.jsonl")
    folder.mkdir()
    source = {"source_id": "1", "task_type": "QA", "source_info": {"question": "?", "passages": ""}}
    response = {"id": "1", "source_id": "1", "split": "dev", "labels": [], "response": "It is so."}
    (folder / "source_info.jsonl").write_text(json.dumps(source))
    (folder / "response.jsonl").write_text(json.dumps(response))
    call = ["bench", str(folder), "--judge", "rules"]

    told = [
        printed(capsys, *call, *options)["undecided_reasons"]
        for options in ([], ["--ablate", "all"], ["--resume", file], ["--resume", file])
    ]

    assert told == [{"no_context": 1}] * 4


def test_two_outputs_are_compared_answer_by_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same answers, and the two judges' names."""
    for name, judge in (("a", "rules"), ("b", "local")):
        main(["bench", BUNDLED, "--judge", judge, "--json"])
        (tmp_path / name).write_text(capsys.readouterr().out)
    files = [str(tmp_path / "a"), str(tmp_path / "b")]

    assert main(["bench", "--compare", *files]) == 0
    out = capsys.readouterr().out
    values = printed(capsys, "bench", "--compare", *files)

    assert out.startswith("A: rules/")
    assert "McNemar's exact test: p = 1" in out
    assert (values["answers"], values["unshared"]) == (6, 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bench"], "expected DIR, the folder with the labelled answers, or --compare"),
        (["bench", "--compare", "/none", "/none"], "expected the output of rt4chart bench --json"),
        ([*RULES, "--ablate", "linking"], "--ablate: expected some of local"),
        ([*RULES, "--html", "/nowhere/a.html"], "--html: expected a file in a folder that exists"),
        ([*RULES, "--stages", "--resume", "/tmp/none.jsonl"], "read what --resume does not keep"),
        (
            ["bench", BUNDLED, "--judge", "single", "--ablate", "local"],
            "asks once and has no steps",
        ),
    ],
)
def test_wrong_use_is_one_line(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With status 2, before anything is verified."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    assert main(arguments) == 2

    assert message in capsys.readouterr().err


class Page(HTMLParser):
    """What a page has, and what it would load."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note it."""
        self.tags.append(tag)
        self.loads += [f"{tag} {name}" for name, _ in attrs if name in ("src", "href", "data")]


def test_the_page_has_curves_and_loads_nothing(tmp_path: Path) -> None:
    """No script, no link, and a policy that forbids both."""
    page = tmp_path / "bench.html"
    main([*RULES, "--window", "15,25", "--ablate", "local", "--html", str(page)])
    written = page.read_text("utf-8")
    read = Page()
    read.feed(written)

    assert read.tags.count("svg") == 4
    assert "script" not in read.tags
    assert read.loads == []
    assert "default-src 'none'" in written
    assert "prefers-color-scheme: dark" in written


def test_names_of_the_data_are_escaped_on_the_page(tmp_path: Path) -> None:
    """A task may be named anything."""
    write_rows(tmp_path)
    sources = tmp_path / "source_info.jsonl"
    sources.write_text(sources.read_text().replace('"Summary"', '"<script>alert(1)</script>"'))
    page = tmp_path / "bench.html"

    main(["bench", str(tmp_path), "--judge", "rules", "--html", str(page)])

    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.read_text("utf-8")
    assert "<script" not in page.read_text("utf-8")
