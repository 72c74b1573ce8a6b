from __future__ import annotations

from random import Random

import pytest

from benchmarks.trails.judges import OracleJudge
from benchmarks.trails.live import BlameCounts, LiveBlame, count_blames, trace_live
from benchmarks.trails.planted import plant
from tests.benchmarks.trails.test_planted import SOURCES


@pytest.mark.parametrize("seed", range(6))
def test_the_service_blames_the_right_step_with_an_oracle(seed: int) -> None:
    """It flags the planted error alone, and names the step that made it."""
    chain = plant(SOURCES, 2 + seed % 3, 1 + seed % 3, Random(seed))  # noqa: S311

    found = trace_live(OracleJudge(chain.labels), chain)

    assert found == (LiveBlame(chain.error, (chain.step,)),)
    assert count_blames([(chain, found)]) == BlameCounts(1, 0, 0, 0, 0)


def test_blames_are_counted_by_what_is_true() -> None:
    """Several steps are no right blame; a true claim has none."""
    chain = plant(SOURCES, 3, 2, Random(1))  # noqa: S311
    true = next(one for one in chain.claims if one != chain.error)
    blames = [
        LiveBlame(chain.error, (chain.step,)),
        LiveBlame(chain.error, (chain.step, "other")),
        LiveBlame(chain.error, ()),
        LiveBlame(true, ("summary-0",)),
        LiveBlame(true, ()),
        LiveBlame(true, ()),
    ]

    counts = count_blames([(chain, blames)])

    assert counts == BlameCounts(1, 1, 1, 1, 2)
    assert counts.false_share == pytest.approx(1 / 3)
    assert count_blames([]).false_share == 0.0
