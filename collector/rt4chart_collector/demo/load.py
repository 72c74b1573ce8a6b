"""The load of the demo: two weeks of normal answers, then a bad release."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rt4chart_collector.demo.labels import HumanLabel

DAY_S, HOUR_S = 86_400.0, 3600.0
# The planted route has short answers of nearly two claims each, so that two weeks of them are
# verified in a minute. The left-out route alone would take as long as all the others.
PLANTED, LEFT_OUT = "samsum", "podcast"
GOOD_RELEASE, BAD_RELEASE = "2.3.0", "2.4.0"
# More than the 2,000 claims that a baseline needs; 4% of the answers are labelled wrong.
CALM_ANSWERS, CALM_DAYS, CALM_WRONG = 1140, 12.5, 0.04
BAD_ANSWERS, BAD_HOURS, BAD_WRONG = 70, 3.0, 0.7
OTHERS_DAYS = 3.0


@dataclass(frozen=True, slots=True)
class ReleaseLoad:
    """The answers of one release of the application: ids with Unix timestamps."""

    release: str
    answers: tuple[tuple[str, float], ...]

    def write(self, path: Path) -> Path:
        """Write the file that the application reads."""
        lines = (json.dumps({"answer_id": answer_id, "at": at}) for answer_id, at in self.answers)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path


def plan_load(labels: Mapping[str, HumanLabel], *, now_s: float) -> tuple[ReleaseLoad, ReleaseLoad]:
    """The loads before and after the bad release, by time.

    Answers of one route repeat; with the release, those labelled wrong become frequent. Answers of
    the other routes come once, in the last days.
    """
    chance = random.Random(11)  # noqa: S311 - a plan, no secret
    released = now_s - BAD_HOURS * HOUR_S
    planted = [label for label in labels.values() if label.route == PLANTED]
    good = [label.answer_id for label in planted if not label.hallucinated]
    wrong = [label.answer_id for label in planted if label.hallucinated]
    others = [
        label.answer_id for label in labels.values() if label.route not in (PLANTED, LEFT_OUT)
    ]
    placed = [(answer_id, now_s - OTHERS_DAYS * DAY_S * chance.random()) for answer_id in others]
    calm = _times(chance, CALM_ANSWERS, released - CALM_DAYS * DAY_S, released)
    placed += zip(_drawn(chance, good, wrong, CALM_WRONG, CALM_ANSWERS), calm, strict=True)
    late = [released + (at + 0.5) / BAD_ANSWERS * BAD_HOURS * HOUR_S for at in range(BAD_ANSWERS)]
    placed += zip(_drawn(chance, good, wrong, BAD_WRONG, BAD_ANSWERS), late, strict=True)
    placed.sort(key=lambda answer: (answer[1], answer[0]))
    return (
        ReleaseLoad(GOOD_RELEASE, tuple(answer for answer in placed if answer[1] < released)),
        ReleaseLoad(BAD_RELEASE, tuple(answer for answer in placed if answer[1] >= released)),
    )


def _times(chance: random.Random, count: int, since: float, until: float) -> list[float]:
    """Random times, twice as frequent by day as at night, as real traffic is."""
    found: list[float] = []
    while len(found) < count:
        at = chance.uniform(since, until)
        if chance.random() < (3 + math.sin(2 * math.pi * at / DAY_S)) / 4:
            found.append(at)
    return found


def _drawn(
    chance: random.Random, good: Sequence[str], wrong: Sequence[str], share: float, count: int
) -> Iterator[str]:
    """Answers with this share of wrong ones, evenly spread: random ones could form other rises."""
    for at in range(count):
        is_wrong = math.floor((at + 1) * share) > math.floor(at * share)
        yield chance.choice(wrong if is_wrong else good)
