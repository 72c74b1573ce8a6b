"""A judge that runs the user's own natural-language-inference model in this process."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.verify.core.judge import Hint
from otel_rt4chart.verify.core.model import Chunk, DraftClaim, Judgement, Label, Sentence
from otel_rt4chart.verify.decompose import rules as decomposition
from otel_rt4chart.verify.language.tokens import content
from otel_rt4chart.verify.neural.model_folder import find_model, identify
from otel_rt4chart.verify.neural.pair_classifier import (
    CachedProbabilities,
    LabelProbabilities,
    PairClassifier,
    check_width,
    read_labels,
)
from otel_rt4chart.verify.neural.premise import (
    Fits,
    Premise,
    SentenceSearch,
    candidate_premises,
    premise_windows,
)
from otel_rt4chart.verify.text.citations import blank_citations


class ScoredPremise(NamedTuple):
    """A premise and the model's probabilities for it."""

    premise: Premise
    probabilities: LabelProbabilities

    @property
    def is_alone(self) -> bool:
        """True for a single sentence, or a part of one."""
        return len(self.premise.sentences) == 1


def decide(read: Sequence[ScoredPremise], threshold: float) -> Judgement:
    """Entailed or contradicted, whichever some premise makes more probable; else baseless.

    A premise entails the claim where that is its most probable label or, with a threshold, at
    least so probable. It contradicts the claim where that is its most probable label.
    """
    supporting = [one for one in read if _entails(one.probabilities, threshold)]
    contradicting = [
        one for one in read if one not in supporting and _contradicts(one.probabilities)
    ]
    entailed = max((one.probabilities.entailed for one in supporting), default=0.0)
    contradicted = max((one.probabilities.contradicted for one in contradicting), default=0.0)
    if supporting and entailed >= contradicted:
        return _judgement_from(Label.ENTAILED, supporting)
    if contradicting:
        return _judgement_from(Label.CONTRADICTED, contradicting)
    return Judgement(
        Label.BASELESS,
        confidence=min(one.probabilities.baseless for one in read),
        reason=f"of {_count(read)} none entails or contradicts it: P(entailed) is at most "
        f"{max(one.probabilities.entailed for one in read):.2f}",
    )


def _entails(odds: LabelProbabilities, threshold: float) -> bool:
    if threshold:
        return odds.entailed >= threshold
    return odds.entailed > odds.baseless and odds.entailed >= odds.contradicted


def _contradicts(odds: LabelProbabilities) -> bool:
    return odds.contradicted > max(odds.entailed, odds.baseless)


def _judgement_from(label: Label, agreeing: Sequence[ScoredPremise]) -> Judgement:
    """The evidence: sentences that say it alone, best first, else those that say it together."""

    def probability(one: ScoredPremise) -> float:
        return (
            one.probabilities.entailed
            if label is Label.ENTAILED
            else one.probabilities.contradicted
        )

    ordered = sorted(agreeing, key=probability, reverse=True)
    evidence = [one for one in ordered if one.is_alone] or ordered[:1]
    best = ordered[0]
    by = "one sentence" if best.is_alone else f"{len(best.premise.sentences)} sentences together"
    return Judgement(
        label,
        tuple(dict.fromkeys(index for one in evidence for index in one.premise.sentences)),
        probability(best),
        f"P({label}) is {probability(best):.2f} by {by}",
    )


def _count(read: Sequence[ScoredPremise]) -> str:
    indices = {index for one in read for index in one.premise.sentences}
    return "1 sentence" if len(indices) == 1 else f"{len(indices)} sentences"


_METHOD = "1"  # part of the id: another choice of premises gives other verdicts
# Characters a token has at most on average: a longer text is split before its tokens are counted.
_MAX_TOKEN_LENGTH = 16
_MAX_PREMISES = 32  # for one claim; more than ten only where sentences are very long


class _PremisePlan(NamedTuple):
    """The premises to read for a claim."""

    hypothesis: str
    premises: Sequence[Premise]


class OnnxJudge:
    """Runs any sequence classifier of premise and hypothesis; no key, no network, no download.

    A call blocks while the model computes. Threads may share a judge; a forked process opens the
    model again. Its cache is bounded.
    """

    is_remote = False
    reads_question = False

    def __init__(
        self, path: str | Path, *, labels: str = "", threads: int = 0, threshold: float = 0.0
    ) -> None:
        """Open the model at a folder or .onnx file; SettingsError says what is wrong with it.

        `labels` are those of the logits where config.json does not say. `threshold` is the least
        P(entailed) of an entailed claim; 0 takes the likeliest label.
        """
        if not 0.0 <= threshold <= 1.0 or threads < 0:
            raise SettingsError(
                "expected a threshold from 0 to 1 and threads of 0 or more, "
                f"got {threshold} and {threads}"
            )
        folder = find_model(Path(path))
        known = read_labels(labels or folder.labels, folder.config)
        template = filter(None, [folder.template])
        identity = identify(folder, _METHOD, str(known), f"{threshold:g}", *template)
        self._session = PairClassifier(
            folder, threads=threads, one_by_one=identity.is_scaled_by_batch
        )
        check_width(known, self._session.width)
        self._scores = CachedProbabilities(self._session, known)
        self._threshold = threshold
        self._id = f"onnx/{folder.name}/{identity.digest}"

    @property
    def id(self) -> str:
        """The folder's name and a hash over model, tokenizer, labels and threshold."""
        return self._id

    @property
    def longest_input(self) -> int:
        """The tokens of premise and claim that the model takes at once."""
        return self._session.longest

    def decompose(self, sentences: Sequence[Sentence]) -> Sequence[DraftClaim]:
        """The rule-based decomposition."""
        return decomposition.decompose(sentences)

    def assess(
        self, claims: Sequence[DraftClaim], chunk: Chunk, *, question: str
    ) -> Sequence[Judgement]:
        """Each claim against the nearest sentences of one chunk alone."""
        return self._judge(claims, chunk.sentences, ())

    def resolve(
        self,
        claims: Sequence[DraftClaim],
        context: Sequence[Sentence],
        *,
        hint: Hint | None,
        question: str,
    ) -> Sequence[Judgement]:
        """Each claim against the nearest sentences of all, and of the hint's chunk."""
        focus = hint.chunk.sentences if hint and hint.chunk else ()
        return self._judge(claims, tuple(context), focus)

    def _judge(
        self,
        claims: Sequence[DraftClaim],
        sentences: tuple[Sentence, ...],
        focus: tuple[Sentence, ...],
    ) -> tuple[Judgement, ...]:
        """The model reads the pairs of all claims in one call."""
        search = SentenceSearch(sentences, focus)
        plans = [self._plan(claim, sentences, search) for claim in claims]
        odds = self._scores.of(
            (premise.text, plan.hypothesis)
            for plan in plans
            if isinstance(plan, _PremisePlan)
            for premise in plan.premises
        )
        return tuple(
            plan
            if isinstance(plan, Judgement)
            else decide(
                [ScoredPremise(one, odds[one.text, plan.hypothesis]) for one in plan.premises],
                self._threshold,
            )
            for plan in plans
        )

    def _plan(
        self, draft: DraftClaim, sentences: tuple[Sentence, ...], search: SentenceSearch
    ) -> _PremisePlan | Judgement:
        if not draft.is_claim:
            return Judgement(Label.NOT_A_CLAIM, confidence=1.0, reason="states nothing to check")
        hypothesis = " ".join(blank_citations(draft.text).split())
        if not content(hypothesis):
            return Judgement(Label.UNDECIDED, reason="nothing to check")
        if not sentences:
            return Judgement(Label.BASELESS, confidence=1.0, reason="no sentence to read")
        length, longest = self._session.pair_length("", hypothesis), self._session.longest
        if length > longest * 3 // 4:  # what is left must hold a premise
            return Judgement(
                Label.UNDECIDED,
                reason=f"the claim is too long for the model: {length} of the {longest} tokens "
                "that it takes with a premise",
            )
        near, fits = search.nearest(hypothesis), self._fits(hypothesis)
        # Without a shared word the claim may stand anywhere, in other words or another language.
        found = candidate_premises(near, fits) if near else premise_windows(sentences, fits)
        read = list(islice(found, _MAX_PREMISES + 1))
        if not 0 < len(read) <= _MAX_PREMISES:
            what = "its nearest sentences are" if near else "no sentence has a word of it; all are"
            return Judgement(
                Label.UNDECIDED,
                reason=f"{what} too long for the model: more than {_MAX_PREMISES} times its input",
            )
        return _PremisePlan(hypothesis, read)

    def _fits(self, hypothesis: str) -> Fits:
        longest = self._session.longest

        def fits(premise: str) -> bool:
            is_short = len(premise) <= longest * _MAX_TOKEN_LENGTH
            return is_short and self._session.pair_length(premise, hypothesis) <= longest

        return fits
