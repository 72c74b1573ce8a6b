from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import constants

from otel_rt4chart.cli import main
from otel_rt4chart.hub.catalogue import MODELS, find
from otel_rt4chart.judges.build import build_judge
from otel_rt4chart.settings.application import JudgeSettings
from tests.otel_rt4chart.hub.stand_in import Repository, StandInHub, repository
from tests.otel_rt4chart.verify.neural.made import save_model
from tests.otel_rt4chart.verify.neural.made_spans import save_detector

SPANS, PAIR = find("lettucedetect-large"), find("minicheck-deberta-large")


def with_architecture(folder: Path, architecture: str, commit: str) -> Repository:
    """The folder's files as a repository of that class."""
    config = json.loads((folder / "config.json").read_text())
    config |= {"architectures": [architecture], "id2label": {"0": "LABEL_0", "1": "LABEL_1"}}
    (folder / "config.json").write_text(json.dumps(config))
    return repository(folder, commit=commit)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandInHub]:
    """A hub with made models where those of the catalogue are, in place of the real one."""
    detector = save_detector(tmp_path / "made/spans")
    pair = save_model(tmp_path / "made/pair", logits=("baseless", "entailed"))
    repositories = {
        SPANS.repo: with_architecture(detector, SPANS.architecture, "a" * 40),
        PAIR.repo: with_architecture(pair, PAIR.architecture, PAIR.revision),
    }
    with StandInHub(repositories) as server:
        addresses = f"{server.url}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
        monkeypatch.setattr(constants, "ENDPOINT", server.url)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", addresses)
        monkeypatch.setenv("RT4CHART_MODELS", str(tmp_path / "models"))
        yield server


def test_one_command_fetches_checks_measures_and_says_how_to_use(
    hub: StandInHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A detector without a pin: its labels, which config.json does not say, are recorded."""
    folder = tmp_path / "models" / SPANS.name

    assert main(["judge", "get", SPANS.name, "--rows", "3"]) == 0

    out = capsys.readouterr().out
    assert f"{SPANS.name}: fetched: {folder}" in out
    assert f"{SPANS.repo} at {'a' * 40}" in out
    assert "licence: mit" in out
    assert "a copied sentence is called entailed" in out
    assert "The first 3 labelled answers of the demo, too few for a figure to quote" in out
    assert "flag all" in out
    assert out.endswith(f"export RT4CHART_JUDGE=onnx-spans:{folder}\n")
    assert build_judge(f"onnx-spans:{folder}").id.startswith(f"onnx-spans/{SPANS.name}/")


def test_a_second_command_uses_what_is_there(
    hub: StandInHub, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a word to the hub, and says so."""
    main(["judge", "get", PAIR.name, "--rows", "0"])
    hub.asked.clear()

    assert main(["judge", "get", PAIR.name, "--rows", "0"]) == 0
    assert "already there, with the recorded hashes" in capsys.readouterr().out
    assert hub.asked == []


def test_it_is_set_as_the_second_stage(
    hub: StandInHub,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In a file of variables, which keeps its other lines and its mode."""
    file = tmp_path / ".env"
    file.write_text("OTHER=1\nexport RT4CHART_JUDGE=rules\n# a remark\n")
    file.chmod(0o600)

    arguments = ["--rows", "0", "--use", "second", "--env", str(file)]
    assert main(["judge", "get", PAIR.name, *arguments]) == 0

    folder = tmp_path / "models" / PAIR.name
    assert file.read_text().splitlines() == [
        "OTHER=1",
        "# a remark",
        "RT4CHART_JUDGE=cascade",
        "RT4CHART_CASCADE_FIRST=local",
        f"RT4CHART_CASCADE_SECOND=onnx:{folder}",
    ]
    assert file.stat().st_mode & 0o777 == 0o600
    settings = JudgeSettings(cascade_first="rules", cascade_second=f"onnx:{folder}")
    assert f"onnx/{PAIR.name}/" in build_judge("cascade", settings).id
    assert [one for one in tmp_path.iterdir() if one.name.startswith(".env.")] == []


def test_it_is_set_in_place_of_the_embedded_judge(hub: StandInHub, tmp_path: Path) -> None:
    """In a new file; a path with a space is quoted."""
    file, folder = tmp_path / "new.env", tmp_path / "my models"

    arguments = ["--rows", "0", "--use", "judge", "--env", str(file), "--dir", str(folder)]
    assert main(["judge", "get", PAIR.name, *arguments]) == 0

    assert file.read_text() == f"RT4CHART_JUDGE='onnx:{folder}/{PAIR.name}'\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["no-such-model"], "unknown model 'no-such-model': expected one of nli-deberta-v3-small"),
        ([SPANS.name, "--use", "second"], "reads whole answers and cannot judge another judge's"),
        ([PAIR.name, "--env", "x"], "--env: expected --use judge or --use second with it"),
    ],
)
def test_wrong_use_is_said_before_the_hub_is_asked(
    arguments: list[str], told: str, hub: StandInHub, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one line, with status 2."""
    assert main(["judge", "get", *arguments]) == 2
    assert told in capsys.readouterr().err
    assert hub.asked == []


def test_a_file_that_cannot_be_written_is_said(
    hub: StandInHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The model stays."""
    arguments = ["--rows", "0", "--use", "judge", "--env", str(tmp_path / "no/file")]

    assert main(["judge", "get", PAIR.name, *arguments]) == 2
    assert "expected a file of variables that can be written" in capsys.readouterr().err


def test_a_model_that_cannot_judge_takes_no_place(
    hub: StandInHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The doctor's check decides before the folder is there."""
    source = hub.repositories[PAIR.repo]
    source.files["model.onnx"] = hub.repositories[SPANS.repo].files["model.onnx"]

    assert main(["judge", "get", PAIR.name]) == 2

    told = capsys.readouterr().err
    assert "the model was fetched and cannot judge" in told
    assert not (tmp_path / "models" / PAIR.name).exists()


def test_another_licence_than_expected_is_said(
    hub: StandInHub, capsys: pytest.CaptureFixture[str]
) -> None:
    """And recorded as the hub states it."""
    hub.repositories[PAIR.repo].licence = "cc-by-nc-4.0"

    assert main(["judge", "get", PAIR.name, "--rows", "0"]) == 0
    out = capsys.readouterr().out
    assert "licence: cc-by-nc-4.0" in out
    assert "the licence was mit when the catalogue was written" in out


def test_the_list_has_every_model_with_its_figures(capsys: pytest.CaptureFixture[str]) -> None:
    """None of them ours."""
    assert main(["judge", "list"]) == 0
    out = capsys.readouterr().out
    assert main(["judge"]) == 0
    assert main(["judge", "list", "--json"]) == 0

    assert all(model.name in out and model.repo in out for model in MODELS)
    assert all(figure.text in out for model in MODELS for figure in model.figures)
    assert "The figures are the authors'; none was measured here." in out


def test_the_hubs_address_is_read_from_the_environment(hub: StandInHub, tmp_path: Path) -> None:
    """By the client itself, in a process of its own."""
    environment = {**os.environ, "HF_ENDPOINT": hub.url, "RT4CHART_MODELS": str(tmp_path / "own")}

    ran = subprocess.run(
        [sys.executable, "-m", "otel_rt4chart", "judge", "get", PAIR.name, "--rows", "0"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert ran.returncode == 0, ran.stderr
    assert f"export RT4CHART_JUDGE=onnx:{tmp_path}/own/{PAIR.name}" in ran.stdout
