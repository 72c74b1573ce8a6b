"""Fits the cross-encoder to pairs, scores pairs with it, keeps what it has learnt."""

from __future__ import annotations

import copy
import math
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import torch
from network import CrossEncoder, Example, collate, encoded, loss_of
from pairs import Pair
from sklearn.metrics import roc_auc_score
from tokenizers import Tokenizer
from torch import Tensor, nn

TOKENS = 2048  # of a batch


class Trainer:
    """A model on a device; every method works on it in place."""

    def __init__(
        self, model: CrossEncoder, tokenizer: Tokenizer, device: str, *, seed: int
    ) -> None:
        """`device` is cpu or cuda."""
        self._seed = seed
        self._model, self._tokenizer, self._device = model.to(device), tokenizer, device

    def state(self) -> Mapping[str, Tensor]:
        """A copy of all weights."""
        return copy.deepcopy(self._model.state_dict())

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Go on from those weights."""
        self._model.load_state_dict(state)

    def once(self, path: Path, learn: Callable[[], None]) -> None:
        """The weights at `path` where there are some; else learn them, and keep them there.

        Chance begins anew, so that a run that was cut off goes on as it would have.
        """
        random.seed(self._seed)
        torch.manual_seed(self._seed)
        if path.is_file():
            self.load(torch.load(path, map_location=self._device, weights_only=True))
            return
        learn()
        torch.save(self._model.state_dict(), path)

    def fit(self, pairs: Sequence[Pair], rate: float) -> None:
        """AdamW, a linear warm-up over a tenth, a linear fall to nothing."""
        model = self._model.train()
        batches = list(batched(encoded(pairs, self._tokenizer)))
        optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01)
        warm, last = max(1, len(batches) // 10), len(batches)
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: min((step + 1) / warm, (last - step) / max(1, last - warm))
        )
        began, seen, running = time.monotonic(), 0, 0.0
        for number, chosen in enumerate(batches, start=1):
            batch = collate(chosen, self._device)
            with torch.autocast(self._device, dtype=torch.bfloat16):
                labels, marks = model(batch.ids, batch.attention, batch.types)
            loss = loss_of(labels, marks, batch)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            seen, running = seen + batch.ids.numel(), 0.98 * running + 0.02 * loss.item()
            if number % 100 == 0 or number == last:
                speed = seen / (time.monotonic() - began)
                told(f"{number}/{last} batches, loss {running:.3f}, {speed:.0f} tokens/s")

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
        """Print the area under the curve of claims, by data set."""
        unfaithful = [1.0 - math.exp(row[0]) for row in self.scores(pairs)]
        for name in sorted({pair.dataset for pair in pairs}):
            chosen = [at for at, pair in enumerate(pairs) if pair.dataset == name]
            labels = [pairs[at].unfaithful for at in chosen]
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
