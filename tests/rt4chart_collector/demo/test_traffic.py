"""Which written answers the demo's application gives when."""

from __future__ import annotations

from itertools import pairwise

from rt4chart_collector.demo.helpdesk import Outcome, Role, read_helpdesk
from rt4chart_collector.demo.traffic import (
    BAD_HOURS,
    BAD_RELEASE,
    GOOD_RELEASE,
    PLANTED,
    plan_traffic,
)

NOW = 1_900_000_000.0
ANSWERS = read_helpdesk()
RIGHT = dict.fromkeys(ANSWERS, Outcome.RIGHT)
WRONG = frozenset(list(ANSWERS)[::3])
OUTCOMES = RIGHT | dict.fromkeys(WRONG, Outcome.OTHER_WORDS)


def test_a_bad_release_follows_a_calm_fortnight() -> None:
    """Few of the planted route's answers are wrong before, and the incident's come after."""
    given = [one for one in plan_traffic(ANSWERS, RIGHT, now_s=NOW)
             if ANSWERS[one.answer_id].route == PLANTED]  # fmt: skip
    before = [ANSWERS[one.answer_id].role for one in given if one.release == GOOD_RELEASE]
    after = [ANSWERS[one.answer_id].role for one in given if one.release == BAD_RELEASE]

    assert (before.count(Role.INCIDENT), before.count(Role.ERROR)) == (0, 41)
    assert (after.count(Role.INCIDENT), after.count(Role.FAITHFUL)) == (45, 55)
    assert len(before) == 1_650


def test_times_are_in_order_and_none_is_to_come() -> None:
    """Within the fourteen days that a baseline is of; the release is later than all before it."""
    given = plan_traffic(ANSWERS, RIGHT, now_s=NOW)
    released = NOW - BAD_HOURS * 3600

    assert all(earlier.at_s <= later.at_s for earlier, later in pairwise(given))
    assert given[0].at_s > NOW - 14 * 86_400
    assert given[-1].at_s < NOW
    assert all((one.release == BAD_RELEASE) is (one.at_s >= released) for one in given)


def test_answers_on_which_the_judge_errs_are_left_out() -> None:
    """Drawn again and again, they would look like errors of the application."""
    given = {one.answer_id for one in plan_traffic(ANSWERS, OUTCOMES, now_s=NOW)}

    assert given
    assert not given & WRONG
