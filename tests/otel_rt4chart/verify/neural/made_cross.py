"""A small model with the inputs and outputs of the embedded cross-encoder."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from rt4chart_models import folder as model_folder

NAMES = ("input_ids", "attention_mask", "token_type_ids")


def save_cross_encoder(folder: Path, *, width: int = 3) -> Path:
    """Logits from the means of all tokens and of the evidence's, marks from each token alone."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(model_folder() / "tokenizer.json", folder / "tokenizer.json")
    nodes = [
        helper.make_node("Cast", ["input_ids"], ["ids"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["token_type_ids"], ["second"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Sin", ["ids"], ["waves"]),
        helper.make_node("Mul", ["waves", "mask"], ["all"]),
        helper.make_node("Mul", ["waves", "second"], ["evidence"]),
        helper.make_node("Mul", ["all", "steep"], ["marks"]),
        *(
            helper.make_node("ReduceMean", [name], [f"{name}_mean"], axes=[1], keepdims=1)
            for name in ("all", "evidence", "mask")
        ),
        helper.make_node(
            "Concat", ["all_mean", "evidence_mean", "mask_mean"][:width], ["logits"], axis=1
        ),
    ]
    shape = ["batch", "length"]
    graph = helper.make_graph(
        nodes,
        "waves",
        [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in NAMES],
        [
            helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", width]),
            helper.make_tensor_value_info("marks", TensorProto.FLOAT, shape),
        ],
        [numpy_helper.from_array(np.array(4, np.float32), "steep")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(made, folder / "judge.onnx")
    return folder
