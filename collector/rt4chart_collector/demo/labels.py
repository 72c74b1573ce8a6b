"""Human labels of the demo's answers, converted to labels of claims."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class HumanLabel:
    """A person's verdict on one answer, and the character ranges of its factual errors."""

    answer_id: str
    route: str
    answer: str
    hallucinated: bool
    ranges: tuple[tuple[int, int], ...]

    def marks(self, claim: str) -> bool | None:
        """Whether the claim, a slice of the answer, contains a labelled error; None if unknown.

        A summary can be wrong by omission. Then no range is marked, and only the answer as a whole
        is known to be wrong.
        """
        start = self.answer.find(claim)
        if start < 0 or (self.hallucinated and not self.ranges):
            return None
        return any(low < start + len(claim) and start < high for low, high in self.ranges)


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """Claims by human label and by verdict."""

    claims: int = 0
    marked: int = 0
    both: int = 0
    flagged: int = 0

    @property
    def rate(self) -> float | None:
        """The share of claims that people marked."""
        return self.marked / self.claims if self.claims else None

    @property
    def recall(self) -> float | None:
        """The share of marked claims that the judge flagged."""
        return self.both / self.marked if self.marked else None

    @property
    def false_alarms(self) -> float | None:
        """The share of unmarked claims that the judge flagged."""
        unmarked = self.claims - self.marked
        return (self.flagged - self.both) / unmarked if unmarked else None


def read_labels(folder: Path) -> dict[str, HumanLabel]:
    """The human labels by answer id, from a folder in RAGTruth's two-file layout."""
    sources = read_json_lines(folder / "source_info.jsonl")
    routes = {row["source_id"]: route_of(row) for row in sources}
    return {
        row["id"]: HumanLabel(
            answer_id=row["id"],
            route=routes[row["source_id"]],
            answer=row["response"],
            hallucinated=row["hallucinated"],
            ranges=tuple((span["start"], span["end"]) for span in row["labels"]),
        )
        for row in read_json_lines(folder / "response.jsonl")
    }


def route_of(source: Mapping[str, str]) -> str:
    """The route of a document: the domain in its task type, as in `Summary/sales_call`."""
    return source["task_type"].rpartition("/")[2]


def agreement(judged: list[tuple[HumanLabel, str, bool]]) -> LabelAgreement:
    """Compare (label, claim text, flagged) triples; claims without a known label are left out."""
    known = [(marked, flagged) for label, claim, flagged in judged
             if (marked := label.marks(claim)) is not None]  # fmt: skip
    return LabelAgreement(
        claims=len(known),
        marked=sum(marked for marked, _ in known),
        both=sum(marked and flagged for marked, flagged in known),
        flagged=sum(flagged for _, flagged in known),
    )


def read_json_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a bundled file, one a line."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
