"""Fine-tune the judge's cross-encoder: `train_judge.py DATA ENCODER WORDNET OUT`.

DATA has `grounding/` (RAGTruth's two-file layout), `nli/pairs.jsonl` and both again in `more/`;
ENCODER is the folder of bge-small-en-v1.5's weights, WORDNET that of WordNet's database. Inference
pairs first (`inference.pt`), then the mixture (`shipped.pt`), once each.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path

from exchanges import Exchanges
from mixture import inference_pairs, mixture
from network import CrossEncoder, opened_encoder, tokenizer_of
from pairs import Pair, natural
from trainer import Trainer, told
from wordnet import read_wordnet

from otel_rt4chart.bench.dataset import LabelledAnswer, read_rows
from otel_rt4chart.verify.text.segment import segment_passages

SEED = 42
INFERENCE_RATE, RATE = 1e-4, 7e-5
# A context that has so many sentences of so many characters in common with another is its copy.
SHARED, LONG = 3, 60


def main() -> None:
    """The stages in order; what OUT already holds of an earlier run is not made again."""
    options = _options()
    options.out.mkdir(parents=True, exist_ok=True)
    chance = random.Random(options.seed)
    premises = inference_pairs(options.data)
    trainer = Trainer(
        CrossEncoder(opened_encoder(options.encoder)),
        tokenizer_of(options.encoder),
        seed=options.seed,
    )
    told(f"{len(premises.pairs)} inference pairs")
    trainer.fit(share(premises.pairs, options, chance), INFERENCE_RATE, options.out, "inference")
    trainer.watch("inference pairs", share(premises.held_out, options, chance))
    rows = read_rows(options.data / "grounding")
    mixed = mixture(
        options.data, unseen(rows), premises.pairs, Exchanges(read_wordnet(options.wordnet)), chance
    )
    told(f"{len(mixed.pairs)} pairs of the mixture")
    trainer.fit(share(mixed.pairs, options, chance), RATE, options.out, "shipped")
    trainer.watch("held out", share(mixed.held_out, options, chance))
    trainer.watch("dev", [pair for _, pair in natural(row for row in rows if row.split == "dev")])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("wordnet", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--share", type=float, default=1.0, help="of the pairs, to try the recipe")
    parser.add_argument("--seed", type=int, default=SEED)
    return parser.parse_args()


def share(pairs: Sequence[Pair], options: argparse.Namespace, chance: random.Random) -> list[Pair]:
    """As much of the pairs as was asked for; all claims of one case, or none."""
    if options.share >= 1.0:
        return list(pairs)
    cases = sorted({pair.twin or pair.answer for pair in pairs})
    kept = set(chance.sample(cases, round(len(cases) * options.share)))
    return [pair for pair in pairs if (pair.twin or pair.answer) in kept]


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


if __name__ == "__main__":
    main()
