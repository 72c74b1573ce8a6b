"""The majority of several judgements of the same claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.verify.core.meter import Meter
from otel_rt4chart.verify.core.model import DraftClaim, Judgement
from otel_rt4chart.verify.llm.cache import Cache
from otel_rt4chart.verify.llm.conversation import Dialogue, ask_units
from otel_rt4chart.verify.llm.label_task import LabelTask
from otel_rt4chart.verify.llm.replies import elect, is_unanimous, judgement_from

MakeTask = Callable[[Sequence[int], int], LabelTask]  # for these claims, and the number of the vote


def checked_votes(votes: int) -> int:
    """The number itself; SettingsError for one without a majority."""
    if votes < 1 or votes % 2 == 0:
        raise SettingsError(f"votes: expected 1 or an odd number from 3, got {votes}")
    return votes


def ask_votes(
    claims: Sequence[DraftClaim],
    votes: int,
    make_task: MakeTask,
    meter: Meter,
    cache: Cache,
    cast: Sequence[Judgement] = (),
) -> Dialogue[list[Judgement]]:
    """One judgement for each claim, by majority; `cast` is each claim's first vote, if it has one.

    Two votes that agree settle a claim; a further call is made for the others alone.
    """
    ballots = [[one] for one in cast] if cast else [[] for _ in claims]
    for vote in range(1 if cast else 0, votes):
        open_ = [n for n, found in enumerate(ballots) if vote < 2 or not is_unanimous(found)]
        if not open_:
            break
        task = make_task(open_, vote)
        values = yield from ask_units(task, meter, cache)
        for n, value in zip(open_, values, strict=True):
            ballots[n].append(judgement_from(value, claims[n], task.sentences))
    return [elect(found) for found in ballots]
