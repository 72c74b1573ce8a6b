"""An application as the gate asks it: a case a line in, an answer a line out.

    rt4chart gate --evalset summaries.jsonl --command "python answer.py"

Put the call of your own application where `summary` is. This one copies the sentence that shares
most words with the others, so it invents nothing.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence


def main() -> None:
    """Answer every case."""
    for line in sys.stdin:
        case = json.loads(line)
        texts = [passage["text"] for passage in case["contexts"]]
        print(json.dumps({"id": case["id"], "answer": summary(texts)}))


def summary(texts: Sequence[str]) -> str:
    """The sentence that shares most words with the others."""
    sentences = [
        one for text in texts for one in re.split(r"(?<=[.!?])\s+|\n+", text) if one.strip()
    ]
    counts: dict[str, int] = {}
    for sentence in sentences:
        for word in words(sentence):
            counts[word] = counts.get(word, 0) + 1
    return max(
        sentences, key=lambda one: sum(counts[word] for word in words(one)) / len(one) ** 0.5
    )


def words(text: str) -> set[str]:
    """The longer words, in small letters."""
    return set(re.findall(r"\w{5,}", text.lower()))


if __name__ == "__main__":
    main()
