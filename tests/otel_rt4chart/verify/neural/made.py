"""A small real model: it compares the words of premise and hypothesis, and whether one says not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase, Replace
from tokenizers.normalizers import Sequence as InTurn
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

SPECIAL = ["[PAD]", "[CLS]", "[SEP]", "[UNK]"]
LIGHT = [".", ",", "?", "the", "a", "is", "it", "not"]
WORDS = """free trial lasts 14 30 days refunds are paid within pool heated warm opens at nine ten
    museum hall shows paintings children under six enter pay nothing of charge dogs welcome in
    garden breakfast served on roof users verified must extension new and every guest gets key"""
NAMES = [*SPECIAL, *LIGHT, *WORDS.split()]
# So that a claim can mean what a passage says in other words.
OTHER = {"kids": "children", "wander": "enter"}
NLI = {"0": "entailment", "1": "neutral", "2": "contradiction"}


def save_model(
    folder: Path,
    *,
    logits: Sequence[str] = ("entailed", "baseless", "contradicted"),
    id2label: dict[str, str] | None = None,
    by_type: bool = True,
    max_length: int | None = None,
    is_scaled: bool = False,
) -> Path:
    """Write model, tokenizer and config; `by_type` tells the two texts by token_type_ids.

    `is_scaled` adds the operation of quantized models that gives a batch one scale.
    """
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(_graph(logits, by_type=by_type, is_scaled=is_scaled), folder / "model.onnx")
    tokenizer(max_length).save(str(folder / "tokenizer.json"))
    labels = NLI if id2label is None else id2label
    config = {"model_type": "toy", "max_position_embeddings": 512, "id2label": labels}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def tokenizer(max_length: int | None = None) -> Tokenizer:
    """Words by their number, framed as BERT frames a pair."""
    numbers = {name: at for at, name in enumerate(NAMES)}
    made = Tokenizer(WordLevel(numbers, unk_token="[UNK]"))  # noqa: S106 not a password
    made.normalizer = InTurn([Lowercase(), *(Replace(*pair) for pair in OTHER.items())])
    made.pre_tokenizer = Whitespace()
    made.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    if max_length:
        made.enable_truncation(max_length)
        made.enable_padding(length=max_length)
    return made


def _graph(logits: Sequence[str], *, by_type: bool, is_scaled: bool) -> onnx.ModelProto:
    nodes = [*second_text(by_type), *bags(), *_scores(), *_logits(logits, is_scaled)]
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if by_type else [])]
    inputs = [
        helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "length"]) for n in names
    ]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", len(logits)])
    graph = helper.make_graph(nodes, "bags", inputs, [output], constants())
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def constants() -> list[onnx.TensorProto]:
    """The numbers that the nodes use by name."""
    size = len(NAMES)
    weights = np.array([name not in (*SPECIAL[:3], *LIGHT) for name in NAMES], np.float32)
    known = np.array([name != "[UNK]" for name in NAMES], np.float32)
    negation = np.array([name == "not" for name in NAMES], np.float32)
    values: dict[str, NDArray[Any]] = {
        "depth": np.array(size, np.int64),
        "off_on": np.array([0, 1], np.float32),
        "one": np.array(1, np.float32),
        "zero": np.array(0, np.float32),
        "tokens": np.array([1], np.int64),
        "last": np.array([2], np.int64),
        "axis": np.array(1, np.int64),
        "separator": np.array(NAMES.index("[SEP]"), np.int64),
        "weights": weights.reshape(size, 1),
        "known": known,
        "negation": negation.reshape(size, 1),
        "slope": np.array(-24, np.float32),
        "six": np.array(6, np.float32),
        "twelve": np.array(12, np.float32),
    }
    return [numpy_helper.from_array(value, name) for name, value in values.items()]


def second_text(by_type: bool) -> list[onnx.NodeProto]:
    """1 for each token of the hypothesis."""
    if by_type:
        return [node("Cast", "token_type_ids", "second", to=TensorProto.FLOAT)]
    return [
        node("Equal", "input_ids separator", "is_separator"),
        node("Cast", "is_separator", "separators", to=TensorProto.FLOAT),
        node("CumSum", "separators axis", "passed", exclusive=1),
        node("Min", "passed one", "second"),
    ]


def bags() -> list[onnx.NodeProto]:
    """Which words stand in the premise, which in the hypothesis."""
    return [
        node("Cast", "attention_mask", "mask", to=TensorProto.FLOAT),
        node("OneHot", "input_ids depth off_on", "words", axis=-1),
        node("Mul", "mask second", "in_hypothesis"),
        node("Sub", "mask in_hypothesis", "in_premise"),
        *(
            made
            for part in ("premise", "hypothesis")
            for made in (
                node("Unsqueeze", f"in_{part} last", f"{part}_column"),
                node("Mul", f"words {part}_column", f"{part}_words"),
                node("ReduceMax", f"{part}_words", f"{part}_all", axes=[1], keepdims=0),
                node("Max", f"{part}_all zero", part),
            )
        ),
    ]


def _scores() -> list[onnx.NodeProto]:
    """The share of the hypothesis that is missing, and whether one alone says not."""
    return [
        node("Mul", "premise known", "known_premise"),
        node("Sub", "hypothesis known_premise", "difference"),
        node("Max", "difference zero", "missing"),
        node("MatMul", "missing weights", "missing_weight"),
        node("MatMul", "hypothesis weights", "weight"),
        node("Max", "weight one", "some_weight"),
        node("Div", "missing_weight some_weight", "share"),
        node("MatMul", "premise negation", "premise_not"),
        node("MatMul", "hypothesis negation", "hypothesis_not"),
        node("Sub", "premise_not hypothesis_not", "not_difference"),
        node("Abs", "not_difference", "denied"),
        node("Mul", "share slope", "fall"),
        node("Mul", "denied twelve", "denial"),
        node("Add", "fall six", "likeness"),
        node("Sub", "likeness denial", "entailed"),
        node("Sub", "denial six", "contradicts"),
        node("Add", "contradicts fall", "contradicted"),
        node("Sub", "share share", "baseless"),
    ]


def _logits(names: Sequence[str], is_scaled: bool) -> list[onnx.NodeProto]:
    """The columns in their order."""
    joined = node("Concat", " ".join(names), "joined" if is_scaled else "logits", axis=1)
    if not is_scaled:
        return [joined]
    return [
        joined,
        node("DynamicQuantizeLinear", "joined", "coarse scale offset"),
        node("DequantizeLinear", "coarse scale offset", "logits"),
    ]


def node(kind: str, inputs: str, outputs: str, **attributes: Any) -> onnx.NodeProto:  # noqa: ANN401
    """A node with the names of inputs and outputs, each in one string."""
    return helper.make_node(kind, inputs.split(), outputs.split(), **attributes)
