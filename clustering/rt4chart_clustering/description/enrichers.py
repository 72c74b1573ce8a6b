"""Optional models that improve descriptions and titles: a word tagger and a text writer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.core.settings import load
from otel_rt4chart.judges.build import build_endpoint
from otel_rt4chart.judges.verdict_cache import FileCache
from otel_rt4chart.settings.application import JudgeSettings
from otel_rt4chart.verify.core.model import Clash
from otel_rt4chart.verify.findings.classify import (
    ClaimDifference,
    classify_failure,
    source_texts,
)
from otel_rt4chart.verify.findings.failure_kinds import UNEXPLAINED, FailureKind
from otel_rt4chart.verify.neural.cross_encoder import CrossEncoder, marked_runs
from otel_rt4chart.verify.neural.model_folder import model_folder
from rt4chart_clustering.core.settings import ClusteringSettings
from rt4chart_clustering.description.model_writer import (
    FailureText,
    IssueName,
    Writer,
    write_phrases,
    write_title,
)
from rt4chart_clustering.description.text_templates import describe_claim
from rt4chart_collector.store.issues.failures import Failure

# Runs of words with at least this share of the highest probability count, and at most so many.
_SHARE, _MOST = 0.8, 3
_EVIDENCE_LENGTH = 4_000  # characters: more than the network can read


class WordTagger(Protocol):
    """Finds the words of a claim that its evidence does not support."""

    def tag(self, claim: str, evidence: Sequence[str]) -> tuple[Clash, ...]:
        """Runs of words as `term` clashes without a counterpart, the most probable first."""


class CrossEncoderTagger:
    """The tags of the embedded cross-encoder.

    On edited summaries, the most probable word is an edited one for 63% of the claims. A call
    blocks for about 20 ms.
    """

    def __init__(self, folder: Path | None = None, *, threads: int = 0) -> None:
        """Open the model of the package rt4chart-models; SettingsError says what is missing."""
        self._network = CrossEncoder(folder or model_folder(), threads=threads)

    def tag(self, claim: str, evidence: Sequence[str]) -> tuple[Clash, ...]:
        """Empty if claim and evidence do not fit the network, or the model fails."""
        fitting = " ".join(_fitting(self._network, claim, evidence))
        if not fitting:
            return ()
        try:
            (read,) = self._network.read([(claim, fitting)])
        except JudgeError:
            return ()
        highest = max((mark.probability for mark in read.marks), default=0.0)
        runs = marked_runs(claim, read.marks, highest * _SHARE)
        return tuple(Clash("term", words) for words in runs[:_MOST])


def _fitting(network: CrossEncoder, claim: str, evidence: Sequence[str]) -> Iterator[str]:
    """The texts, in order, that the network can read together with the claim."""
    held = ""
    for text in evidence:
        longer = f"{held} {text[:_EVIDENCE_LENGTH]}".strip()
        if network.length(claim, longer) <= network.longest:
            held = longer
            yield text[:_EVIDENCE_LENGTH]


# Kinds so general that tagged words may give a better one.
_GENERAL_KINDS = UNEXPLAINED | {FailureKind.TERM}


@dataclass(frozen=True, slots=True)
class Enrichers:
    """Both are optional: without a tagger the rules work alone, without a writer the templates."""

    tagger: WordTagger | None = None
    writer: Writer | None = None

    def difference(self, failure: Failure) -> ClaimDifference:
        """How a failure differs from its source; words are tagged only if the judge named none."""
        found = _classify(failure, failure.clashes)
        is_told = failure.clashes or failure.is_misleading or found.kind not in _GENERAL_KINDS
        if self.tagger is None or is_told:
            return found
        return _classify(failure, self.tagger.tag(failure.claim, _sources(failure)))

    def descriptions(
        self, failures: Sequence[Failure], differences: Sequence[ClaimDifference]
    ) -> list[str]:
        """The texts to embed; the model phrases the failures that rules do not explain."""
        texts = [
            describe_claim(failure.claim, failure.label, one)
            for failure, one in zip(failures, differences, strict=True)
        ]
        if self.writer is not None:
            unexplained = [at for at, one in enumerate(differences) if one.kind in UNEXPLAINED]
            phrases = write_phrases(self.writer, [failure_text(failures[at]) for at in unexplained])
            for at, phrase in zip(unexplained, phrases, strict=True):
                if phrase:
                    texts[at] = f"{failures[at].label}: {phrase}"
        return texts

    def name(self, template: str, route: str, sample: Sequence[Failure]) -> IssueName:
        """The name of an issue: the model's if it passes the checks, else the template."""
        return write_title(self.writer, template, route, [failure_text(one) for one in sample])


NO_ENRICHERS = Enrichers()


def _classify(failure: Failure, clashes: Sequence[Clash]) -> ClaimDifference:
    return classify_failure(
        failure.claim,
        failure.label,
        _sources(failure),
        question=failure.question,
        clashes=clashes,
        status=failure.status,
        findings=failure.findings,
    )


def _sources(failure: Failure) -> tuple[str, ...]:
    return source_texts(failure.evidence, failure.nearest)


def failure_text(failure: Failure) -> FailureText:
    """The part of a failure that a model is shown."""
    return FailureText(failure.claim, failure.verdict, tuple(filter(None, _sources(failure))))


@contextmanager
def build_enrichers() -> Iterator[Enrichers]:
    """The enrichers of the settings, while the block runs; SettingsError says what is missing."""
    settings = load(ClusteringSettings)
    tagger = CrossEncoderTagger() if settings.marks == "local" else None
    if settings.distill != "llm":
        yield Enrichers(tagger)
        return
    judge = load(JudgeSettings)
    cache = FileCache(judge.cache) if judge.cache else None
    with build_endpoint(judge) as endpoint:
        yield Enrichers(tagger, Writer(endpoint, cache=cache))
