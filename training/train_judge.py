"""Fine-tune the judge's cross-encoder: `train_judge.py DATA ENCODER WORDNET OUT`.

DATA has `grounding/` (RAGTruth's two-file layout) and `nli/pairs.jsonl`; ENCODER is the folder of
all-MiniLM-L6-v2's weights, WORDNET that of WordNet's database. Inference pairs first; then made
edits, then people's labels mixed with some of both, on all of `train` (`full.pt`); and from where
the inference pairs ended, such a mix without each data set (`without-NAME.pt`). `shipped.pt` is
their average, in which `full.pt` weighs as much as all others.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from exchanges import Exchanges
from network import CrossEncoder, tokenizer_of
from pairs import Pair, inference, made, natural
from torch import Tensor
from trainer import Trainer, told
from transformers import BertModel
from wordnet import read_wordnet

from otel_rt4chart.bench.dataset import LabelledAnswer, read_rows
from otel_rt4chart.verify.text.segment import segment_passages

SEED = 42
INFERENCE_RATE, INFERENCE_EPOCHS = 1e-4, 2
RATE, EPOCHS = 5e-5, 2
CLAIMS_WITHOUT = 4_000  # of people, at least, in the whole of a run without a data set
# Of each hundred of people's claims in an epoch, so many edits and inference pairs beside them: of
# edits fewer where they were rehearsed before.
EDITS, EDITS_AGAIN, PREMISES, MADE_ROUNDS = 60, 30, 40, 2
# A context that has so many sentences of so many characters in common with another is its copy.
SHARED, LONG = 3, 60
# What each further run never sees, so that the head on top is fitted on scores of strange data.
LEFT_OUT = (("summedits",), ("xsumfaith",), ("wice", "dialfact"))


def main() -> None:
    """The stages in order; what OUT already holds of an earlier run is not made again."""
    options = _options()
    options.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(options.seed)
    tokenizer = tokenizer_of(options.encoder)
    material = gather(options, Exchanges(read_wordnet(options.wordnet)))
    model = CrossEncoder(BertModel.from_pretrained(options.encoder, add_pooling_layer=False))
    device = "cuda" if torch.cuda.is_available() else "cpu"
    trainer = Trainer(model, tokenizer, device, seed=options.seed)

    def inference() -> None:
        trainer.fit(material.premises * INFERENCE_EPOCHS, INFERENCE_RATE)

    trainer.once(options.out / "inference.pt", inference)
    trainer.watch("inference pairs", material.dev)
    start = trainer.state()

    def all_of_it() -> None:
        trainer.fit(material.rehearsed(), RATE)
        trainer.fit(material.mixed(EPOCHS, EDITS_AGAIN), RATE)

    trainer.once(options.out / "full.pt", all_of_it)
    trainer.watch("all", material.dev)
    paths = [options.out / "full.pt"] * len(LEFT_OUT)
    for names in LEFT_OUT:
        inside, outside = material.split(names)
        epochs = max(1, round(CLAIMS_WITHOUT / len(inside.people)))

        def learn(inside: Material = inside, epochs: int = epochs) -> None:
            trainer.fit(inside.mixed(epochs, EDITS), RATE)

        name = "+".join(names)
        paths.append(options.out / f"without-{name}.pt")
        trainer.load(start)
        trainer.once(paths[-1], learn)
        trainer.watch(f"without {name}", [*outside.dev, *outside.people])
    trainer.load(averaged(paths))
    torch.save(trainer.state(), options.out / "shipped.pt")
    trainer.watch("averaged", material.dev)


def averaged(paths: Sequence[Path]) -> dict[str, Tensor]:
    """The mean of the weights of networks that began as one (Wortsman et al., 2022)."""
    states = [torch.load(path, map_location="cpu", weights_only=True) for path in paths]
    return {
        name: sum(state[name] for state in states) / len(states)
        if first.is_floating_point()
        else first
        for name, first in states[0].items()
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("wordnet", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--share", type=float, default=1.0, help="of the data, to try the recipe")
    parser.add_argument("--seed", type=int, default=SEED)
    return parser.parse_args()


@dataclass(frozen=True, slots=True)
class Material:
    """People's labels, made edits and inference pairs to learn from; `dev` to look at."""

    people: list[Pair]
    edited: list[Pair]
    premises: list[Pair]
    dev: list[Pair]
    datasets: Mapping[str, str]  # of each document

    def split(self, names: Collection[str]) -> tuple[Material, Material]:
        """Without those data sets, and they alone; inference pairs belong to no data set."""

        def part(*, has: bool) -> Material:
            chosen = (
                [pair for pair in pairs if (self.datasets[pair.group] in names) == has]
                for pairs in (self.people, self.edited, self.dev)
            )
            people, edited, dev = chosen
            return Material(people, edited, self.premises, dev, self.datasets)

        return part(has=False), part(has=True)

    def rehearsed(self) -> list[Pair]:
        """Half of the edits, twins together, with as many inference pairs as stand by a mix."""
        names = sorted({pair.twin for pair in self.edited})
        kept = set(random.sample(names, len(names) // 2))
        edited = [pair for pair in self.edited if pair.twin in kept]
        wanted = len(edited) * PREMISES // 100
        return edited + random.sample(self.premises, min(len(self.premises), wanted))

    def mixed(self, epochs: int, edits: int) -> list[Pair]:
        """People's labels with some of both others, data sets and classes balanced."""
        mixed = []
        for _ in range(epochs):
            mixed += balanced(self.people)
            for others, share in ((self.edited, edits), (self.premises, PREMISES)):
                wanted = len(self.people) * share // 100
                mixed += random.sample(others, min(len(others), wanted))
        return mixed


def gather(options: argparse.Namespace, exchanges: Exchanges) -> Material:
    """All pairs; a document of `train` that shares sentences with one of `dev` is left out."""
    rows = read_rows(options.data / "grounding")
    train = sampled(unseen(rows), options.share)
    premises = list(inference(options.data / "nli" / "pairs.jsonl"))
    found = Material(
        people=[pair for _, pair in natural(train)],
        edited=list(made(train, MADE_ROUNDS, options.seed, exchanges)),
        premises=premises[:: max(1, round(1 / options.share))],
        dev=[pair for _, pair in natural(row for row in rows if row.split == "dev")],
        datasets={row.group: row.dataset for row in rows},
    )
    told(
        f"{len(found.people)} claims, {len(found.edited)} edits, {len(found.premises)} inference "
        f"pairs; {len(found.dev)} claims to look at"
    )
    return found


def unseen(rows: Sequence[LabelledAnswer]) -> list[LabelledAnswer]:
    """The rows of `train` whose context is not, in good part, that of a row of `dev`."""
    contexts = {
        row.source_id: frozenset(
            text
            for one in segment_passages(row.exchange.passages)
            if len(text := one.reading.casefold()) >= LONG
        )
        for row in rows
    }
    dev = frozenset().union(*(contexts[row.source_id] for row in rows if row.split == "dev"))
    return [
        row for row in rows if row.split == "train" and len(contexts[row.source_id] & dev) < SHARED
    ]


def sampled(rows: Sequence[LabelledAnswer], share: float) -> list[LabelledAnswer]:
    """A share of the documents, whole."""
    groups = sorted({row.group for row in rows})
    kept = set(groups[:: max(1, round(1 / share))])
    return [row for row in rows if row.group in kept]


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


if __name__ == "__main__":
    main()
