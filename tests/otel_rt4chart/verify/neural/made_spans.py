"""A small real detector: it flags the words of the answer that do not stand before it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import BpeTrainer

from tests.otel_rt4chart.verify.neural.made import (
    LIGHT,
    NAMES,
    SPECIAL,
    WORDS,
    bags,
    constants,
    node,
    second_text,
    tokenizer,
)

# A word that is never flagged, besides punctuation and what is in the prompt.
ALWAYS = [*SPECIAL[:3], *(word for word in LIGHT if word != "not")]


def save_detector(
    folder: Path,
    *,
    logits: Sequence[str] = ("entailed", "baseless"),
    id2label: dict[str, str] | None = None,
    by_type: bool = False,
    positions: int = 512,
    sure: float = 6.0,
) -> Path:
    """Write model, tokenizer and config; with three logits "not" is contradicted.

    `sure` is the logit of the label that a word has.
    """
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(_graph(logits, by_type=by_type, sure=sure), folder / "model.onnx")
    tokenizer().save(str(folder / "tokenizer.json"))
    labels = {str(n): name for n, name in enumerate(logits)} if id2label is None else id2label
    config = {
        "model_type": "toy",
        "architectures": ["ToyForTokenClassification"],
        "max_position_embeddings": positions,
        "id2label": labels,
    }
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def _graph(logits: Sequence[str], *, by_type: bool, sure: float) -> onnx.ModelProto:
    nodes = [
        *second_text(by_type),
        *bags(),
        node("Mul", "premise known", "known_premise"),
        node("Max", "known_premise always", "backed_words"),
        node("Unsqueeze", "backed_words last", "backed_column"),
        node("MatMul", "words backed_column", "backed"),
        node("MatMul", "words negation", "says_not"),
        node("Mul", "backed gain", "lift"),
        node("Sub", "lift half", "entailed"),
        node("Neg", "entailed", "baseless"),
        node("Sub", "one backed", "alone"),
        node("Mul", "alone says_not", "denied"),
        node("Mul", "denied forty", "denial"),
        node("Sub", "denial twenty", "contradicted"),
        node("Concat", " ".join(logits), "logits", axis=2),
    ]
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if by_type else [])]
    inputs = [
        helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "length"]) for n in names
    ]
    output = helper.make_tensor_value_info(
        "logits", TensorProto.FLOAT, ["batch", "length", len(logits)]
    )
    always = np.array([name in ALWAYS for name in NAMES], np.float32)
    scalars = {"forty": 40.0, "twenty": 20.0, "gain": 2 * sure, "half": sure}
    more = {"always": always, **{name: np.float32(value) for name, value in scalars.items()}}
    values = [numpy_helper.from_array(np.asarray(value), name) for name, value in more.items()]
    graph = helper.make_graph(nodes, "words", inputs, [output], [*constants(), *values])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def save_odd_detector(folder: Path) -> Path:
    """A detector with the tokens of ModernBERT's kind, bytes and their runs: it flags odd ones.

    A character that is no ASCII is several tokens, of which some may be flagged and others not.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made = Tokenizer(BPE())
    made.pre_tokenizer = ByteLevel(add_prefix_space=False)
    trainer = BpeTrainer(
        vocab_size=300, special_tokens=["[CLS]", "[SEP]"], initial_alphabet=ByteLevel.alphabet()
    )
    made.train_from_iterator([WORDS, "Zoë 日本 👩‍👩‍👧 é"], trainer)
    made.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 0), ("[SEP]", 1)],
    )
    made.save(str(folder / "tokenizer.json"))
    is_odd = np.arange(made.get_vocab_size()) % 2
    table = np.stack([1 - is_odd, is_odd], axis=1).astype(np.float32)
    names = ["input_ids", "attention_mask"]
    inputs = [
        helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "length"]) for n in names
    ]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", "length", 2])
    graph = helper.make_graph(
        [node("Gather", "table input_ids", "logits", axis=0)],
        "odd",
        inputs,
        [output],
        [numpy_helper.from_array(table, "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, folder / "model.onnx")
    (folder / "config.json").write_text(
        json.dumps({"id2label": {"0": "entailed", "1": "baseless"}})
    )
    return folder
