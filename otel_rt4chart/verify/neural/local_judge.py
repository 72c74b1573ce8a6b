"""The embedded judge: slots compared, a small network beside them, one head over both."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from otel_rt4chart.verify.core.model import DraftClaim, Judgement, Label, Sentence
from otel_rt4chart.verify.language.context import Context, read_context
from otel_rt4chart.verify.language.slots import read_slots
from otel_rt4chart.verify.local.features import Reading, read_claim
from otel_rt4chart.verify.local.heads import (
    covered_floor,
    denied_floor,
    reversed_floor,
    swapped_floor,
)
from otel_rt4chart.verify.local.judge import WholeContextJudge
from otel_rt4chart.verify.local.verdict import Odds, settled, verdict
from otel_rt4chart.verify.neural.cross_encoder import (
    LONGEST,
    LONGEST_CLAIM,
    CrossEncoder,
    Read,
    marked_runs,
)
from otel_rt4chart.verify.neural.model_folder import model_folder
from otel_rt4chart.verify.neural.premise import linker_of, nearby, together
from otel_rt4chart.verify.neural.stacked_head import NETWORK, read_stack, values
from otel_rt4chart.verify.stages.outcome import NARROW
from otel_rt4chart.verify.text.citations import blanked


class _Plan(NamedTuple):
    """A claim that the network reads beside `near`, and what the slots say of it."""

    claim: str
    near: tuple[Sentence, ...]
    evidence: str
    reading: Reading


class LocalJudge(WholeContextJudge):
    """Needs no key and no network connection: rules, and a model that comes as a package.

    Threads may share it; a forked process opens the model again. The same input gives the same
    verdict. A call blocks while the model computes.
    """

    def __init__(self, folder: Path | None = None, *, threads: int = 0) -> None:
        """Open the models of the package rt4chart-models, or those of another folder.

        `threads` 0 is all cores, 4 at most. SettingsError says what to install where they lack.
        """
        folder = folder or model_folder()
        self._network = CrossEncoder(folder, threads=threads)
        self._stack = read_stack(folder)
        self._id = f"local/{self._network.id.rpartition('/')[2]}-{self._stack.digest}"

    @property
    def id(self) -> str:
        """A hash over the models: under another one the same claim could get another verdict."""
        return self._id

    @property
    def longest_input(self) -> int:
        """The tokens of claim and evidence that the network takes at once."""
        return LONGEST

    def _judge(
        self, claims: Sequence[DraftClaim], sentences: tuple[Sentence, ...]
    ) -> tuple[Judgement, ...]:
        """All claims go to the network at once."""
        context = read_context([sentence.reading for sentence in sentences])
        plans = [self._plan(claim, context, sentences) for claim in claims]
        asked = [plan for plan in plans if isinstance(plan, _Plan)]
        reads = iter(self._network.read([(plan.claim, plan.evidence) for plan in asked]))
        return tuple(
            self._decide(plan, next(reads), sentences) if isinstance(plan, _Plan) else plan
            for plan in plans
        )

    def _plan(
        self, draft: DraftClaim, context: Context, sentences: tuple[Sentence, ...]
    ) -> _Plan | Judgement:
        text = blanked(draft.text)
        claim = read_slots(text)
        known = settled(draft, claim, context, sentences)
        if known is not None:
            return known
        length = self._network.length(text, "")
        if length > LONGEST_CLAIM:
            return Judgement(
                Label.UNDECIDED,
                reason=f"the claim is too long for the model: {length} tokens, and it reads "
                f"{LONGEST_CLAIM} beside the passages",
            )
        near = tuple(nearby(text, sentences, linker_of(sentences)))
        evidence = together(near, lambda part: self._network.length(text, part) <= LONGEST)
        return _Plan(text, near, evidence, read_claim(claim, context))

    def _decide(self, plan: _Plan, read: Read, sentences: Sequence[Sentence]) -> Judgement:
        measured = values(plan.reading, read)
        unfaithful, contradicted = self._stack.unfaithful, self._stack.contradicted
        # Of the training rows' claims with so little of them in the passages that the network does
        # not hold entailed either, 505 of 609 are unfaithful; of those that it does, 69 of 119.
        strange = covered_floor(plan.reading) if measured[NETWORK] >= 0.0 else 0.0
        odds = Odds(
            max(
                unfaithful.probability(measured),
                denied_floor(plan.reading),
                reversed_floor(plan.reading),
                strange,
            ),
            max(
                contradicted.probability(measured),
                swapped_floor(plan.reading),
                reversed_floor(plan.reading),
            ),
            unfaithful.threshold,
            contradicted.threshold,
        )
        return verdict(plan.reading, odds, sentences, plan.near, self._marked(plan.claim, read))

    def _marked(self, claim: str, read: Read) -> list[str]:
        """Runs of words that the network holds wrong, the surest first."""
        widest = NARROW * len(claim)  # if nearly all is wrong, the words say nothing more
        runs = marked_runs(claim, read.marks, self._stack.marked_from)
        return [run for run in runs if len(run) <= widest]
