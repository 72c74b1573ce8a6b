"""What the last stage learns from: people's labels, written cases, edits and inference pairs.

The sets differ in size by a factor of sixty: none gives more than `MOST` claims, so that none
decides what a claim looks like. What is held out is not learnt from: the heads are fitted on it.
"""

from __future__ import annotations

import random
import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from exchanges import Exchanges
from pairs import Pair, inference, made, natural
from written.cases import number_pairs, read_cases, written_pairs

from otel_rt4chart.bench.dataset import LabelledAnswer, read_rows

MORE = "more"  # the folder of further data, laid out as the first
MOST = 4_500
MOST_OF = {  # those with long contexts cost more than they teach
    "realsumm": 3_000, "summedits": 2_400, "defacto": 2_400, "infotabs": 2_000, "tabfact": 1_200,
    "xsumfaith": 1_200, "evidence_inference": 600,
}  # fmt: skip
EDITS, PREMISES = 1_600, 4_500
FILLINGS, NUMBER_PASSAGES = 4, 1_000
_HELD_OUT, _PREMISES_HELD_OUT = 8, 12  # one document, one premise in so many


@dataclass(frozen=True, slots=True)
class Mixture:
    """Pairs to learn from, in no order, and those to look at."""

    pairs: list[Pair]
    held_out: list[Pair]


def is_held_out(group: str, every: int = _HELD_OUT) -> bool:
    """True for one document in so many, by its name alone."""
    return zlib.crc32(group.encode()) % every == 1


def further_inference(data: Path) -> list[Pair]:
    """The inference pairs of the further data, without the premises that are held out."""
    pairs = inference(data / MORE / "nli" / "pairs.jsonl")
    return [pair for pair in pairs if not is_held_out(pair.group, _PREMISES_HELD_OUT)]


def mixture(
    data: Path, first: Sequence[LabelledAnswer], exchanges: Exchanges, seed: int
) -> Mixture:
    """Everything in its share; `first` are the rows of the first data's `train`."""
    chance = random.Random(seed)
    further = [pair for _, pair in natural(further_rows(data))]
    people = [pair for _, pair in natural(first)]
    people += [pair for pair in further if not is_held_out(pair.group)]
    edits = list(made(first, 1, seed, exchanges))
    cases = read_cases()
    written = written_pairs([one for one in cases if not one.is_held_out], FILLINGS, chance)
    premises = further_inference(data) + list(inference(data / "nli" / "pairs.jsonl"))
    return Mixture(
        [
            *limited(people, chance),
            *chance.sample(edits, min(EDITS, len(edits))),
            *written,
            *number_pairs(NUMBER_PASSAGES, chance),
            *chance.sample(premises, min(PREMISES, len(premises))),
        ],
        [pair for pair in further if is_held_out(pair.group)],
    )


def further_rows(data: Path) -> list[LabelledAnswer]:
    """The further data's `train`."""
    return [row for row in read_rows(data / MORE / "grounding") if row.split == "train"]


def limited(pairs: Iterable[Pair], chance: random.Random) -> list[Pair]:
    """Of each data set at most `MOST` of the pairs."""
    groups: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        groups[pair.dataset].append(pair)
    return [
        pair
        for name, group in groups.items()
        for pair in chance.sample(group, min(len(group), MOST_OF.get(name, MOST)))
    ]
