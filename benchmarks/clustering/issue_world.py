"""A simulated world of failures for benchmarks: patterns that are born, drift and die, and noise.

Each failure is a word of its own, and the embedder here knows the vector of each word: so the run
under test is the real one, over a real database, and only what the vectors mean is made up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from otel_rt4chart.spans.model.verdict import Candidate, Decision, Verdict
from otel_rt4chart.verify.core.model import (
    AnswerLabel,
    AnswerRange,
    Claim,
    Exchange,
    Label,
    Passage,
    Report,
)
from rt4chart_clustering.description.embedding import Matrix

DAY = 86_400_000_000_000
# Far ahead: what is older than the tables keep is dropped, at a moment of the engine's choosing.
START = 4_000_000_000_000_000_000 // DAY * DAY
WIDTH = 384
NOISE = -1
LETTERS = "abcdefghijklmnopqrst"
WORD = re.compile(r"x[a-t]{6}x")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A true issue: its days [from, to), failures a day, and where it begins and drifts to."""

    born: int
    dies: int
    a_day: float
    centre: Matrix
    towards: Matrix


@dataclass(frozen=True, slots=True)
class Seen:
    """A failure of the world: its number, day, true pattern (-1 for noise) and vector."""

    number: int
    day: int
    pattern: int
    vector: Matrix


class WordEmbedder:
    """The world's vectors by the words that stand for them."""

    id = "world/1"
    width = WIDTH

    def __init__(self) -> None:
        """It knows nothing yet."""
        self._known: dict[str, Matrix] = {}

    def learn(self, seen: Sequence[Seen]) -> None:
        """Know these failures' words."""
        self._known |= {word(one.number): one.vector for one in seen}

    def embed(self, texts: Sequence[str]) -> Matrix:
        """The vector of the first known word of each text, zeros where there is none."""
        rows = np.zeros((len(texts), WIDTH), dtype=np.float32)
        for at, text in enumerate(texts):
            if match := WORD.search(text):
                rows[at] = self._known[match[0]]
        return rows


def world(
    seed: int,
    *,
    days: int = 21,
    patterns: int = 30,
    noise: float = 0.25,
    turn: float = 1.0,
    loose: float = 0.0,
) -> Iterator[list[Seen]]:
    """The failures of each day: patterns of Zipf sizes, a third there from the first day on.

    Within a pattern the cosine of two failures is .53 to .72, less `loose`; its centre turns by
    `turn` degrees a day. Half the noise is anywhere, half around the patterns' super-topics.
    """
    chance = np.random.default_rng(seed)
    topics = np.stack([_anywhere(chance) for _ in range(10)])
    made = [_pattern(chance, topics, rank, days) for rank in range(patterns)]
    tight = np.sqrt(chance.uniform(0.53, 0.72, patterns) - loose)
    number = 0
    for day in range(days):
        found: list[Seen] = []
        for at, one in enumerate(made):
            if not one.born <= day < one.dies:
                continue
            turned = np.deg2rad(turn) * (day - one.born)
            centre = np.cos(turned) * one.centre + np.sin(turned) * one.towards
            for _ in range(chance.poisson(one.a_day)):
                found.append(Seen(number, day, at, _near(chance, centre, float(tight[at]))))
                number += 1
        for _ in range(chance.poisson(len(found) * noise / (1 - noise))):
            anywhere = _anywhere(chance)
            topic = topics[chance.integers(len(topics))]
            vector = anywhere if chance.random() < 0.5 else _near(chance, topic, 0.5)
            found.append(Seen(number, day, NOISE, vector))
            number += 1
        yield found


def verdict_of(seen: Seen, *, route: str = "billing", text: str = "") -> Verdict:
    """The verdict on an answer with this one baseless claim."""
    claim = Claim(
        text=text or f"It {word(seen.number)}.",
        label=Label.BASELESS,
        local_label=Label.BASELESS,
        confidence=0.9,
        decided_by="world",
        kind="attribute",
        answer_range=AnswerRange(0, 10),
        sentence=0,
        nearest="Nothing like it stands here.",
    )
    # Spread over the day, each at a moment of its own.
    at = START + seen.day * DAY + (seen.number * 7_919_000_003) % DAY
    return Verdict(
        candidate=Candidate(
            exchange=Exchange("How?", (Passage("p1", "Nothing."),), claim.text),
            trace_id=f"{seen.number * 2_654_435_761 % 2**64:032x}",
            span_id=f"{seen.number:016x}",
            start_ns=at,
            service="shop",
            route=route,
        ),
        decision=Decision.VERIFIED,
        verifier="world/1",
        sample_rate=1.0,
        decided_ns=at + 1_000_000_000,
        report=Report(label=AnswerLabel.BASELESS, claims=(claim,), judge="world/1"),
    )


def trace_of(seen: Seen) -> str:
    """The id of the trace of its answer."""
    return f"{seen.number * 2_654_435_761 % 2**64:032x}"


def word(number: int) -> str:
    """The word that stands for a failure."""
    letters = ""
    for _ in range(6):
        number, digit = divmod(number, len(LETTERS))
        letters += LETTERS[digit]
    return f"x{letters}x"


def _pattern(chance: np.random.Generator, topics: Matrix, rank: int, days: int) -> Pattern:
    topic = topics[chance.integers(len(topics))]
    centre = _unit(0.3 * topic + _anywhere(chance))
    side = _anywhere(chance)
    towards = _unit(side - (side @ centre) * centre)
    born = 0 if rank % 3 == 0 else int(chance.integers(0, days - 4))
    lives = int(chance.integers(5, days + 1))
    return Pattern(born, min(born + lives, days), 2 + 40 / (1 + rank), centre, towards)


def _near(chance: np.random.Generator, centre: Matrix, cosine: float) -> Matrix:
    side = _anywhere(chance)
    side = _unit(side - (side @ centre) * centre)
    return _unit(cosine * centre + np.sqrt(1 - cosine**2) * side)


def _anywhere(chance: np.random.Generator) -> Matrix:
    return _unit(chance.standard_normal(WIDTH).astype(np.float32))


def _unit(row: Matrix) -> Matrix:
    return np.asarray(row / np.linalg.norm(row), dtype=np.float32)
