"""What the network learns from: inference pairs first, then a mixture of all kinds of claims.

The sets differ in size by a factor of sixty: each gives at most its share, so that none decides
what a claim looks like. What is held out is not learnt from: the heads are fitted on it.
"""

from __future__ import annotations

import random
import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from exchanges import Exchanges
from pairs import MADE, Pair, inference, made, natural
from written.cases import NUMBERS, WRITTEN, number_pairs, read_cases, written_pairs

from otel_rt4chart.bench.dataset import LabelledAnswer, read_rows

MORE = "more"  # the folder of further data, laid out as the first
MOST = 4_500  # claims of a set
MOST_OF = {  # those with long contexts cost more than they teach
    "realsumm": 3_000, "summedits": 2_600, "defacto": 2_400, "infotabs": 2_000, "xsumfaith": 1_400,
    "tabfact": 1_200, "evidence_inference": 600,
}  # fmt: skip
EDITS, PREMISES = 2_200, 4_000
FILLINGS, NUMBER_PASSAGES = 4, 1_000
# Only these say which words are wrong; of any other set an entailed claim would teach that no word
# ever is.
MARKED = {MADE, NUMBERS, WRITTEN, "defacto", "summedits", "xsumfaith"}
_HELD_OUT, _PREMISES_HELD_OUT = 8, 12  # one document, one premise in so many


@dataclass(frozen=True, slots=True)
class Mixture:
    """Pairs to learn from, in no order, and those to look at."""

    pairs: list[Pair]
    held_out: list[Pair]


def is_held_out(group: str, every: int = _HELD_OUT) -> bool:
    """True for one document in so many, by its name alone."""
    return zlib.crc32(group.encode()) % every == 1


def inference_pairs(data: Path) -> Mixture:
    """All inference pairs; one premise of the further data in twelve is held out."""
    further = list(inference(data / MORE / "nli" / "pairs.jsonl"))
    held_out = [pair for pair in further if is_held_out(pair.group, _PREMISES_HELD_OUT)]
    unseen = {pair.group for pair in held_out}
    pairs = [*further, *inference(data / "nli" / "pairs.jsonl")]
    return Mixture([pair for pair in pairs if pair.group not in unseen], held_out)


def mixture(
    data: Path,
    first: Sequence[LabelledAnswer],
    premises: Sequence[Pair],
    exchanges: Exchanges,
    chance: random.Random,
) -> Mixture:
    """People's labels, written cases, edits and some `premises`, each in its share.

    `first` are the rows of the first data's `train`.
    """
    further = [pair for _, pair in natural(further_rows(data))]
    people = [pair for _, pair in natural(first)]
    people += [pair for pair in further if not is_held_out(pair.group)]
    edits = list(made(first, 1, chance.randrange(1 << 30), exchanges))
    cases = [one for one in read_cases() if not one.is_held_out]
    pairs = [
        *limited(people, chance),
        *chance.sample(edits, min(EDITS, len(edits))),
        *written_pairs(cases, FILLINGS, chance),
        *number_pairs(NUMBER_PASSAGES, chance),
        *chance.sample(premises, min(PREMISES, len(premises))),
    ]
    return Mixture(
        [pair if pair.dataset in MARKED else replace(pair, marks=None) for pair in pairs],
        [pair for pair in further if is_held_out(pair.group)],
    )


def further_rows(data: Path) -> list[LabelledAnswer]:
    """The further data's `train`."""
    return [row for row in read_rows(data / MORE / "grounding") if row.split == "train"]


def limited(pairs: Iterable[Pair], chance: random.Random) -> list[Pair]:
    """Of each data set at most its share of the pairs."""
    groups: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        groups[pair.dataset].append(pair)
    return [
        pair
        for name, group in groups.items()
        for pair in chance.sample(group, min(len(group), MOST_OF.get(name, MOST)))
    ]
