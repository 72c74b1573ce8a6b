"""Write the embedded models as int8 ONNX, and print how near they are to what they were made from.

    PYTHONPATH=. python training/export.py EMBEDDER ENCODER JUDGE_PT OUT

EMBEDDER is the folder of all-MiniLM-L6-v2, ENCODER that of bge-small-en-v1.5, JUDGE_PT what
`train_judge.py` made of it. OUT gets encoder.onnx, judge.onnx and the tokenizer.json that both
read with: their vocabulary is the same.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from network import LONGEST, CrossEncoder, opened_encoder
from numpy.typing import NDArray
from onnxruntime import InferenceSession
from quantize import quantize
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional
from transformers import BertModel

from otel_rt4chart.verify.text.segment import segment

OPSET = 17
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
DATA = Path("collector/rt4chart_collector/demo/data/source_info.jsonl")
COMPARED = 500

Text = tuple[str, ...]  # one, or a claim and its evidence
Run = Callable[[Text], list[NDArray[np.float64]]]


class Embedding(nn.Module):
    """The mean over a text's tokens, of length 1."""

    def __init__(self, encoder: BertModel) -> None:
        """Pooling stands in the graph, so that nothing but the graph need be run."""
        super().__init__()
        self.encoder = encoder

    def forward(self, ids: Tensor, attention: Tensor, types: Tensor) -> Tensor:
        """Vectors of shape (batch, 384)."""
        states = self.encoder(
            input_ids=ids, attention_mask=attention, token_type_ids=types
        ).last_hidden_state
        weights = attention.unsqueeze(-1).to(states.dtype)
        mean = (states * weights).sum(1) / weights.sum(1).clamp(min=1.0)
        return functional.normalize(mean, dim=-1)


def main() -> None:
    """Export, quantize, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("embedder", type=Path)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("judge", type=Path)
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    tokenizer = write_tokenizer(given.embedder, given.encoder, given.out / "tokenizer.json")
    embedding = Embedding(opened_encoder(given.embedder)).eval()
    judge = CrossEncoder(opened_encoder(given.encoder)).eval()
    judge.load_state_dict(torch.load(given.judge, map_location="cpu", weights_only=True))
    write(embedding, ("vector",), given.out / "encoder.onnx")
    write(judge, ("logits", "marks"), given.out / "judge.onnx")
    texts = sentences()
    compare_vectors(
        runner(given.out / "encoder.onnx", tokenizer), runner(embedding, tokenizer), texts
    )
    compare_reads(runner(given.out / "judge.onnx", tokenizer), runner(judge, tokenizer), texts)


def write_tokenizer(embedder: Path, encoder: Path, out: Path) -> Tokenizer:
    """It cuts and pads nothing: what is too long is split by those who run it."""
    tokenizer, other = (
        Tokenizer.from_file(str(folder / "tokenizer.json")) for folder in (embedder, encoder)
    )
    if tokenizer.get_vocab() != other.get_vocab():
        raise SystemExit(f"{encoder}: expected the vocabulary of {embedder}, got another")
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.save(str(out), pretty=False)
    return tokenizer


def write(model: nn.Module, outputs: Sequence[str], out: Path) -> None:
    """The model with int8 matrices."""
    ids = torch.randint(5, 30_000, (2, 40), generator=torch.Generator().manual_seed(1))
    types = torch.zeros_like(ids)
    types[:, 20:] = 1
    axes = {name: {0: "batch", 1: "length"} for name in (*INPUTS, "marks")}
    axes |= {name: {0: "batch"} for name in ("vector", "logits")}
    with tempfile.TemporaryDirectory() as folder:
        full = Path(folder) / "full.onnx"
        torch.onnx.export(
            model,
            (ids, torch.ones_like(ids), types),
            str(full),
            input_names=list(INPUTS),
            output_names=list(outputs),
            dynamic_axes={name: axes[name] for name in (*INPUTS, *outputs)},
            dynamo=False,
            opset_version=OPSET,
        )
        quantize(full, out)


def sentences() -> list[str]:
    """Sentences of the demo's passages, spread over all of them."""
    rows = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]
    contexts = (text for row in rows for text in row["contexts"])
    found = [one.text for context in contexts for one in segment(context)]
    unique = list(dict.fromkeys(found))
    return unique[:: max(1, len(unique) // COMPARED)][:COMPARED]


def runner(model: nn.Module | Path, tokenizer: Tokenizer) -> Run:
    """Runs one text at a time, in torch or in ONNX Runtime."""
    session = InferenceSession(str(model)) if isinstance(model, Path) else None

    def run(text: Text) -> list[NDArray[np.float64]]:
        one = tokenizer.encode(*text)
        rows = [row[:LONGEST] for row in (one.ids, one.attention_mask, one.type_ids)]
        if session is not None:
            feed = {n: np.array([row], np.int64) for n, row in zip(INPUTS, rows, strict=True)}
            given = session.run(None, feed)
        else:
            with torch.no_grad():
                found = model(*(torch.tensor([row]) for row in rows))
            given = [one.numpy() for one in (found if isinstance(found, tuple) else (found,))]
        return [np.asarray(one[0], np.float64) for one in given]

    return run


def compare_vectors(int8: Run, full: Run, texts: Sequence[str]) -> None:
    """The cosine of the two vectors of a text, and how far the cosine of two texts moves."""
    first, second = (np.stack([run((text,))[0] for text in texts]) for run in (int8, full))
    own = (first * second).sum(1)
    apart = np.abs(first @ first.T - second @ second.T)[np.triu_indices(len(texts), 1)]
    nearest = [np.where(np.eye(len(texts)), -1, one @ one.T).argmax(1) for one in (first, second)]
    print(
        f"encoder, {len(texts)} sentences: cosine of int8 and float32 {own.mean():.4f} on average, "
        f"{own.min():.4f} at least; the cosine of two sentences moves by {apart.mean():.4f} on "
        f"average, {apart.max():.4f} at most; the nearest is the same for "
        f"{(nearest[0] == nearest[1]).mean():.1%}"
    )


def compare_reads(int8: Run, full: Run, texts: Sequence[str]) -> None:
    """How far P(entailed) and the marks move, and how often the likeliest label stays."""
    pairs = list(zip(texts, [*texts[1:], texts[0]], strict=True))
    found = [(int8(pair), full(pair)) for pair in pairs]
    logits = [np.stack([one[at][0] for one in found]) for at in (0, 1)]
    odds = [np.exp(one) / np.exp(one).sum(1, keepdims=True) for one in logits]
    marks = np.concatenate([np.abs(_odds(one[0][1]) - _odds(one[1][1])) for one in found])
    moved = np.abs(odds[0] - odds[1])[:, 0]
    same = (odds[0].argmax(1) == odds[1].argmax(1)).mean()
    print(
        f"judge, {len(pairs)} pairs: P(entailed) moves by {moved.mean():.4f} on average, "
        f"{np.quantile(moved, 0.99):.4f} at the 99th centile; the likeliest label is the same for "
        f"{same:.1%}; marks move by {marks.mean():.4f} on average"
    )


def _odds(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-logits))


if __name__ == "__main__":
    sys.exit(main())
