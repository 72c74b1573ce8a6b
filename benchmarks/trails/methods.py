"""Two ways to find the step where a claim went wrong: follow its trail, or verify every node."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from benchmarks.trails.judges import CountingJudge
from benchmarks.trails.planted import Planted
from otel_rt4chart.verify.core.judge import Judge
from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.trail.graph import Node
from otel_rt4chart.verify.trail.tracer import Tracer


class Blamed(NamedTuple):
    """What a method says of one claim; `steps` are the ids of the steps it blames."""

    claim: str
    is_supported: bool
    is_undecided: bool
    steps: tuple[str, ...]


class Outcome(NamedTuple):
    """What a method says of the claims of a chain, with its calls and the tokens it read."""

    blamed: tuple[Blamed, ...]
    calls: int
    tokens: int


Method = Callable[[Judge, Planted], Outcome]


def follow_trail(judge: Judge, chain: Planted) -> Outcome:
    """The tracer as it ships."""
    counting = CountingJudge(judge)
    trail = Tracer(counting).trace(chain.nodes, "answer", chain.claims)
    blamed = tuple(
        Blamed(one.claim, one.label is Label.ENTAILED, not one.label.is_decided, one.error_nodes)
        for one in trail.claims
    )
    return Outcome(blamed, trail.usage.calls, counting.tokens)


def verify_every_node(judge: Judge, chain: Planted) -> Outcome:
    """All claims against each node alone; then each claim is followed through what entails it.

    A step is blamed that entails the claim while none of its inputs does.
    """
    counting = CountingJudge(judge)
    calls = 0
    labels: dict[tuple[str, str], Label] = {}
    for node in chain.nodes:
        if node.id == "answer":
            continue
        pair = [Node(node.id, node.text), Node("answer", "\n".join(chain.claims), (node.id,))]
        trail = Tracer(counting).trace(pair, "answer", chain.claims)
        calls += trail.usage.calls
        labels |= {(one.claim, node.id): one.label for one in trail.claims}
    blamed = tuple(_descend(claim, chain, labels) for claim in chain.claims)
    return Outcome(blamed, calls, counting.tokens)


def _descend(claim: str, chain: Planted, labels: dict[tuple[str, str], Label]) -> Blamed:
    inputs = {node.id: node.inputs for node in chain.nodes}
    reached, seen, stuck = False, {"answer"}, []
    waiting = ["answer"]
    while waiting:
        name = waiting.pop()
        entailing = [one for one in inputs[name] if labels[claim, one] is Label.ENTAILED]
        if not entailing:
            stuck.append(name)
        reached = reached or any(not inputs[one] for one in entailing)
        new = [one for one in entailing if inputs[one] and one not in seen]
        seen.update(new)
        waiting += new
    return Blamed(claim, reached, False, () if reached else tuple(stuck))
