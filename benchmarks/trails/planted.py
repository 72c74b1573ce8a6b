"""Chains of generative steps made of rows that people labelled, with an error at a known step.

The sources are the passages of rows. A summary of a source says what people found entailed by it; a
merged summary repeats some of its inputs; the answer repeats some of the last ones. At one step a
claim is added, or takes the place of a true one, that people found contradicted by the source or
baseless; every later step repeats it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from otel_rt4chart.bench.dataset import LabelledAnswer
from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.text.segment import segment
from otel_rt4chart.verify.trail.graph import Node

MAX_SOURCES = 64
MAX_SOURCE_CHARS = 4_000
MAX_SENTENCES = 8  # of a merged summary
TRUE_CLAIMS = 4  # of an answer, beside the planted one


@dataclass(frozen=True, slots=True)
class Source:
    """A text, and what people said of one-sentence claims about it."""

    text: str
    true: tuple[str, ...]
    false: Mapping[str, Label]


class Planted(NamedTuple):
    """A chain: `claims` are those of the answer, `error` the wrong one, first said by `step`.

    `labels` are people's labels by claim and id of the source. `stages` are the names of the steps
    from the first to the last.
    """

    nodes: tuple[Node, ...]
    claims: tuple[str, ...]
    error: str
    step: str
    stage: str
    labels: Mapping[str, Mapping[str, Label]]
    stages: tuple[str, ...]


def sources_of(rows: Iterable[LabelledAnswer]) -> list[Source]:
    """The sources that people found both a true and a false claim about.

    A false claim that is made about another source, too, is left out: it may be true of that one.
    """
    by_text: defaultdict[str, list[LabelledAnswer]] = defaultdict(list)
    for row in rows:
        text = "\n".join(passage.text for passage in row.exchange.passages)
        if len(text) <= MAX_SOURCE_CHARS and len(segment(row.exchange.answer)) == 1:
            by_text[text].append(row)
    times = Counter(row.exchange.answer.strip() for about in by_text.values() for row in about)
    found = []
    for text, about in by_text.items():
        true = {row.exchange.answer.strip(): None for row in about if not row.is_hallucinated}
        false = {
            row.exchange.answer.strip(): Label(row.label.value)
            for row in about
            if row.is_hallucinated and row.label is not None
        }
        wrong = {claim: label for claim, label in false.items() if times[claim] == 1}
        if true and wrong:
            found.append(Source(text, tuple(true), wrong))
    return found


@dataclass(slots=True)
class _Draft:
    """A node while the chain is made: `must` has the sentences that it has to repeat."""

    id: str
    stage: str
    inputs: tuple[str, ...] = ()
    must: dict[str, None] = field(default_factory=dict)
    may: dict[str, None] = field(default_factory=dict)


def plant(sources: Sequence[Source], depth: int, branching: int, random: Random) -> Planted:
    """A chain of so many generative steps, of which each merges so many of the step before.

    `depth` counts the steps from the summaries of the sources to the answer, at least two.
    """
    count = min(branching ** (depth - 1), MAX_SOURCES)
    chosen = random.sample(list(sources), count)
    names = [f"source-{n}" for n in range(count)]
    levels = _levels(names, depth, branching)
    stages = tuple(level[0].stage for level in levels)
    at = random.randrange(depth)
    step = random.choice(levels[at])
    leaf = random.choice(sorted(_leaves(step, levels, at)))
    error = random.choice(sorted(chosen[leaf].false))
    told = random.sample(range(count), min(count, TRUE_CLAIMS))
    truths = {random.choice(chosen[number].true): number for number in told}
    is_swap = chosen[leaf].false[error] is Label.CONTRADICTED
    for number, level in enumerate(levels):
        for draft in level:
            leaves = _leaves(draft, levels, number)
            draft.must.update((claim, None) for claim, one in truths.items() if one in leaves)
            if number >= at and leaf in leaves and (number > at or draft is step):
                # The false claim takes the place of what the source says.
                gone = [one for one in draft.must if is_swap and truths[one] == leaf]
                for claim in gone:
                    del draft.must[claim]
                draft.must[error] = None
    last = levels[-1][0]
    nodes = [Node(name, one.text, (), "source") for name, one in zip(names, chosen, strict=True)]
    nodes += _written(
        levels, {name: one.true for name, one in zip(names, chosen, strict=True)}, random
    )
    labels: defaultdict[str, dict[str, Label]] = defaultdict(dict)
    for name, one in zip(names, chosen, strict=True):
        for claim in one.true:
            labels[claim][name] = Label.ENTAILED
        for claim, label in one.false.items():
            labels[claim][name] = label
    return Planted(tuple(nodes), tuple(last.must), error, step.id, step.stage, labels, stages)


def _levels(names: Sequence[str], depth: int, branching: int) -> list[list[_Draft]]:
    """The steps: a summary of each source, merged ones, the answer."""
    levels = [[_Draft(f"summary-{n}", "summarise", (name,)) for n, name in enumerate(names)]]
    for number in range(1, depth - 1):
        below = levels[-1]
        groups = [below[at : at + branching] for at in range(0, len(below), branching)]
        levels.append(
            [
                _Draft(f"merge-{number}-{n}", f"merge {number}", tuple(one.id for one in group))
                for n, group in enumerate(groups)
            ]
        )
    return [*levels, [_Draft("answer", "answer", tuple(one.id for one in levels[-1]))]]


def _leaves(draft: _Draft, levels: Sequence[Sequence[_Draft]], number: int) -> set[int]:
    """The numbers of the sources beneath a step."""
    if number == 0:
        return {int(draft.inputs[0].rpartition("-")[2])}
    below = {one.id: one for one in levels[number - 1]}
    return {leaf for name in draft.inputs for leaf in _leaves(below[name], levels, number - 1)}


def _written(
    levels: Sequence[Sequence[_Draft]], true: Mapping[str, Sequence[str]], random: Random
) -> list[Node]:
    """The steps as nodes: each says what it must, and something else that its inputs say."""
    said: dict[str, list[str]] = {}
    nodes = []
    for number, level in enumerate(levels):
        for draft in level:
            known = true[draft.inputs[0]] if number == 0 else [
                one for name in draft.inputs for one in said[name]
            ]  # fmt: skip
            others = [one for one in dict.fromkeys(known) if one not in draft.must]
            random.shuffle(others)
            room = 0 if draft.stage == "answer" else max(MAX_SENTENCES - len(draft.must), 0)
            said[draft.id] = [*draft.must, *others[:room]]
            random.shuffle(said[draft.id])
            nodes.append(Node(draft.id, "\n\n".join(said[draft.id]), draft.inputs, draft.stage))
    return nodes
