"""The cross-encoder: a claim and its evidence in, three labels and the claim's wrong words out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from pairs import LABELS, Pair
from tokenizers import Encoding, Tokenizer
from torch import Tensor, nn
from torch.nn import functional
from transformers import BertModel

LONGEST = 256  # tokens of claim and evidence together; the evidence gives way
MOST_TOKENS = 200  # of a claim
UNKNOWN = -1
# How much each part of the loss weighs beside the binary one.
KIND, MARKS, TWINS, MARGIN = 0.5, 0.7, 0.5, 1.0


class CrossEncoder(nn.Module):
    """A BERT with a three-way head on pooled states and a one-way head on each token."""

    def __init__(self, encoder: BertModel) -> None:
        """`encoder` is changed by training: nothing is frozen."""
        super().__init__()
        self.encoder = encoder
        size = encoder.config.hidden_size
        self.label = nn.Sequential(
            nn.Linear(4 * size, size), nn.GELU(), nn.Dropout(0.1), nn.Linear(size, len(LABELS))
        )
        self.mark = nn.Linear(size, 1)

    def forward(self, ids: Tensor, attention: Tensor, types: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of shape (batch, 3), and of shape (batch, tokens)."""
        states = self.encoder(
            input_ids=ids, attention_mask=attention, token_type_ids=types
        ).last_hidden_state
        claim = _mean(states, attention * (1 - types))
        evidence = _mean(states, attention * types)
        pooled = torch.cat([states[:, 0], claim, evidence, (claim - evidence).abs()], dim=-1)
        return self.label(pooled), self.mark(states).squeeze(-1)


def _mean(states: Tensor, mask: Tensor) -> Tensor:
    weights = mask.unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(1) / weights.sum(1).clamp(min=1.0)


def opened_encoder(folder: Path) -> BertModel:
    """The encoder's weights, without dropout: one pass over the data does not repeat itself.

    The eager attention is the one that can be written as ONNX.
    """
    return BertModel.from_pretrained(
        str(folder), add_pooling_layer=False, attn_implementation="eager",
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Example:
    """A pair as numbers; `marks` has a value for every token of the claim, else UNKNOWN."""

    ids: tuple[int, ...]
    types: tuple[int, ...]
    marks: tuple[int, ...]
    unfaithful: bool
    kind: int
    twin: str


def tokenizer_of(folder: Path) -> Tokenizer:
    """The encoder's own tokenizer."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    return tokenizer


def encoded(pairs: Sequence[Pair], tokenizer: Tokenizer) -> list[Example]:
    """The pairs as numbers, in order; of a long claim the beginning is read."""
    tokenizer.no_truncation()
    claims = [
        _cut(pair.claim, one)
        for pair, one in zip(
            pairs,
            tokenizer.encode_batch([pair.claim for pair in pairs], add_special_tokens=False),
            strict=True,
        )
    ]
    tokenizer.enable_truncation(LONGEST, strategy="only_second")
    texts = [(claim, pair.evidence) for claim, pair in zip(claims, pairs, strict=True)]
    found = tokenizer.encode_batch(texts)
    return [_example(pair, one) for pair, one in zip(pairs, found, strict=True)]


def _cut(claim: str, one: Encoding) -> str:
    return claim if len(one) <= MOST_TOKENS else claim[: one.offsets[MOST_TOKENS - 1][1]]


def _example(pair: Pair, one: Encoding) -> Example:
    kind = UNKNOWN if pair.kind is None else LABELS.index(pair.kind)
    marks = tuple(
        UNKNOWN
        if sequence != 0 or pair.marks is None
        else int(any(start < right and left < end for left, right in pair.marks))
        for (start, end), sequence in zip(one.offsets, one.sequence_ids, strict=True)
    )
    return Example(tuple(one.ids), tuple(one.type_ids), marks, pair.unfaithful, kind, pair.twin)


@dataclass(frozen=True, slots=True)
class Batch:
    """Examples padded to the longest."""

    ids: Tensor
    attention: Tensor
    types: Tensor
    marks: Tensor
    unfaithful: Tensor
    kind: Tensor
    twins: tuple[str, ...]


def collate(examples: Sequence[Example], device: str) -> Batch:
    """Pad on the right."""
    longest = max(len(one.ids) for one in examples)

    def padded(rows: list[tuple[int, ...]], filler: int) -> Tensor:
        return torch.tensor([[*row, *[filler] * (longest - len(row))] for row in rows]).to(device)

    return Batch(
        padded([one.ids for one in examples], 0),
        padded([(1,) * len(one.ids) for one in examples], 0),
        padded([one.types for one in examples], 0),
        padded([one.marks for one in examples], UNKNOWN),
        torch.tensor([float(one.unfaithful) for one in examples]).to(device),
        torch.tensor([one.kind for one in examples]).to(device),
        tuple(one.twin for one in examples),
    )


def loss_of(labels: Tensor, marks: Tensor, batch: Batch) -> Tensor:
    """Faithful or not, which of three, which words, and a wrong twin above its right one."""
    scores = labels.float().log_softmax(-1)
    unfaithful = torch.logsumexp(scores[:, 1:], -1)
    margin = unfaithful - scores[:, 0]
    loss = functional.binary_cross_entropy_with_logits(margin, batch.unfaithful)
    if (batch.kind != UNKNOWN).any():
        loss = loss + KIND * functional.nll_loss(scores, batch.kind, ignore_index=UNKNOWN)
    known = batch.marks != UNKNOWN
    if known.any():
        told = functional.binary_cross_entropy_with_logits(
            marks.float()[known], batch.marks[known].float()
        )
        loss = loss + MARKS * told
    return loss + TWINS * _ranked(margin, batch)


def _ranked(margin: Tensor, batch: Batch) -> Tensor:
    """Each wrong claim at least MARGIN above every right one made from the same sentence."""
    gaps = [
        margin[wrong] - margin[right]
        for wrong, name in enumerate(batch.twins)
        for right, other in enumerate(batch.twins)
        if name and name == other and batch.unfaithful[wrong] > batch.unfaithful[right]
    ]
    if not gaps:
        return margin.sum() * 0.0
    return functional.relu(MARGIN - torch.stack(gaps)).mean()
