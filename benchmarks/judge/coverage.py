"""The overlap of content words, claim by claim: what tools fall back on without a model.

    python -m benchmarks.judge.coverage DIR

prints the threshold that is best on the folder's training rows, for `FLAGGED_BELOW`.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.judge.systems import Said, Verdict, claims_of, joined
from otel_rt4chart.bench.dataset import LabelledAnswer, read_rows
from otel_rt4chart.verify.core.model import Exchange, Label
from otel_rt4chart.verify.language.tokens import content

# Best balanced accuracy of answers on the training rows, all data sets alike.
FLAGGED_BELOW = 0.66
STEPS = 200


def verify(exchange: Exchange) -> Verdict:
    """A claim is baseless where too little of its content stands anywhere in the passages."""
    known = _known(exchange)
    claims = []
    for draft in claims_of(exchange.answer):
        share = covered(draft.text, known)
        label = Label.BASELESS if share < FLAGGED_BELOW else Label.ENTAILED
        confidence = 1.0 - share if label.is_unfaithful else share
        claims.append(Said(label, confidence, 1.0 - share, draft.range, draft.range))
    return joined(tuple(claims))


def covered(claim: str, known: Mapping[str, float]) -> float:
    """The share of the claim's content words, by rarity, that are known."""
    said = content(claim)
    total = sum(said.values())
    return sum(rarity for stem, rarity in said.items() if stem in known) / total if total else 1.0


def best_threshold(rows: Sequence[LabelledAnswer]) -> float:
    """The threshold with the best balanced accuracy of answers."""
    least = [(1.0 - verify(row.exchange).unfaithful, row.is_hallucinated) for row in rows]
    wrong = sum(is_wrong for _, is_wrong in least)

    def balanced(threshold: float) -> float:
        found = sum(share < threshold for share, is_wrong in least if is_wrong)
        passed = sum(share >= threshold for share, is_wrong in least if not is_wrong)
        return found / max(wrong, 1) + passed / max(len(least) - wrong, 1)

    return max((step / STEPS for step in range(STEPS + 1)), key=balanced)


def _known(exchange: Exchange) -> dict[str, float]:
    return {
        stem: rarity
        for passage in exchange.passages
        for stem, rarity in content(passage.text).items()
    }


def main() -> None:
    """Choose the threshold on the training rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    rows = [row for row in read_rows(parser.parse_args().folder) if row.split == "train"]
    print(f"{best_threshold(rows):.3f}, chosen on {len(rows)} answers")


if __name__ == "__main__":
    main()
