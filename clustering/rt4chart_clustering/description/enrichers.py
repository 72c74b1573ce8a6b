"""What may help the rules: a network that marks words, a model that writes phrases and names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from otel_rt4chart.core.settings import load
from otel_rt4chart.judges.build import build_endpoint
from otel_rt4chart.judges.verdict_cache import FileCache
from otel_rt4chart.settings.application import JudgeSettings
from rt4chart_clustering.core.settings import ClusteringSettings
from rt4chart_clustering.description.describe import describe
from rt4chart_clustering.description.difference import POOL, Difference, difference
from rt4chart_clustering.description.distill import Failing, distill
from rt4chart_clustering.description.model_title import Named, entitle
from rt4chart_clustering.description.operations import Op
from rt4chart_clustering.description.phrase import Writer
from rt4chart_clustering.description.word_tagger import CrossSpotter, Spotter
from rt4chart_collector.store.failures import Failure

# What a judge's clashes leave open, and a look at the single words may tell.
_OPEN = POOL | {Op.TERM}


@dataclass(frozen=True, slots=True)
class Aids:
    """Each is optional: without a spotter the rules are alone, without a writer the templates."""

    spotter: Spotter | None = None
    writer: Writer | None = None

    def apart(self, failure: Failure) -> Difference:
        """How a failure departs from its source; marks are asked for where the judge gave none."""
        beside = beside_of(failure)

        found = difference(
            failure.claim, beside, question=failure.question, clashes=failure.clashes
        )
        if self.spotter is None or failure.clashes or found.op not in _OPEN:
            return found
        marks = self.spotter.spot(failure.claim, beside)
        return difference(failure.claim, beside, question=failure.question, clashes=marks)

    def texts(self, failures: Sequence[Failure], found: Sequence[Difference]) -> list[str]:
        """Their descriptions; a phrase of the model's for what the rules do not explain."""
        texts = [
            describe(failure.claim, failure.label, one)
            for failure, one in zip(failures, found, strict=True)
        ]
        if self.writer is not None:
            pool = [at for at, one in enumerate(found) if one.op in POOL]
            phrases = distill(self.writer, [failing_of(failures[at]) for at in pool])
            for at, phrase in zip(pool, phrases, strict=True):
                if phrase:
                    texts[at] = f"{failures[at].label}: {phrase}"
        return texts

    def name(self, template: str, route: str, sample: Sequence[Failure]) -> Named:
        """The issue's name, by the model where it is there and what it writes holds."""
        return entitle(self.writer, template, route, [failing_of(one) for one in sample])


NONE = Aids()


def beside_of(failure: Failure) -> tuple[str, ...]:
    """The evidence's texts, or the nearest sentence where there is none."""
    return tuple(one.text for one in failure.evidence) or (failure.nearest,)


def failing_of(failure: Failure) -> Failing:
    """What a model is told of a failure."""
    return Failing(failure.claim, str(failure.label), tuple(filter(None, beside_of(failure))))


@contextmanager
def build_aids() -> Iterator[Aids]:
    """Those that the settings name, while the block runs; SettingsError says what they lack."""
    settings = load(ClusteringSettings)
    spotter = CrossSpotter() if settings.marks == "local" else None
    if settings.distill != "llm":
        yield Aids(spotter)
        return
    judge = load(JudgeSettings)
    cache = FileCache(judge.cache) if judge.cache else None
    with build_endpoint(judge) as endpoint:
        yield Aids(spotter, Writer(endpoint, cache=cache))
