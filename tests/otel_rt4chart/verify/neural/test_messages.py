from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.verify import OnnxJudge
from tests.otel_rt4chart.verify.neural.made import save_model


def refused(path: Path, labels: str = "") -> str:
    """What the judge says of the model there."""
    with pytest.raises(SettingsError) as failure:
        OnnxJudge(path, labels=labels)
    return str(failure.value)


def changed(folder: Path, change: Callable[[onnx.ModelProto], None]) -> Path:
    """A model that was changed after its export."""
    made = onnx.load(save_model(folder) / "model.onnx")
    change(made)
    onnx.save(made, folder / "model.onnx")
    return folder


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    """Is named."""
    assert refused(tmp_path / "no") == (
        f"{tmp_path / 'no'}: expected a folder or an .onnx file, found nothing there"
    )


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    """The names that would do, and the one that was found instead."""
    assert refused(tmp_path).endswith("or onnx/model_quantized.onnx, found no .onnx file")

    save_model(tmp_path)
    (tmp_path / "model.onnx").rename(tmp_path / "model_O4.onnx")

    told = refused(tmp_path)
    assert "expected model.onnx or onnx/model.onnx or" in told
    assert told.endswith(f"found model_O4.onnx; name the file itself: {tmp_path / 'model_O4.onnx'}")


def test_a_missing_tokenizer(tmp_path: Path) -> None:
    """Comes with the call that writes one."""
    (save_model(tmp_path) / "tokenizer.json").unlink()

    assert refused(tmp_path) == (
        f"{tmp_path}: expected tokenizer.json, found none; save it beside the model with "
        "AutoTokenizer.from_pretrained(NAME).save_pretrained(DIR)"
    )


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("tokenizer.json", "{}", "tokenizer.json: expected a tokenizer, got Model missing."),
        ("model.onnx", "version https://git-lfs", "model.onnx: expected an ONNX model, got"),
        ("model.onnx", "", "model.onnx: expected an ONNX model, got"),
        ("config.json", "{", "config.json: expected JSON, got Expecting property name"),
        ("config.json", "[]", "config.json: expected a JSON object, got a list"),
    ],
)
def test_a_file_that_is_something_else(tmp_path: Path, name: str, text: str, told: str) -> None:
    """Is named, with what was found in it and what to do."""
    (save_model(tmp_path) / name).write_text(text)

    assert f"{tmp_path}/{told}" in refused(tmp_path)


def _rename_input(made: onnx.ModelProto) -> None:
    made.graph.input[2].name = made.graph.node[0].input[0] = "position_ids"


def _drop_mask(made: onnx.ModelProto) -> None:
    made.graph.node[1].input[0] = "input_ids"
    del made.graph.input[1]


def _rename_output(made: onnx.ModelProto) -> None:
    made.graph.output[0].name = made.graph.node[-1].output[0] = "last_hidden_state"


def _fix_length(made: onnx.ModelProto) -> None:
    made.graph.input[0].type.tensor_type.shape.dim[1].dim_value = 128


def _narrow(made: onnx.ModelProto) -> None:
    made.graph.input[2].type.tensor_type.elem_type = TensorProto.INT32


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            _rename_input,
            "expected the inputs input_ids, attention_mask and perhaps token_type_ids, "
            "got input_ids, attention_mask, position_ids",
        ),
        (_drop_mask, "token_type_ids, got input_ids, token_type_ids; export it"),
        (_rename_output, "expected an output logits, got last_hidden_state; export it"),
        (_fix_length, "input input_ids: expected int64 numbers in any number of rows and columns"),
        (_narrow, "input token_type_ids: expected int64 numbers .* got tensor.int32. "),
    ],
)
def test_a_model_that_is_no_classifier_of_pairs(
    tmp_path: Path, change: Callable[[onnx.ModelProto], None], told: str
) -> None:
    """What it takes or gives is named, and how to export another."""
    with pytest.raises(SettingsError, match=told):
        OnnxJudge(changed(tmp_path, change))


def test_labels_that_do_not_fit_the_logits(tmp_path: Path) -> None:
    """Counted, with the setting that changes them."""
    told = refused(save_model(tmp_path), labels="entailed,baseless")

    assert "each of the model's 3 logits, got 2 (entailed,baseless)" in told
    assert "RT4CHART_ONNX_LABELS" in told


def test_a_missing_config_asks_for_the_labels_alone(tmp_path: Path) -> None:
    """With them the model is used."""
    (save_model(tmp_path) / "config.json").unlink()

    assert "expected config.json to name the labels" in refused(tmp_path)
    assert OnnxJudge(tmp_path, labels="entailed,baseless,contradicted").longest_input == 512


def test_positions_that_begin_late_shorten_the_input(tmp_path: Path) -> None:
    """RoBERTa's 514 hold 512 tokens; a model that takes thousands is given 512."""
    config = save_model(tmp_path) / "config.json"
    known = json.loads(config.read_text())
    longest = []
    for kind, positions in (("roberta", 258), ("modernbert", 8192), ("bert", "many")):
        more = {"model_type": kind, "max_position_embeddings": positions}
        config.write_text(json.dumps(known | more))
        longest.append(OnnxJudge(tmp_path).longest_input)

    assert longest == [256, 512, 512]


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers", "numpy"])
def test_a_package_that_is_not_installed(
    model: Path, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Comes with the command that installs it."""
    monkeypatch.setitem(sys.modules, package, None)

    assert refused(model) == (
        f"an onnx judge needs the package {package}: pip install 'otel-rt4chart[local]'"
    )


def test_numbers_out_of_range(model: Path) -> None:
    """Are refused by the judge itself, too."""
    for threshold, threads in ((1.5, 0), (0.5, -1)):
        with pytest.raises(SettingsError, match="expected a threshold from 0 to 1 and threads"):
            OnnxJudge(model, threshold=threshold, threads=threads)


def test_where_a_model_may_lie(tmp_path: Path) -> None:
    """In the folder, in onnx/ beneath it, quantized, or at the file that is named."""
    plain, beneath, quantized = (save_model(tmp_path / f"{n}" / "mine") for n in range(3))
    (beneath / "onnx").mkdir()
    (beneath / "model.onnx").rename(beneath / "onnx" / "model.onnx")
    (quantized / "model.onnx").rename(quantized / "model_quantized.onnx")

    paths = (plain, plain / "model.onnx", beneath, beneath / "onnx" / "model.onnx", quantized)

    assert len({OnnxJudge(path).id for path in paths}) == 1


def test_the_id_is_the_models_its_tokenizers_and_its_labels(tmp_path: Path) -> None:
    """A copy has the same; another of the three, or of the weights beside the model, another."""
    folder = save_model(tmp_path / "a" / "mine")
    first = OnnxJudge(folder).id
    copy = shutil.copytree(folder, tmp_path / "b" / "mine")
    assert OnnxJudge(copy).id == first

    assert OnnxJudge(copy, labels="entailed,contradicted,baseless").id != first
    text = (copy / "tokenizer.json").read_text()
    (copy / "tokenizer.json").write_text(text + " ")
    with_space = OnnxJudge(copy).id
    assert with_space != first
    (copy / "model.onnx_data").write_bytes(b"weights")
    assert OnnxJudge(copy).id not in (first, with_space)
    assert first.startswith("onnx/mine/")
    assert len(first.removeprefix("onnx/mine/")) == 12
