"""How the mechanical fingerprint of an edited sentence relates to what people say was edited.

    python -m benchmarks.clustering.fingerprint_kinds DIR [--split train|dev] [--json]

DIR holds SummEdits rows in RAGTruth's two-file layout, `kinds` naming the edits of each answer.
Each sentence with an edited span is laid beside the source's most similar sentence; answers
without an edit are the control: what fires there is paraphrase.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from otel_rt4chart.verify.findings.classify import classify_failure
from otel_rt4chart.verify.findings.failure_kinds import UNEXPLAINED, FailureKind
from otel_rt4chart.verify.language.slots import read_context, read_slots
from otel_rt4chart.verify.local.alignment import align
from otel_rt4chart.verify.text.segment import segment

# What an op has to be for the people's word; the mapping is ours and was made before measuring.
EXPECTED = {
    "entity_modification": {
        FailureKind.ENTITY,
        FailureKind.NUMBER,
        FailureKind.UNIT,
        FailureKind.DATE,
        FailureKind.TERM,
    },
    "antonym_swap": {
        FailureKind.OPPOSITE,
        FailureKind.DIRECTION,
        FailureKind.EXCLUSION,
        FailureKind.SCOPE,
    },
    "negation_insertion_removal": {FailureKind.POLARITY, FailureKind.EXCLUSION},
    "hallucinated_fact_insertion": {FailureKind.ADDITION},
}
CONTROL, SEVERAL = "(no edit)", "(several kinds)"


def main() -> None:
    """Read the folder, count, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--split", choices=("train", "dev"))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    counts: defaultdict[str, Counter[FailureKind]] = defaultdict(Counter)
    for kind, op in pairs(options.folder, options.split):
        counts[kind][op] += 1
    if options.json:
        print(json.dumps(counts, indent=2))
    else:
        print(table(counts))


def pairs(folder: Path, split: str | None) -> Iterator[tuple[str, FailureKind]]:
    """Each edited sentence's kind and primary op; of unedited answers, every sentence."""
    sources = {row["source_id"]: row for row in rows(folder / "source_info.jsonl")}
    for row in rows(folder / "response.jsonl"):
        if row["dataset"] != "summedits" or split not in (None, row["split"]):
            continue
        kinds = row["kinds"] or []
        if row["hallucinated"] and not (kinds and row["labels"]):
            continue
        kind = kinds[0] if len(kinds) == 1 else SEVERAL if kinds else CONTROL
        for sentence, beside in laid(row, sources[row["source_id"]]["contexts"]):
            yield kind, classify_failure(sentence, "contradicted", [beside]).kind


def laid(row: dict[str, Any], contexts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The sentences that count, each with the source's sentence that holds most of its weight."""
    context = read_context([found.text for text in contexts for found in segment(text)])
    for sentence in segment(row["response"]):
        spans = [(label["start"], label["end"]) for label in row["labels"]]
        if row["hallucinated"] and not any(
            start < sentence.end and end > sentence.start for start, end in spans
        ):
            continue
        chosen = align(read_slots(sentence.text), context).sentences
        yield sentence.text, context.sentences[chosen[0]].text if chosen else ""


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a JSONL file."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def table(counts: dict[str, Counter[FailureKind]]) -> str:
    """Shares of each primary op per kind, of the pool, and of what agrees with the kind."""
    lines = [
        " " * 28
        + "     n  "
        + " ".join(f"{op.value[:9]:>9}" for op in FailureKind)
        + "   pool  agree"
    ]
    for kind in sorted(counts, key=lambda kind: (kind.startswith("("), kind)):
        total = counts[kind].total()
        shares = " ".join(f"{counts[kind][op] / total:9.3f}" for op in FailureKind)
        pool = sum(counts[kind][op] for op in UNEXPLAINED) / total
        wanted = EXPECTED.get(kind)
        agree = sum(counts[kind][op] for op in wanted) / total if wanted else None
        shown = f"{agree:6.3f}" if agree is not None else "     -"
        lines.append(f"{kind:28}{total:6}  {shares} {pool:6.3f} {shown}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
