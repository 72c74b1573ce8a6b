"""A generative process as a graph: its texts, and the texts that each was made from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.verify.core.model import Passage, Sentence
from otel_rt4chart.verify.text.segment import segment_passages

_MAX_LISTED = 8


@dataclass(frozen=True, slots=True)
class Node:
    """A text of the process; `inputs` are the ids of the nodes it was made from.

    A node without inputs is a source. `stage` names its step, for people.
    """

    id: str
    text: str
    inputs: tuple[str, ...] = ()
    stage: str = ""


class Graph:
    """A checked graph; each node is split into sentences when it is first read.

    The index of a sentence is unique in the graph, so selections from several calls can be joined.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        """InputError where ids repeat, an input is not a node, or inputs form a cycle."""
        self._nodes = {node.id: node for node in nodes}
        _check_ids(nodes)
        _check_inputs(self._nodes)
        _check_order(nodes)
        self._sentences_of: dict[str, tuple[Sentence, ...]] = {}
        self._count = 0

    def node(self, name: str) -> Node:
        """The node with that id; InputError where there is none."""
        if name not in self._nodes:
            raise InputError(f"expected the answer to be a node's id, got {name!r}")
        return self._nodes[name]

    def is_source(self, name: str) -> bool:
        """True for a node without inputs: a text that was not generated."""
        return not self._nodes[name].inputs

    def inputs_of(self, names: Iterable[str]) -> tuple[str, ...]:
        """The inputs of these nodes, each once; a source is its own input."""
        return tuple(dict.fromkeys(one for n in names for one in self._nodes[n].inputs or (n,)))

    def sentences(self, names: Iterable[str]) -> tuple[Sentence, ...]:
        """The sentences of these nodes, node by node; `passage_id` is the node's id."""
        return tuple(sentence for name in names for sentence in self._sentences(name))

    def _sentences(self, name: str) -> tuple[Sentence, ...]:
        if name not in self._sentences_of:
            found = segment_passages([Passage(name, self._nodes[name].text)])
            at = self._count
            self._sentences_of[name] = tuple(
                replace(one, index=at + n) for n, one in enumerate(found)
            )
            self._count += len(found)
        return self._sentences_of[name]


def _check_ids(nodes: Sequence[Node]) -> None:
    counts = Counter(node.id for node in nodes)
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        raise InputError(f"expected each node id once, got more than one node {_listed(twice)}")


def _check_inputs(nodes: dict[str, Node]) -> None:
    for node in nodes.values():
        missing = [name for name in node.inputs if name not in nodes]
        if missing:
            raise InputError(
                f"expected the inputs of node {node.id!r} to be nodes, got {_listed(missing)}"
            )


def _check_order(nodes: Sequence[Node]) -> None:
    try:
        TopologicalSorter({node.id: node.inputs for node in nodes}).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1]
        listed = " → ".join(map(repr, circle[:_MAX_LISTED])) + " → …" * (len(circle) > _MAX_LISTED)
        raise InputError(f"expected nodes without a cycle, got {listed}") from error


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:_MAX_LISTED])) + ", …" * (len(names) > _MAX_LISTED)
