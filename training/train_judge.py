"""Fine-tune the judge's cross-encoder: `python training/train_judge.py DATA ENCODER OUT`.

DATA has `grounding/` (RAGTruth's two-file layout) and `nli/pairs.jsonl`; ENCODER is the folder of
all-MiniLM-L6-v2's weights. Three stages: inference pairs, made edits, people's labels mixed with
both. Writes `judge.pt` (fitted on all of `train`) and `scores.jsonl`: out of fold on `train`, so
that the head on top is not fitted on what the network has learnt by heart, and on `dev`.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import random
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

import torch
from network import CrossEncoder, Example, collate, encoded, loss_of, tokenizer_of
from pairs import Pair, inference, made, natural
from sklearn.metrics import roc_auc_score
from tokenizers import Tokenizer
from torch import nn
from transformers import BertModel

from otel_rt4chart.bench.dataset import Row, read_rows

FOLDS, SEED = 2, 42
TOKENS = 2048  # of a batch
RATES = (8e-5, 5e-5, 5e-5)  # of the three stages
MADE_ROUNDS, EPOCHS, REPLAY = 1, 2, 0.5


def main() -> None:
    """The stages in order."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--share", type=float, default=1.0, help="of the data, to try the recipe")
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    random.seed(options.seed)
    torch.manual_seed(options.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"

    rows = read_rows(options.data / "grounding")
    tokenizer = tokenizer_of(options.encoder)
    train = sampled([row for row in rows if row.split == "train"], options.share)
    dev = [pair for _, pair in natural(row for row in rows if row.split == "dev")]
    people = [pair for _, pair in natural(train)]
    premises = list(inference(options.data / "nli" / "pairs.jsonl"))
    premises = premises[:: max(1, round(1 / options.share))]
    edited = list(made(train, MADE_ROUNDS, options.seed))
    told(f"{len(people)} claims, {len(premises)} inference pairs, {len(edited)} edits")

    model = CrossEncoder(BertModel.from_pretrained(options.encoder, add_pooling_layer=False))
    model.to(device)
    fit(model, encoded(premises, tokenizer), RATES[0], device)
    watch("inference", model, dev, tokenizer, device)
    start = copy.deepcopy(model.state_dict())
    learn(model, people, edited, premises, tokenizer, device)
    watch("people", model, dev, tokenizer, device)
    torch.save(model.state_dict(), options.out / "judge.pt")
    with (options.out / "scores.jsonl").open("w", encoding="utf-8") as out:
        write(out, "dev", dev, scores(model, dev, tokenizer, device))
        for fold in range(FOLDS):
            model.load_state_dict(start)
            learn(model, *without(fold, people, edited), premises, tokenizer, device)
            outside = [pair for pair in people if fold_of(pair.group) == fold]
            write(out, "train", outside, scores(model, outside, tokenizer, device))


def sampled(rows: Sequence[Row], share: float) -> list[Row]:
    """A share of the documents, whole."""
    groups = sorted({row.group for row in rows})
    kept = set(groups[:: max(1, round(1 / share))])
    return [row for row in rows if row.group in kept]


def fold_of(group: str) -> int:
    """A document's fold, the same in every run."""
    return sum(map(ord, group)) % FOLDS


def without(
    fold: int, people: Sequence[Pair], edited: Sequence[Pair]
) -> tuple[list[Pair], list[Pair]]:
    """What the fold's documents have no part in."""
    return (
        [pair for pair in people if fold_of(pair.group) != fold],
        [pair for pair in edited if fold_of(pair.group) != fold],
    )


def learn(
    model: CrossEncoder,
    people: Sequence[Pair],
    edited: Sequence[Pair],
    premises: Sequence[Pair],
    tokenizer: Tokenizer,
    device: str,
) -> None:
    """Edits, then people's labels with some of both others, data sets and classes balanced."""
    fit(model, encoded(edited, tokenizer), RATES[1], device)
    mixed = []
    for _ in range(EPOCHS):
        mixed += balanced(people)
        for others in (edited, premises):
            mixed += random.sample(list(others), min(len(others), int(REPLAY * len(people))))
    fit(model, encoded(mixed, tokenizer), RATES[2], device)


def balanced(pairs: Sequence[Pair]) -> list[Pair]:
    """As many pairs, each data set and each of its classes by the square root of its size."""
    groups: defaultdict[tuple[str, bool], list[Pair]] = defaultdict(list)
    for pair in pairs:
        groups[pair.dataset, pair.unfaithful].append(pair)
    roots = {key: len(group) ** 0.5 for key, group in groups.items()}
    total = sum(roots.values())
    return [
        pair
        for key, group in groups.items()
        for pair in random.choices(group, k=round(len(pairs) * roots[key] / total))
    ]


def fit(model: CrossEncoder, examples: Sequence[Example], rate: float, device: str) -> None:
    """AdamW, a linear warm-up over a tenth, a linear fall to nothing."""
    model.train()
    batches = list(batched(examples))
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01)
    warm = max(1, len(batches) // 10)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min((step + 1) / warm, (len(batches) - step) / max(1, len(batches) - warm)),
    )
    began, seen, running = time.monotonic(), 0, 0.0
    for number, chosen in enumerate(batches, start=1):
        batch = collate(chosen, device)
        with torch.autocast(device, dtype=torch.bfloat16):
            labels, marks = model(batch.ids, batch.attention, batch.types)
        loss = loss_of(labels, marks, batch)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        seen, running = seen + batch.ids.numel(), 0.98 * running + 0.02 * loss.item()
        if number % 100 == 0 or number == len(batches):
            speed = seen / (time.monotonic() - began)
            told(f"{number}/{len(batches)} batches, loss {running:.3f}, {speed:.0f} tokens/s")


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


@torch.no_grad()
def scores(
    model: CrossEncoder, pairs: Sequence[Pair], tokenizer: Tokenizer, device: str
) -> list[list[float]]:
    """The three log-probabilities of each pair."""
    model.eval()
    examples = encoded(pairs, tokenizer)
    order = sorted(range(len(pairs)), key=lambda at: len(examples[at].ids))
    found: dict[int, list[float]] = {}
    for first in range(0, len(order), 64):
        chosen = order[first : first + 64]
        batch = collate([examples[at] for at in chosen], device)
        with torch.autocast(device, dtype=torch.bfloat16):
            labels, _ = model(batch.ids, batch.attention, batch.types)
        found |= dict(zip(chosen, labels.float().log_softmax(-1).tolist(), strict=True))
    return [found[at] for at in range(len(pairs))]


def watch(
    title: str, model: CrossEncoder, pairs: Sequence[Pair], tokenizer: Tokenizer, device: str
) -> None:
    """Print the area under the curve of claims, by data set."""
    unfaithful = [1.0 - math.exp(row[0]) for row in scores(model, pairs, tokenizer, device)]
    for name in sorted({pair.dataset for pair in pairs}):
        chosen = [at for at, pair in enumerate(pairs) if pair.dataset == name]
        labels = [pairs[at].unfaithful for at in chosen]
        area = roc_auc_score(labels, [unfaithful[at] for at in chosen])
        told(f"{title}: {name} {len(chosen)} claims, AUROC {area:.3f}")


def write(out: TextIO, split: str, pairs: Sequence[Pair], rows: Sequence[Sequence[float]]) -> None:
    """One line a claim."""
    for pair, row in zip(pairs, rows, strict=True):
        line = {
            "split": split, "dataset": pair.dataset, "answer": pair.answer, "claim": pair.claim,
            "scores": [round(value, 4) for value in row],
        }  # fmt: skip
        print(json.dumps(line), file=out)


def told(message: str) -> None:
    """Print with the time."""
    print(time.strftime("%H:%M:%S"), message, flush=True)


if __name__ == "__main__":
    main()
