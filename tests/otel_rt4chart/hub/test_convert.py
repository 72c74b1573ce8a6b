from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from otel_rt4chart.core.errors import HubError
from otel_rt4chart.hub.client import Hub
from otel_rt4chart.hub.fetch import fetch
from otel_rt4chart.verify import OnnxJudge
from tests.otel_rt4chart.hub.stand_in import Repository, StandInHub
from tests.otel_rt4chart.hub.test_fetch import MODEL

ROOT = Path(__file__).parents[3]
# Stands for an interpreter with torch: it is called as one, and writes a model that is made here.
EXPORTER = f"""#!{sys.executable}
import json, sys
from pathlib import Path
sys.path[:0] = {sys.path!r}
from tests.otel_rt4chart.verify.neural.made import save_model
from otel_rt4chart.verify.neural.runtime import ModelInput, ModelSource, Runtime
if sys.argv[1] == "-c":
    sys.exit()
script, kind, source, target, template = sys.argv[1:]
assert Path(script).name == "export.py" and Path(source, "model.safetensors").is_file()
target = Path(target)
save_model(target, by_type=False)
runtime = Runtime(ModelSource("test", target / "model.onnx", target / "tokenizer.json", ("logits",), ""))
texts = [template.replace("{{premise}}", "pool").replace("{{claim}}", "heated")] if template else ["pool", "heated"]
one = runtime.encode(*texts)
logits = runtime.run([ModelInput(one.ids, one.type_ids)])[0][0]
sample = {{"texts": texts, "ids": list(one.ids), "logits": [n + OFF for n in logits]}}
told = {{"samples": [sample], "versions": {{"torch": "9", "transformers": "8"}}, "template": template}}
(target / "check.json").write_text(json.dumps(told))
print(kind, file=sys.stderr)
"""  # noqa: E501
WEIGHTS = Repository(
    {
        "config.json": json.dumps({"architectures": [MODEL.architecture]}).encode(),
        "model.safetensors": b"weights" * 999,
        "pytorch_model.bin": b"other weights",
        "spm.model": b"pieces",
        "README.md": b"",
    }
)


def exporter(folder: Path, text: str) -> str:
    """The path of a program with this text."""
    file = folder / "python"
    file.write_text(text)
    file.chmod(0o755)
    return str(file)


@pytest.fixture
def refused(tmp_path: Path) -> Callable[[str], str]:
    """What is said of a conversion with this interpreter."""

    def run(python: str) -> str:
        with StandInHub({MODEL.repo: WEIGHTS}) as hub, pytest.raises(HubError) as caught:
            fetch(MODEL, tmp_path / "toy", lambda: Hub(hub.url), python=python)
        assert not (tmp_path / "toy").exists()
        return str(caught.value)

    return run


def test_weights_are_converted_and_checked(tmp_path: Path) -> None:
    """The safe format is taken, the result is recorded with what made it, and it judges."""
    python = exporter(tmp_path, EXPORTER.replace("OFF", "0"))
    model = replace(MODEL, template="{premise} [SEP] {claim}", labels="entailed,baseless,baseless")

    with StandInHub({MODEL.repo: WEIGHTS}) as hub:
        fetched = fetch(model, tmp_path / "toy", lambda: Hub(hub.url), python=python)
        asked = hub.files_asked()

    record = fetched.record
    assert asked == ["config.json", "spm.model", "model.safetensors"]
    assert record.converted == {"torch": "9", "transformers": "8"}
    assert sorted(record.files) == ["config.json", "model.onnx", "tokenizer.json"]
    assert sorted(record.sources[0].files) == ["config.json", "model.safetensors", "spm.model"]
    assert OnnxJudge(fetched.folder).id.startswith("onnx/toy/")


def test_tokenizer_and_configuration_may_be_another_repositorys(tmp_path: Path) -> None:
    """It is pinned, too, and recorded as a second source."""
    python = exporter(tmp_path, EXPORTER.replace("OFF", "0"))
    base = Repository({"config.json": b"{}", "tokenizer.json": b"{}", "x.bin": b""}, "e" * 40)
    model = replace(MODEL, base=f"somebody/base@{'e' * 40}", export="first-token")

    with StandInHub({MODEL.repo: WEIGHTS, "somebody/base": base}) as hub:
        fetched = fetch(model, tmp_path / "toy", lambda: Hub(hub.url), python=python)

    assert [(one.repo, one.commit) for one in fetched.record.sources] == [
        (MODEL.repo, MODEL.revision),
        ("somebody/base", "e" * 40),
    ]
    assert sorted(fetched.record.sources[1].files) == ["config.json", "tokenizer.json"]


def test_a_model_that_computes_other_numbers_is_refused(
    refused: Callable[[str], str], tmp_path: Path
) -> None:
    """An exporter may drop what it does not know; the sample shows it."""
    told = refused(exporter(tmp_path, EXPORTER.replace("OFF", "0.01")))

    assert "expected the converted model to compute what torch does, [" in told


def test_without_an_interpreter_the_way_to_one_is_said(refused: Callable[[str], str]) -> None:
    """With each command."""
    told = refused("")

    assert "has no ONNX file with a tokenizer.json, so its weights must be converted" in told
    assert "run the command with --convert-with convert/bin/python" in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "#!/bin/sh\n[ $1 = -c ] || { echo 'a' >&2; echo 'Error: b' >&2; exit 1; }",
            "Error: b; try",
        ),
        ("#!/bin/sh\nexit 0", "the converted model cannot be used"),
    ],
)
def test_an_interpreter_that_fails_is_said(
    text: str, told: str, refused: Callable[[str], str], tmp_path: Path
) -> None:
    """By its last line, and what was downloaded stays for the next command."""
    assert told in refused(exporter(tmp_path, text))
    assert list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("#!/no/such/interpreter", "expected a Python interpreter, got No such file"),
        ("#!/bin/sh\necho torch onnx", "sentencepiece onnx, it lacks torch onnx: python -m venv"),
    ],
)
def test_an_interpreter_that_cannot_convert_costs_no_download(
    text: str, told: str, refused: Callable[[str], str], tmp_path: Path
) -> None:
    """It is asked for its packages first."""
    assert told in refused(exporter(tmp_path, text))
    assert not list(tmp_path.rglob("*.part"))


def test_what_an_interpreter_lacks_is_found_out_by_it(refused: Callable[[str], str]) -> None:
    """This one has no torch, unless somebody installed it."""
    if find_spec("torch") is None:
        assert "onnx, it lacks torch" in refused(sys.executable)
