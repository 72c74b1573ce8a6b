"""Claims beside their evidence, from people's labels, from inference sets and from made edits."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path

from edits import Source, edits
from exchanges import Exchanges

from otel_rt4chart.bench.dataset import LabelledAnswer
from otel_rt4chart.verify.core.model import Sentence
from otel_rt4chart.verify.decompose.rules import decompose
from otel_rt4chart.verify.link.linker import Linker
from otel_rt4chart.verify.neural.premise import NEAREST, join_fitting, nearest_sentences
from otel_rt4chart.verify.text.segment import segment, segment_passages

LABELS = ("entailed", "contradicted", "baseless")
MADE = "made"


@dataclass(frozen=True, slots=True)
class Pair:
    """A claim and what it is read beside.

    `kind` is None where people did not tell contradicted from baseless; `marks` are the characters
    of the claim that are wrong, None where nobody marked any; `twin` joins edits of one sentence.
    """

    dataset: str
    group: str
    answer: str
    claim: str
    evidence: str
    unfaithful: bool
    kind: str | None
    marks: tuple[tuple[int, int], ...] | None = None
    twin: str = ""


class Context:
    """One source, indexed once for all claims on it."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        """`sentences` in the order of the document."""
        self.sentences = sentences
        self._linker = Linker(sentences)

    def evidence(self, claim: str, without: int | None = None) -> str:
        """The sentences nearest to the claim, in document order; `without` leaves one out."""
        if without is None:
            return join_fitting(nearest_sentences(claim, self.sentences, self._linker))
        others = tuple(one for one in self.sentences if one.index != without)
        return join_fitting(nearest_sentences(claim, others, Linker(others)))


def natural(rows: Iterable[LabelledAnswer]) -> Iterator[tuple[LabelledAnswer, Pair]]:
    """A row's claims; one that matches a marked span is unfaithful.

    Claims of an unfaithful answer without marks are left out, unless there is only one.
    """
    contexts: dict[str, Context] = {}
    for row in rows:
        if row.source_id not in contexts:
            contexts[row.source_id] = Context(segment_passages(row.exchange.passages))
        context = contexts[row.source_id]
        drafts = [one for one in decompose(segment(row.exchange.answer)) if one.is_claim]
        for draft in drafts:
            pair = Pair(
                row.dataset, row.group, row.id, draft.text, context.evidence(draft.text),
                unfaithful=False, kind="entailed", marks=(),
            )  # fmt: skip
            if not row.is_hallucinated:
                yield row, pair
            elif row.spans:
                yield row, _marked(pair, row, draft.range.start, draft.range.end)
            elif len(drafts) == 1:
                kind = row.label.value if row.label else None
                yield row, replace(pair, unfaithful=True, kind=kind, marks=None)


def _marked(pair: Pair, row: LabelledAnswer, start: int, end: int) -> Pair:
    met = [s for s in row.spans if s.range.start < end and start < s.range.end]
    if not met:
        return pair
    kinds = {span.kind for span in met}
    is_verbatim = row.exchange.answer[start:end] == pair.claim
    marks = tuple(
        (max(0, s.range.start - start), min(end, s.range.end) - start) for s in met
    ) if is_verbatim else None  # fmt: skip
    kind = next((one for one in LABELS[1:] if one in kinds), None)
    return replace(pair, unfaithful=True, kind=kind, marks=marks)


def inference(path: Path) -> Iterator[Pair]:
    """Premise and hypothesis pairs; the premise is the group, so that it never crosses a fold."""
    pairs = []
    with path.open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            label = row["label"]
            pairs.append(Pair(
                row["dataset"], row["premise"], row["id"], row["hypothesis"], row["premise"],
                unfaithful=label != "entailed", kind=label,
            ))  # fmt: skip
    yield from pairs
    yield from _beside_another(pairs)


def _beside_another(pairs: Sequence[Pair]) -> Iterator[Pair]:
    """One claim in three of a set without baseless ones, beside the premise next in the alphabet.

    Premises begin with what they are about, so that the next one is often about a like thing.
    """
    full = {pair.dataset for pair in pairs if pair.kind == "baseless"}
    ordered = sorted(
        (pair for pair in pairs if pair.dataset not in full), key=lambda one: one.evidence
    )
    for one, other in zip(ordered[::3], ordered[3::3], strict=False):
        if one.evidence != other.evidence:
            yield replace(one, evidence=other.evidence, unfaithful=True, kind="baseless")


def made(
    rows: Sequence[LabelledAnswer], rounds: int, seed: int, exchanges: Exchanges | None = None
) -> Iterator[Pair]:
    """Edited sentences of the rows' own sources, beside the evidence that a claim would get.

    One grounded sentence in five also stands beside its source without it: then it is baseless.
    """
    chance = random.Random(seed)
    sources = {row.source_id: row for row in rows}
    contexts = {
        name: Context(segment_passages(row.exchange.passages)) for name, row in sources.items()
    }
    texts = {name: [s.reading for s in one.sentences] for name, one in contexts.items()}
    for turn in range(rounds):
        for name, row in sources.items():
            other = chance.choice([one for one in sources if sources[one].group != row.group])
            for edit in edits(Source(texts[name], texts[other], exchanges), chance):
                yield from _made(edit.source, edit.text, edit.label, row, contexts[name], turn)
            yield from _unsupported(row, contexts[name], chance)


def _made(
    source: str, text: str, label: str, row: LabelledAnswer, context: Context, turn: int
) -> Iterator[Pair]:
    marks = () if label == "entailed" else changed(source, text) or None  # a "not" may be gone
    yield Pair(
        MADE, row.group, row.source_id, text, context.evidence(text),
        unfaithful=label != "entailed", kind=label, marks=marks,
        twin=f"{row.source_id}/{turn}/{source}",
    )  # fmt: skip


def _unsupported(row: LabelledAnswer, context: Context, chance: random.Random) -> Iterator[Pair]:
    """A sentence of the source beside the source without it."""
    fitting = [s for s in context.sentences if 6 <= len(s.reading.split()) <= 30]
    if len(context.sentences) > NEAREST and fitting:
        chosen = chance.choice(fitting)
        at = context.sentences.index(chosen)
        yield Pair(
            MADE, row.group, row.source_id, chosen.reading, context.evidence(chosen.reading, at),
            unfaithful=True, kind="baseless",
        )  # fmt: skip


def changed(source: str, text: str) -> tuple[tuple[int, int], ...]:
    """The characters of `text` that `source` has otherwise, by whole words."""
    words = _words(text)
    before = [source[start:end] for start, end in _words(source)]
    matcher = SequenceMatcher(
        None, before, [text[start:end] for start, end in words], autojunk=False
    )
    return tuple(
        (words[start][0], words[end - 1][1])
        for tag, _, _, start, end in matcher.get_opcodes()
        if tag != "equal" and start < end
    )


def _words(text: str) -> list[tuple[int, int]]:
    spans, at = [], 0
    for word in text.split():
        start = text.index(word, at)
        at = start + len(word)
        spans.append((start, at))
    return spans
