"""Writes a model's weights as ONNX. Run by an interpreter with torch; imports nothing of ours.

    python export.py KIND SOURCE TARGET TEMPLATE

KIND is how the numbers are read: `pair` (a classifier of two texts), `spans` (a classifier of
tokens), `first-token` (a T5 encoder whose first token is classified; SOURCE/base has tokenizer and
configuration) or `yes-no` (a T5 that would write "0" or "1"). With a TEMPLATE the model reads one
text that holds both.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

# The first is what is traced; the other one shows that the graph takes other lengths, too.
SAMPLES = (
    ("The free trial lasts 14 days.", "The trial lasts two weeks."),
    ("The free trial lasts 14 days. " * 6, "Is it two weeks?"),
)
_ZERO, _ONE = 3, 209  # the tokens of Flan-T5 for "0" and "1"
_OPSET = 17


def main(kind: str, source: Path, target: Path, template: str) -> None:
    """Write model.onnx, tokenizer.json, config.json and what torch computes for a sample."""
    import torch
    import transformers

    model, tokenizer = _load(kind, source)
    samples = [_texts(*sample, template) for sample in SAMPLES]
    given = [tokenizer(*texts, return_tensors="pt") for texts in samples]
    names = [n for n in ("input_ids", "attention_mask", "token_type_ids") if n in given[0]]
    inputs = [tuple(one[name] for name in names) for one in given]
    axes = {name: {0: "batch", 1: "length"} for name in names}
    logits_axes = {0: "batch", 1: "length"} if kind == "spans" else {0: "batch"}
    with torch.no_grad():
        computed = [model(*one)[0].flatten().tolist() for one in inputs]
        torch.onnx.export(
            model,
            inputs[0],
            str(target / "model.onnx"),
            dynamo=False,
            input_names=names,
            output_names=["logits"],
            dynamic_axes={**axes, "logits": logits_axes},
            opset_version=_OPSET,
        )
    tokenizer.backend_tokenizer.save(str(target / "tokenizer.json"))
    (target / "config.json").write_bytes((source / "config.json").read_bytes())
    check = {
        "samples": [
            {"texts": texts, "ids": one["input_ids"][0].tolist(), "logits": logits}
            for texts, one, logits in zip(samples, given, computed, strict=True)
        ],
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
    }
    (target / "check.json").write_text(json.dumps(check), encoding="utf-8")


def _texts(premise: str, claim: str, template: str) -> list[str]:
    if not template:
        return [premise, claim]
    return [template.replace("{premise}", premise).replace("{claim}", claim)]


def _load(kind: str, source: Path) -> tuple[Any, Any]:
    """The model as a module from inputs to logits, and its fast tokenizer."""
    import torch
    import transformers

    base = source / "base" if kind == "first-token" else source
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(base), use_fast=True)

    class Logits(torch.nn.Module):  # type: ignore[misc]
        """The logits alone, with inputs by position."""

        def __init__(self, inner: Any) -> None:  # noqa: ANN401
            super().__init__()
            self.inner = inner

        def forward(self, input_ids: Any, attention_mask: Any, types: Any = None) -> Any:  # noqa: ANN401
            """The logits of a batch."""
            more = {} if types is None else {"token_type_ids": types}
            if kind == "yes-no":
                start = torch.zeros_like(input_ids[:, :1])
                found = self.inner(
                    input_ids=input_ids, attention_mask=attention_mask, decoder_input_ids=start
                )
                return found.logits[:, 0, [_ZERO, _ONE]]
            found = self.inner(input_ids=input_ids, attention_mask=attention_mask, **more).logits
            return found[:, 0] if kind == "first-token" else found

    return Logits(_weights(kind, source, base)).eval(), tokenizer


def _weights(kind: str, source: Path, base: Path) -> Any:  # noqa: ANN401
    import transformers

    if kind != "first-token":
        classes = {
            "pair": transformers.AutoModelForSequenceClassification,
            "spans": transformers.AutoModelForTokenClassification,
            "yes-no": transformers.T5ForConditionalGeneration,
        }
        # Attention in plain operations: what the exporter writes out for any length.
        return classes[kind].from_pretrained(str(source), attn_implementation="eager").float()
    from safetensors.torch import load_file

    model = transformers.T5ForTokenClassification(
        transformers.AutoConfig.from_pretrained(str(base))
    )
    held = load_file(str(source / "model.safetensors"))
    state = {name.removeprefix("t5."): value for name, value in held.items() if "t5." in name[:3]}
    missing, unknown = model.load_state_dict(state, strict=False)
    # The embeddings are stored once and shared.
    if unknown or any(not name.endswith("embed_tokens.weight") for name in missing):
        raise SystemExit(f"other weights than expected: {[*missing, *unknown][:5]}")
    return model


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4])
