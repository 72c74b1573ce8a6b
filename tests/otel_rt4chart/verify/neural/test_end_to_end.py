from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from otel_rt4chart.cli import main
from otel_rt4chart.commands.doctor import core_checks, onnx_check
from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.settings import load
from otel_rt4chart.faithful import assert_faithful
from otel_rt4chart.judges.build import build_judge, build_verifier
from otel_rt4chart.settings.application import JudgeSettings
from otel_rt4chart.verify import Exchange, Label, Passage
from tests.endpoint_server import EndpointServer
from tests.oracle import Oracle, Truth
from tests.otel_rt4chart.verify.neural.made import save_model

BENCH = Path(__file__).parents[3] / "data/bench"
PASSAGE = "The free trial lasts 14 days. The pool is heated."
DOUBTFUL = "The free trial lasts 14 days and nine."  # the model gives it less than .99
ANSWER = "The free trial lasts 14 days. The pool is not heated."


def verified(tmp_path: Path, judge: str) -> tuple[int, dict[str, Any]]:
    """The exit status and the one row of `rt4chart verify`."""
    file, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    file.write_text(json.dumps({"id": 1, "contexts": [PASSAGE], "answer": ANSWER}) + "\n")
    status = main(["verify", str(file), "--judge", judge, "--out", str(out)])
    return status, json.loads(out.read_text())


def test_the_command_verifies_with_a_model_on_disk(model: Path, tmp_path: Path) -> None:
    """By its path; without a key, and without anything that it costs."""
    status, row = verified(tmp_path, f"onnx:{model}")

    assert (status, row["label"]) == (0, "contradicted")
    assert [claim["label"] for claim in row["claims"]] == ["entailed", "contradicted"]
    assert row["claims"][1]["evidence"][0]["text"] == "The pool is heated."
    assert row["judge"].startswith("onnx/toy-nli/")


def test_the_settings_reach_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels, threads, threshold."""
    path = save_model(tmp_path, id2label={"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"})
    monkeypatch.setenv("RT4CHART_ONNX_LABELS", "contradicted,baseless,entailed")
    monkeypatch.setenv("RT4CHART_ONNX_THREADS", "1")
    monkeypatch.setenv("RT4CHART_ONNX_THRESHOLD", "0.5")

    _, row = verified(tmp_path, f"onnx:{path}")

    assert [claim["label"] for claim in row["claims"]] == ["contradicted", "entailed"]


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("RT4CHART_ONNX_THREADS", "-1", "expected a number from 0 to 256; got '-1'"),
        ("RT4CHART_ONNX_THRESHOLD", "2", "expected a number from 0 to 1; got '2'"),
        ("RT4CHART_CASCADE_FIRST", "openai", "expected local, rules or onnx:PATH; got 'openai'"),
        ("RT4CHART_CASCADE_FIRST", "onnx:", "expected local, rules or onnx:PATH; got 'onnx:'"),
    ],
)
def test_a_wrong_setting_names_its_variable(name: str, value: str, told: str) -> None:
    """What was expected, and what came."""
    with pytest.raises(SettingsError, match=f"{name}: {told}"):
        load(JudgeSettings, environ={name: value})


def test_a_judge_without_a_path_is_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    """As any other name."""
    assert main(["verify", "in.jsonl", "--judge", "onnx:"]) == 2
    assert "unknown judge 'onnx:': expected one of" in capsys.readouterr().err


def test_a_model_that_is_not_there_is_wrong_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Told in one line before a row is read."""
    assert main(["verify", "in.jsonl", "--judge", f"onnx:{tmp_path / 'no'}"]) == 2
    assert capsys.readouterr().err == (
        f"rt4chart verify: {tmp_path / 'no'}: "
        "expected a folder or an .onnx file, found nothing there\n"
    )


def test_in_a_cascade_it_goes_first(model: Path) -> None:
    """What it is sure of stays; the rest goes to the endpoint."""
    truth = Truth("contradicted", ("heated",))
    with EndpointServer(Oracle({DOUBTFUL: truth})) as server:
        settings = JudgeSettings(
            base_url=server.base_url,
            model="m",
            cascade_first=f"onnx:{model}",
            cascade_threshold=0.9,
        )
        report = build_verifier("cascade", settings).verify(
            Exchange("", [Passage("p", PASSAGE)], f"{ANSWER} The warm pool is heated.")
        )

    assert [claim.label for claim in report.claims][:2] == [Label.ENTAILED, Label.CONTRADICTED]
    deciders = [claim.decided_by.partition("/")[0] for claim in report.claims]
    assert deciders == ["onnx", "onnx", "openai"]
    assert report.usage.calls == 1
    assert report.judge.startswith("cascade(onnx/toy-nli/")


def test_the_bench_measures_it(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As any other judge, stage by stage."""
    assert main(["bench", str(BENCH), "--judge", f"onnx:{model}", "--stages"]) == 0
    assert "onnx/toy-nli/" in capsys.readouterr().out


def test_an_assertion_is_made_with_it(model: Path) -> None:
    """By its name."""
    assert_faithful("The pool is heated.", [PASSAGE], judge=f"onnx:{model}")
    with pytest.raises(AssertionError, match="not heated"):
        assert_faithful("The pool is not heated.", [PASSAGE], judge=f"onnx:{model}")


def test_the_doctor_opens_the_model_that_was_chosen(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By name, and as a cascade's first; a wrong order of its labels is seen."""
    monkeypatch.setenv("RT4CHART_CASCADE_FIRST", f"onnx:{model}")
    found = [one for one in core_checks() if one.name == "judge onnx"]
    missing = onnx_check(f"onnx:{tmp_path / 'no'}")
    monkeypatch.setenv("RT4CHART_ONNX_LABELS", "contradicted,baseless,entailed")
    (turned,) = [one for one in core_checks() if one.name == "judge onnx"]

    assert [one.state for one in (*found, missing)] == ["ok", "failed"]
    assert "found nothing there" in missing.detail
    assert turned.state == "failed"
    assert "RT4CHART_ONNX_LABELS" in turned.fix


def test_it_is_built_by_its_name(model: Path) -> None:
    """With a path that begins in the user's home, too."""
    assert build_judge(f"onnx:{model}").id.startswith("onnx/toy-nli/")
    with pytest.raises(SettingsError, match=str(Path.home())):
        build_judge("onnx:~/no-such-model")
