"""The embedded judge: features of the claim, a small network, and one head over both."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.verify.core.model import DraftClaim, Judgement, Label, Sentence
from otel_rt4chart.verify.decompose.grounding import MAX_NARROW_SHARE
from otel_rt4chart.verify.language.slots import read_slots
from otel_rt4chart.verify.local.early import EarlyVerdicts
from otel_rt4chart.verify.local.features import FEATURES, ClaimReading, read_claim
from otel_rt4chart.verify.local.rules_judge import RULES_ID, WholeContextJudge
from otel_rt4chart.verify.local.structure import deny_baseless, deny_measures, doubt_entailed
from otel_rt4chart.verify.local.verdict import (
    DecisionThresholds,
    LogisticHead,
    Odds,
    clash_floor,
    doubt_thin_grounds,
    judgement_from_odds,
    negation_floor,
    read_head,
    swap_floor,
)
from otel_rt4chart.verify.neural.cross_encoder import (
    LONGEST,
    LONGEST_CLAIM,
    CrossEncoder,
    NetworkReading,
    marked_runs,
    network_id,
)
from otel_rt4chart.verify.neural.local_embedder import MODEL as ENCODER
from otel_rt4chart.verify.neural.local_embedder import LocalEmbedder
from otel_rt4chart.verify.neural.local_scanner import LocalScanner
from otel_rt4chart.verify.neural.marks import read_marks
from otel_rt4chart.verify.neural.model_folder import model_folder
from otel_rt4chart.verify.neural.premise import cached_linker, join_fitting, nearest_sentences
from otel_rt4chart.verify.neural.rewording import in_passage_words
from otel_rt4chart.verify.text.citations import blank_citations
from otel_rt4chart.verify.text.fillers import blank_fillers

NETWORK, NETWORK_KIND = "network", "network_kind"
STACK_FEATURES = (*FEATURES, NETWORK, NETWORK_KIND)
HEADS_FILE = "head.json"
_MAX_LOGIT = 6.0  # a larger logit says no more than that the network is certain
# Below this P(unfaithful) the network has read "excluded" or "without" as the negation that it is,
# and a rule that misses one there is wrong: of 13 such plain cases 11 are faithful.
_HEARS_NEGATION = 0.3


@dataclass(frozen=True, slots=True)
class StackedHeads:
    """The heads over features and network: `unfaithful` first, then `contradicted` of those.

    The other class is entailed for the first and baseless for the second. A word of the claim is
    marked where the network gives it at least the probability `marked_from` of being wrong. The
    thresholds of the heads are where either answer is as likely; `thresholds` are where the judge
    decides.
    `digest` identifies the fit and the rules beside it.
    """

    unfaithful: LogisticHead
    contradicted: LogisticHead
    marked_from: float
    thresholds: DecisionThresholds
    digest: str


def read_stacked_heads(folder: Path) -> StackedHeads:
    """The heads in the model's folder; SettingsError where they are of another version."""
    path = folder / HEADS_FILE
    try:
        written = path.read_bytes()
        fitted = json.loads(written)
        heads = [read_head(fitted[name], STACK_FEATURES) for name in ("unfaithful", "contradicted")]
        # The rules decide, too: with others the same models give other verdicts.
        digest = hashlib.blake2b(written + RULES_ID.encode(), digest_size=3).hexdigest()
        decides = {name: float(value) for name, value in fitted["decides"].items()}
        thresholds = DecisionThresholds(**decides, kind_from=heads[1].threshold)
        return StackedHeads(heads[0], heads[1], float(fitted["marked_from"]), thresholds, digest)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingsError(
            f"{path}: expected the heads of this version's judge, got "
            f"{type(error).__name__} ({error}): install rt4chart-models of the same version"
        ) from error


def local_judge_id(folder: Path | None = None) -> str:
    """The id of the judge with these models, which are read and not opened; see `LocalJudge`."""
    folder = folder or model_folder()
    return _id_of(network_id(folder), read_stacked_heads(folder))


def _id_of(network: str, stack: StackedHeads) -> str:
    return f"local/{network.rpartition('/')[2]}-{stack.digest}"


def stack_features(reading: ClaimReading, read: NetworkReading) -> dict[str, float]:
    """The features of one claim and the network's logits, by name."""
    unfaithful = _log_sum(read.contradicted, read.baseless)
    return reading.named | {
        NETWORK: _clipped(unfaithful - read.entailed),
        NETWORK_KIND: _clipped(read.contradicted - read.baseless),
    }


def _log_sum(left: float, right: float) -> float:
    """The logarithm of the sum of two probabilities that are given as logarithms."""
    most = max(left, right)
    return most + math.log(math.exp(left - most) + math.exp(right - most))


def _clipped(logit: float) -> float:
    return max(-_MAX_LOGIT, min(_MAX_LOGIT, logit))


class _NetworkPlan(NamedTuple):
    """A claim for the network to read with the `near` sentences, and its features.

    It reads the claim `as_read`, with values as the passages write them.
    """

    claim: str
    as_read: str
    near: tuple[Sentence, ...]
    evidence: str
    reading: ClaimReading


class LocalJudge(WholeContextJudge):
    """Needs no key and no network connection: rules, and a model that comes as a package.

    Threads may share it; a forked process opens the model again. The same input gives the same
    verdict. A call blocks while the model computes.
    """

    def __init__(self, folder: Path | None = None, *, threads: int = 0) -> None:
        """Open the models of the package rt4chart-models, or those of another folder.

        `threads` 0 stands for all cores, 4 at most. SettingsError says what to install.
        """
        folder = folder or model_folder()
        self._network = CrossEncoder(folder, threads=threads)
        self._stack = read_stacked_heads(folder)
        self._scanner = LocalScanner(self._network)
        has_encoder = (folder / ENCODER).is_file()
        self._encoder = LocalEmbedder(folder, threads=threads) if has_encoder else None
        self._id = _id_of(self._network.id, self._stack)

    @property
    def id(self) -> str:
        """A hash over models and rules; with another, a claim could get another verdict."""
        return self._id

    @property
    def scanner(self) -> LocalScanner:
        """The same network on single sentences, for the passages that an answer did not use."""
        return self._scanner

    @property
    def encoder(self) -> LocalEmbedder | None:
        """The encoder that comes with the models; None where the folder has none."""
        return self._encoder

    @property
    def longest_input(self) -> int:
        """The tokens of claim and evidence that the network takes at once."""
        return LONGEST

    def _judge(
        self, claims: Sequence[DraftClaim], sentences: tuple[Sentence, ...]
    ) -> tuple[Judgement, ...]:
        """The network reads all claims in one call."""
        early = EarlyVerdicts(sentences)
        plans = [self._plan(claim, early, sentences) for claim in claims]
        asked = [plan for plan in plans if isinstance(plan, _NetworkPlan)]
        reads = iter(self._network.read([(plan.as_read, plan.evidence) for plan in asked]))
        return tuple(
            early.settle(self._decide(plan, next(reads), sentences))
            if isinstance(plan, _NetworkPlan)
            else plan
            for plan in plans
        )

    def _plan(
        self, draft: DraftClaim, early: EarlyVerdicts, sentences: tuple[Sentence, ...]
    ) -> _NetworkPlan | Judgement:
        text = blank_fillers(blank_citations(draft.text))
        claim = read_slots(text)
        known = early.judge(draft, claim)
        if known is not None:
            return known
        length = self._network.length(text, "")
        if length > LONGEST_CLAIM:
            return Judgement(
                Label.UNDECIDED,
                reason=f"the claim is too long for the model: {length} tokens, and it reads "
                f"{LONGEST_CLAIM} beside the passages",
            )
        near = tuple(nearest_sentences(text, sentences, cached_linker(sentences)))
        reading = read_claim(claim, early.index)
        as_read = in_passage_words(reading)
        if self._network.length(as_read, "") > LONGEST_CLAIM:
            as_read = text
        evidence = join_fitting(near, lambda part: self._network.length(as_read, part) <= LONGEST)
        return _NetworkPlan(text, as_read, near, evidence, reading)

    def _decide(
        self, plan: _NetworkPlan, read: NetworkReading, sentences: Sequence[Sentence]
    ) -> Judgement:
        measured = stack_features(plan.reading, read)
        unfaithful, contradicted = self._stack.unfaithful, self._stack.contradicted
        read_as = unfaithful.probability(measured)
        denied = negation_floor(plan.reading) if read_as >= _HEARS_NEGATION else 0.0
        odds = Odds(
            max(read_as, clash_floor(plan.reading), denied),
            max(contradicted.probability(measured), swap_floor(plan.reading), denied),
            self._stack.thresholds,
        )
        marks = read_marks(self._marked(plan, read), plan.reading, sentences)
        judgement = judgement_from_odds(plan.reading, odds, sentences, plan.near, marks)
        judgement = deny_measures(judgement, plan.reading, sentences)
        judgement = doubt_entailed(judgement, plan.reading, sentences)
        judgement = deny_baseless(judgement, plan.reading, sentences)
        return doubt_thin_grounds(judgement, plan.reading, sentences, marks)

    def _marked(self, plan: _NetworkPlan, read: NetworkReading) -> list[str]:
        """Runs of the claim's words that the network marks as wrong, the most probable first."""
        # A mark over nearly all of a claim says nothing.
        widest = MAX_NARROW_SHARE * len(plan.claim)
        runs = marked_runs(plan.as_read, read.marks, self._stack.marked_from)
        return [run for run in runs if len(run) <= widest and run in plan.claim]
