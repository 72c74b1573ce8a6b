"""Simulated deployments: claims that people labelled, and what a judge says of them.

A data set is a route, and its documents are what the route's answers are about. People's labels of
up to five claims of one document make an answer, so that the claims of an answer are alike as in
production. A deployment draws its answers with replacement; its true rate is that of the route.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import NamedTuple

from benchmarks.judge.gold import judge, known_claims
from benchmarks.judge.systems import system
from otel_rt4chart.bench.dataset import choose_split, read_rows
from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.rates.population import score_of, stratum_of

ANSWER_CLAIMS = 5
# A route whose rate is thinned has at least so many different claims.
THINNED_CLAIMS = 3_000


class WorldClaim(NamedTuple):
    """A claim with the judge's verdict and with people's."""

    stratum: str
    score: float
    is_wrong: bool


Answer = tuple[WorldClaim, ...]


@dataclass(frozen=True, slots=True)
class Route:
    """The answers that a deployment's route draws from; `rate` is the true one."""

    name: str
    answers: tuple[Answer, ...]
    rate: float


class Verdict(NamedTuple):
    """What a judge says of a claim that people labelled; `document` is what it is about."""

    route: str
    document: str
    label: str
    score: float
    is_wrong: bool


def verdicts(folder: Path, split: str, judge_name: str, cache: Path | None) -> list[Verdict]:
    """A judge's verdicts on the claims of a folder that people labelled.

    With a cache, a judge reads a folder once: the embedded model takes minutes.
    """
    place = "-".join(folder.resolve().parts[-2:])
    path = cache / f"{judge_name}-{place}-{split}.jsonl" if cache else None
    if path and path.exists():
        with path.open(encoding="utf-8") as lines:
            return [Verdict(*json.loads(line)) for line in lines]
    _, rows = choose_split(read_rows(folder), split)
    found = [
        Verdict(
            one.row.dataset,
            one.row.source_id,
            claim.said.label.value,
            claim.said.unfaithful,
            claim.is_wrong,
        )
        for one in judge(system(judge_name), rows)
        for claim in known_claims([one])
    ]
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(one) + "\n" for one in found), encoding="utf-8")
    return found


def routes_of(found: Sequence[Verdict], say: Callable[[Verdict], WorldClaim]) -> list[Route]:
    """The routes of these claims."""
    documents: defaultdict[str, defaultdict[str, list[WorldClaim]]]
    documents = defaultdict(lambda: defaultdict(list))
    for one in found:
        documents[one.route][one.document].append(say(one))
    return [
        _route(name, [part for claims in own.values() for part in _parts(claims)])
        for name, own in sorted(documents.items())
    ]


def judged(one: Verdict) -> WorldClaim:
    """What the judge said itself."""
    return WorldClaim(stratum_of(Label(one.label)), one.score, one.is_wrong)


@dataclass(frozen=True, slots=True)
class Script:
    """A scripted judge: its recall and its rate of false alarms, drawn anew for each route."""

    name: str
    recalls: tuple[float, ...]
    false_alarms: tuple[float, ...]

    def __call__(self, number: int, one: Verdict) -> WorldClaim:
        """Its verdict on a claim; the same whenever it is asked."""
        route = random.Random(f"{self.name} {one.route}")  # noqa: S311
        recall, alarms = route.choice(self.recalls), route.choice(self.false_alarms)
        chance = random.Random(f"{self.name} {number}")  # noqa: S311
        is_flagged = chance.random() < (recall if one.is_wrong else alarms)
        # A right verdict is surer than a wrong one, but not by much: as with a model's own word.
        sure = chance.uniform(0.6, 1.0) if is_flagged == one.is_wrong else chance.uniform(0.5, 0.95)
        label = Label.BASELESS if is_flagged else Label.ENTAILED
        return WorldClaim(stratum_of(label), score_of(label, sure), one.is_wrong)


GOOD = Script("good", (0.92,), (0.05,))
BIASED = Script("biased", (0.35, 0.5, 0.8), (0.02, 0.15, 0.3))


def scripted(script: Script, found: Sequence[Verdict]) -> list[Route]:
    """The routes as a scripted judge sees them."""
    numbers = count()
    return routes_of(found, lambda one: script(next(numbers), one))


def thinned(route: Route, rate: float) -> Route:
    """The route with so many wrong claims left out that this rate remains; right ones are kept.

    The answers are gone through several times, so that few wrong claims are not always the same.
    """
    keep = rate * (1 - route.rate) / ((1 - rate) * route.rate)
    if keep >= 1:
        return route
    chance = random.Random(route.name)  # noqa: S311
    answers: list[Answer] = []
    while sum(map(len, answers)) < THINNED_CLAIMS:
        for answer in route.answers:
            kept = tuple(one for one in answer if not one.is_wrong or chance.random() < keep)
            answers += [kept] if kept else []
    return _route(route.name, answers)


def deployment(route: Route, claims: int, chance: random.Random) -> list[Answer]:
    """Answers of the route with about so many claims."""
    each = sum(map(len, route.answers)) / len(route.answers)
    return chance.choices(route.answers, k=round(claims / each))


def _route(name: str, answers: Sequence[Answer]) -> Route:
    claims = [one.is_wrong for answer in answers for one in answer]
    return Route(name, tuple(answers), sum(claims) / len(claims))


def _parts(claims: Sequence[WorldClaim]) -> Iterator[Answer]:
    for start in range(0, len(claims), ANSWER_CLAIMS):
        yield tuple(claims[start : start + ANSWER_CLAIMS])
