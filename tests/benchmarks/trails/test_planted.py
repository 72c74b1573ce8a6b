from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from benchmarks.trails.judges import OracleJudge
from benchmarks.trails.methods import follow_trail, verify_every_node
from benchmarks.trails.planted import Source, plant
from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.trail.graph import Graph

WRONG = (Label.CONTRADICTED, Label.BASELESS)
SOURCES = [
    Source(
        f"House {n} has {n + 2} rooms and {n + 30} windows. It stands in street {n}.",
        (f"House {n} has {n + 2} rooms.", f"House {n} stands in street {n}."),
        {f"House {n} has {n + 90} rooms.": WRONG[n % 2]},
    )
    for n in range(70)
]


@pytest.mark.parametrize("branching", [1, 2, 4, 8])
@pytest.mark.parametrize("depth", range(2, 7))
def test_an_error_is_said_by_its_step_and_all_after_it(depth: int, branching: int) -> None:
    """No source and no earlier step says it; every step on the way to the answer does."""
    chain = plant(SOURCES, depth, branching, Random(depth * 10 + branching))  # noqa: S311

    graph = Graph(chain.nodes)
    saying = [node for node in chain.nodes if chain.error in node.text.split("\n\n")]
    assert len(chain.stages) == depth
    assert saying[0].id == chain.step
    assert saying[-1].id == "answer"
    for earlier, later in pairwise(saying):
        assert earlier.id in later.inputs
    assert not any(graph.is_source(node.id) for node in saying)
    assert set(graph.node("answer").text.split("\n\n")) == set(chain.claims)


@pytest.mark.parametrize("method", [follow_trail, verify_every_node])
@pytest.mark.parametrize("seed", range(8))
def test_both_methods_find_the_step_with_an_oracle(method: type, seed: int) -> None:
    """Who makes no mistake finds the error, and supports every other claim."""
    chain = plant(SOURCES, 2 + seed % 5, 1 + seed % 4, Random(seed))  # noqa: S311

    outcome = method(OracleJudge(chain.labels), chain)

    steps = {one.claim: one.steps for one in outcome.blamed}
    assert steps[chain.error] == (chain.step,)
    assert all(one.is_supported for one in outcome.blamed if one.claim != chain.error)
    assert outcome.calls > 0
    assert outcome.tokens > 0
