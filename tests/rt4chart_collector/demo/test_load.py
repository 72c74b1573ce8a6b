"""Which answers the demo with a console gives when."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

from rt4chart_collector.demo.labels import read_labels
from rt4chart_collector.demo.load import BAD_RELEASE, LEFT_OUT, PLANTED, plan_load
from rt4chart_collector.demo.run import DATA

NOW = 1_900_000_000.0
LABELS = read_labels(DATA)


def test_a_bad_release_follows_a_calm_fortnight() -> None:
    """People call few of the planted route's answers wrong before, and most of them after."""
    parts = plan_load(LABELS, now_s=NOW)

    ours = [[LABELS[one] for one, _ in part.answers if LABELS[one].route == PLANTED]
            for part in parts]  # fmt: skip
    shares = [sum(one.hallucinated for one in part) / len(part) for part in ours]
    assert (len(ours[0]) > 1100, shares[0] < 0.05, shares[1] > 0.6) == (True, True, True)
    assert parts[1].release == BAD_RELEASE


def test_times_are_in_order_and_none_is_to_come() -> None:
    """Within the fourteen days that a baseline is of."""
    times = [at for part in plan_load(LABELS, now_s=NOW) for _, at in part.answers]

    assert all(earlier <= later for earlier, later in pairwise(times))
    assert times[0] > NOW - 14 * 86_400
    assert times[-1] < NOW


def test_every_other_route_is_there_once() -> None:
    """But the one whose answers take longest."""
    given = [one for part in plan_load(LABELS, now_s=NOW) for one, _ in part.answers]
    others = [one for one in given if LABELS[one].route != PLANTED]

    expected = [one.answer_id for one in LABELS.values() if one.route not in (PLANTED, LEFT_OUT)]
    assert sorted(others) == sorted(expected)


def test_a_part_is_written_as_the_application_reads_it(tmp_path: Path) -> None:
    """A line an answer, with its id and its time."""
    _, part = plan_load(LABELS, now_s=NOW)

    lines = part.write(tmp_path / "load.jsonl").read_text().splitlines()

    assert len(lines) == len(part.answers)
    assert json.loads(lines[0]) == {"answer_id": part.answers[0][0], "at": part.answers[0][1]}
