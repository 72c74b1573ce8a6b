"""Fits the cross-encoder to pairs, scores pairs with it, keeps what it has learnt."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from network import CrossEncoder, Example, collate, encoded, loss_of
from pairs import Pair
from sklearn.metrics import roc_auc_score
from tokenizers import Tokenizer
from torch import nn

TOKENS = 2048  # of a batch
KEPT_EVERY = 200  # batches


class Trainer:
    """A model and what fits it; every method works on it in place."""

    def __init__(self, model: CrossEncoder, tokenizer: Tokenizer, *, seed: int) -> None:
        """On the GPU where there is one."""
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        self._seed, self._tokenizer = seed, tokenizer
        self._model = model.to(self._device)

    def fit(self, pairs: Sequence[Pair], rate: float, out: Path, name: str) -> None:
        """One pass by AdamW: a linear warm-up over a tenth, a linear fall to nothing.

        Writes OUT/NAME.pt, and is left out where that is there. A run that was cut off goes on from
        the last batches that were kept, and comes to the same weights.
        """
        finished, kept = out / f"{name}.pt", out / f"{name}.part"
        if finished.is_file():
            self._model.load_state_dict(self._loaded(finished))
            return
        random.seed(self._seed)
        torch.manual_seed(self._seed)
        batches = list(batched(encoded(pairs, self._tokenizer)))
        optimizer = torch.optim.AdamW(
            self._model.parameters(), lr=rate, weight_decay=0.01, fused=True
        )
        warm, last = max(1, len(batches) // 10), len(batches)
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: min((step + 1) / warm, (last - step) / max(1, last - warm))
        )
        parts = {"model": self._model, "optimizer": optimizer, "schedule": schedule}
        done = self._resume(kept, parts) if kept.is_file() else 0
        began, seen, running = time.monotonic(), 0, 0.0
        for number, chosen in enumerate(batches[done:], start=done + 1):
            running = 0.98 * running + 0.02 * self._learn(chosen, optimizer)
            schedule.step()
            seen += sum(len(one.ids) for one in chosen)
            if number % KEPT_EVERY == 0 or number == last:
                speed = seen / (time.monotonic() - began)
                told(f"{name}: {number}/{last} batches, loss {running:.3f}, {speed:.0f} tokens/s")
                states = {key: part.state_dict() for key, part in parts.items()}
                torch.save(states | {"done": number, "chance": torch.get_rng_state()}, kept)
        torch.save(self._model.state_dict(), finished)
        kept.unlink(missing_ok=True)

    def _learn(self, chosen: Sequence[Example], optimizer: torch.optim.Optimizer) -> float:
        """One step on one batch; the loss."""
        self._model.train()
        batch = collate(chosen, self._device)
        with torch.autocast(self._device, dtype=torch.bfloat16):
            labels, marks = self._model(batch.ids, batch.attention, batch.types)
        loss = loss_of(labels, marks, batch)
        loss.backward()
        nn.utils.clip_grad_norm_(self._model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        return float(loss.item())

    def _resume(self, kept: Path, parts: dict[str, Any]) -> int:
        states = self._loaded(kept)
        for key, part in parts.items():
            part.load_state_dict(states[key])
        torch.set_rng_state(states["chance"].cpu())
        return int(states["done"])

    def _loaded(self, path: Path) -> dict[str, Any]:
        return dict(torch.load(path, map_location=self._device, weights_only=True))

    @torch.no_grad()
    def scores(self, pairs: Sequence[Pair]) -> list[list[float]]:
        """The three log-probabilities of each pair."""
        self._model.eval()
        examples = encoded(pairs, self._tokenizer)
        order = sorted(range(len(pairs)), key=lambda at: len(examples[at].ids))
        found: dict[int, list[float]] = {}
        for first in range(0, len(order), 64):
            chosen = order[first : first + 64]
            batch = collate([examples[at] for at in chosen], self._device)
            with torch.autocast(self._device, dtype=torch.bfloat16):
                labels, _ = self._model(batch.ids, batch.attention, batch.types)
            found |= dict(zip(chosen, labels.float().log_softmax(-1).tolist(), strict=True))
        return [found[at] for at in range(len(pairs))]

    def watch(self, title: str, pairs: Sequence[Pair]) -> None:
        """Print the area under the curve of claims, by data set that has both kinds."""
        unfaithful = [1.0 - math.exp(row[0]) for row in self.scores(pairs)]
        for name in sorted({pair.dataset for pair in pairs}):
            chosen = [at for at, pair in enumerate(pairs) if pair.dataset == name]
            labels = [pairs[at].unfaithful for at in chosen]
            if len(set(labels)) == 2:
                area = roc_auc_score(labels, [unfaithful[at] for at in chosen])
                told(f"{title}: {name} {len(chosen)} claims, AUROC {area:.3f}")


def batched(examples: Sequence[Example]) -> Iterator[list[Example]]:
    """Batches of like length; twins stay together where they can."""
    order = sorted(
        range(len(examples)),
        key=lambda at: (len(examples[at].ids) // 16, examples[at].twin, random.random()),
    )
    batches: list[list[Example]] = [[]]
    for at in order:
        longest = max([len(examples[at].ids), *(len(one.ids) for one in batches[-1])])
        if batches[-1] and longest * (len(batches[-1]) + 1) > TOKENS:
            batches.append([])
        batches[-1].append(examples[at])
    random.shuffle(batches)
    yield from batches


def told(message: str) -> None:
    """Print with the time."""
    print(time.strftime("%H:%M:%S"), message, flush=True)
