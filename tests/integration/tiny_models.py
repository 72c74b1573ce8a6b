"""Writes small models with random weights into a folder; run by an interpreter with torch."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors.torch import save_file
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

WORDS = """the free trial lasts 14 days two weeks . a predict : premise hypothesis Determine if is
    it true given ? Choose your answer pool heated"""
SPECIAL = ["[PAD]", "[CLS]", "[SEP]", "[UNK]"]
SIZE = 256  # Flan-T5's "1" is token 209
SMALL: dict[str, Any] = {"vocab_size": SIZE, "hidden_size": 32, "num_attention_heads": 2}


def main(folder: Path) -> None:
    """One folder for each kind of model that is converted."""
    torch.manual_seed(7)
    deberta = transformers.DebertaV2Config(
        **SMALL,
        num_hidden_layers=2,
        intermediate_size=64,
        type_vocab_size=0,
        relative_attention=True,
        pos_att_type=["p2c", "c2p"],
        position_biased_input=False,
        norm_rel_ebd="layer_norm",
        share_att_key=True,
        position_buckets=16,
        max_relative_positions=-1,
        pooler_hidden_size=32,
        num_labels=2,
    )
    save(transformers.DebertaV2ForSequenceClassification(deberta), folder / "pair")
    bert = transformers.ModernBertConfig(
        **SMALL,
        num_hidden_layers=4,
        intermediate_size=64,
        local_attention=8,
        num_labels=2,
        **{f"{name}_token_id": at for at, name in enumerate(("pad", "cls", "sep"))},
    )
    save(transformers.ModernBertForTokenClassification(bert), folder / "spans")
    save(transformers.T5ForConditionalGeneration(t5()), folder / "yes-no")
    save_first_token(folder / "first-token")


def t5() -> Any:  # noqa: ANN401
    """A small T5."""
    return transformers.T5Config(
        vocab_size=SIZE, d_model=32, d_kv=16, d_ff=64, num_layers=2, num_heads=2, num_labels=2
    )


def save(model: Any, folder: Path) -> None:  # noqa: ANN401
    """The model with a tokenizer."""
    model.save_pretrained(folder)
    words = [*SPECIAL, *dict.fromkeys(WORDS.split())]
    numbers = {word: at for at, word in enumerate(words)}
    made = Tokenizer(WordLevel(numbers, unk_token="[UNK]"))  # noqa: S106 not a password
    made.pre_tokenizer = Whitespace()
    made.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=made,
        pad_token="[PAD]",  # noqa: S106
        unk_token="[UNK]",  # noqa: S106
    ).save_pretrained(folder)


def save_first_token(folder: Path) -> None:
    """Weights under a prefix, with the configuration of another repository beside them."""
    model = transformers.T5ForTokenClassification(t5())
    save(model, folder / "base")
    shared = "encoder.embed_tokens.weight"
    held = {f"t5.{n}": v.clone() for n, v in model.state_dict().items() if not n.endswith(shared)}
    save_file(held, str(folder / "model.safetensors"))
    architectures = ["HHEMv2ForSequenceClassification"]
    (folder / "config.json").write_text(json.dumps({"architectures": architectures}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
