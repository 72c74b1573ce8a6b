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
from otel_rt4chart.judges.build import build_judge, build_verifier, settings_for_judge
from otel_rt4chart.judges.choice import check_installed, configured_judges
from otel_rt4chart.settings.application import JudgeSettings
from otel_rt4chart.verify import Exchange, Label, OnnxJudge, Passage, Verifier
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
        ("RT4CHART_CASCADE_FIRST", "onnx-spans:m", "expected local, rules or onnx:PATH; got"),
        ("RT4CHART_CASCADE_SECOND", "onnx-spans:m", "expected openai or onnx:PATH; got"),
        ("RT4CHART_CASCADE_SECOND", "single", "expected openai or onnx:PATH; got 'single'"),
    ],
)
def test_a_wrong_setting_names_its_variable(name: str, value: str, told: str) -> None:
    """What was expected, and what came."""
    with pytest.raises(SettingsError, match=f"{name}: {told}"):
        load(JudgeSettings, environ={name: value})


@pytest.mark.parametrize("name", ["onnx:", "onnx-spans:"])
def test_a_judge_without_a_path_is_unknown(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """As any other name."""
    assert main(["verify", "in.jsonl", "--judge", name]) == 2
    told = capsys.readouterr().err
    assert f"unknown judge {name!r}: expected one of" in told
    assert told.endswith("onnx:PATH, onnx-spans:PATH\n")


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


def test_the_command_verifies_with_a_detector_on_disk(detector: Path, tmp_path: Path) -> None:
    """By its path, as with a classifier; the flagged word is the range of its claim."""
    status, row = verified(tmp_path, f"onnx-spans:{detector}")

    assert (status, row["label"]) == (0, "baseless")
    assert [claim["label"] for claim in row["claims"]] == ["entailed", "baseless"]
    assert ANSWER[row["claims"][1]["start"] : row["claims"][1]["end"]] == "not"
    assert row["judge"].startswith("onnx-spans/toy-spans/")


def test_the_bench_measures_a_detector(
    detector: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its spans, and the stages that it has; it has none that could be left out."""
    judge = ["--judge", f"onnx-spans:{detector}"]

    assert main(["bench", str(BENCH), *judge, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert main(["bench", str(BENCH), *judge, "--stages"]) == 0
    assert "onnx-spans/toy-spans/" in capsys.readouterr().out
    assert main(["bench", str(BENCH), *judge, "--ablate", "all"]) == 2
    assert "asks once and has no steps or chunks to vary" in capsys.readouterr().err
    assert found["judge"].startswith("onnx-spans/toy-spans/")


def test_a_detector_is_built_by_its_name_and_named_by_the_doctor(
    detector: Path, tmp_path: Path
) -> None:
    """It is one of the judges that can run where it is in use."""
    name = f"onnx-spans:{detector}"

    assert build_judge(name).id.startswith("onnx-spans/toy-spans/")
    assert configured_judges(JudgeSettings(), name)[0] == name
    assert onnx_check(name).state == "ok"
    assert onnx_check(f"onnx-spans:{tmp_path / 'no'}").state == "failed"
    with pytest.raises(SettingsError, match="--model: expected a judge that calls a model"):
        settings_for_judge(name, "gpt")
    with pytest.raises(AssertionError, match="not heated"):
        assert_faithful("The pool is not heated.", [PASSAGE], judge=name)


def test_a_second_stage_in_this_process_needs_no_endpoint(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the first judge is not sure of goes to the model on disk."""
    settings = JudgeSettings(
        cascade_first="rules", cascade_second=f"onnx:{model}", cascade_threshold=1.0
    )
    verifier = build_verifier("cascade", settings)

    report = verifier.verify(Exchange("", [Passage("p", PASSAGE)], "Kids wander."))

    assert report.judge.startswith("cascade(rules/")
    assert {claim.decided_by.partition("/")[0] for claim in report.claims} == {"onnx"}
    assert not verifier.is_remote
    assert check_installed("cascade", settings) == "cascade"
    monkeypatch.setenv("RT4CHART_CASCADE_SECOND", f"onnx:{model}")
    main(["doctor", "--judge", "cascade"])
    assert "onnx/toy-nli/" in capsys.readouterr().out


def test_a_record_beside_the_model_says_how_to_read_it(tmp_path: Path) -> None:
    """The labels, unless the setting says them, and the text with both in place of a pair."""
    path = save_model(tmp_path / "mine", id2label={"0": "A", "1": "B", "2": "C"}, by_type=False)
    pair = OnnxJudge(path, labels="entailed,baseless,contradicted")
    record = {"labels": "entailed,baseless,contradicted", "template": "{premise} [SEP] {claim}"}
    (path / "rt4chart.json").write_text(json.dumps(record))

    recorded = OnnxJudge(path)

    exchange = Exchange("", [Passage("p", PASSAGE)], ANSWER)
    found, expected = (Verifier(one).verify(exchange).claims for one in (recorded, pair))
    assert [claim.label for claim in found] == [claim.label for claim in expected]
    assert recorded.id != pair.id
    (path / "rt4chart.json").write_text(json.dumps(record | {"template": "{claim} {premise}"}))
    with pytest.raises(SettingsError, match=r"rt4chart.json, template: expected a text with"):
        OnnxJudge(path)
