"""Count how common words are: `python training/count_vocabulary.py DIR` writes vocabulary.json.

DIR has RAGTruth's two-file layout; only texts of its `train` split are counted.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from otel_rt4chart.bench.dataset import read_rows
from otel_rt4chart.verify.language.tokens import tokenize

TARGET = Path(__file__).parents[1] / "otel_rt4chart/verify/language/vocabulary.json"
LEAST = 8  # a stem in fewer texts counts as rare
LEAST_AS_NAME = 5


def main(folder: Path) -> None:
    """Count, in how many texts each stem stands, and which are mostly written with a capital."""
    rows = [row for row in read_rows(folder) if row.split == "train"]
    contexts = {
        row.source_id: "\n".join(passage.text for passage in row.exchange.passages) for row in rows
    }
    texts = [*contexts.values(), *(row.exchange.answer for row in rows)]
    holding: Counter[str] = Counter()
    capital: Counter[str] = Counter()
    lower: Counter[str] = Counter()
    for text in texts:
        words = [token for token in tokenize(text) if token.is_content and token.norm.isalpha()]
        holding.update({token.stem for token in words})
        for token in words:
            if not token.starts_clause:
                (capital if token.is_capital else lower)[token.stem] += 1
    counts = {stem: count for stem, count in sorted(holding.items()) if count >= LEAST}
    names = [
        stem
        for stem in counts
        if capital[stem] > 2 * lower[stem] and capital[stem] >= LEAST_AS_NAME
    ]
    counted = {"documents": len(texts), "counts": counts, "names": names}
    TARGET.write_text(
        json.dumps(counted, ensure_ascii=False, separators=(",", ":")) + "\n", "utf-8"
    )
    print(f"{len(texts)} texts, {len(counts)} stems, {len(names)} names: {TARGET}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
