"""A judge around a natural-language-inference model that the user has on disk."""

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
from otel_rt4chart.verify.neural.labels import Odds, check_width, read_labels
from otel_rt4chart.verify.neural.model_folder import find_model, identify
from otel_rt4chart.verify.neural.premise import Fits, Reading, Search, readings, windows
from otel_rt4chart.verify.neural.session import Scores, Session
from otel_rt4chart.verify.text.citations import blanked


class Read(NamedTuple):
    """A premise that was read, and what the model gave for it."""

    reading: Reading
    odds: Odds

    @property
    def is_alone(self) -> bool:
        """True for one sentence, or a piece of it."""
        return len(self.reading.sentences) == 1


def decide(read: Sequence[Read], threshold: float) -> Judgement:
    """The likelier of what the premises say for the claim and against it; else it is baseless.

    A premise speaks for the claim where entailed is its likeliest label or, with a threshold, at
    least that likely; against it where contradicted is the likeliest.
    """
    speaking_for = [one for one in read if _entails(one.odds, threshold)]
    against = [one for one in read if one not in speaking_for and _contradicts(one.odds)]
    entailed = max((one.odds.entailed for one in speaking_for), default=0.0)
    contradicted = max((one.odds.contradicted for one in against), default=0.0)
    if speaking_for and entailed >= contradicted:
        return _supported(Label.ENTAILED, speaking_for)
    if against:
        return _supported(Label.CONTRADICTED, against)
    return Judgement(
        Label.BASELESS,
        confidence=min(one.odds.baseless for one in read),
        reason=f"of {_count(read)} none entails or contradicts it: P(entailed) is at most "
        f"{max(one.odds.entailed for one in read):.2f}",
    )


def _entails(odds: Odds, threshold: float) -> bool:
    if threshold:
        return odds.entailed >= threshold
    return odds.entailed > odds.baseless and odds.entailed >= odds.contradicted


def _contradicts(odds: Odds) -> bool:
    return odds.contradicted > max(odds.entailed, odds.baseless)


def _supported(label: Label, agreeing: Sequence[Read]) -> Judgement:
    """The sentences that agree alone are its evidence, best first; else those read together."""

    def probability(one: Read) -> float:
        return one.odds.entailed if label is Label.ENTAILED else one.odds.contradicted

    ordered = sorted(agreeing, key=probability, reverse=True)
    evidence = [one for one in ordered if one.is_alone] or ordered[:1]
    best = ordered[0]
    by = "one sentence" if best.is_alone else f"{len(best.reading.sentences)} sentences together"
    return Judgement(
        label,
        tuple(dict.fromkeys(index for one in evidence for index in one.reading.sentences)),
        probability(best),
        f"P({label}) is {probability(best):.2f} by {by}",
    )


def _count(read: Sequence[Read]) -> str:
    indices = {index for one in read for index in one.reading.sentences}
    return "1 sentence" if len(indices) == 1 else f"{len(indices)} sentences"


_METHOD = "1"  # part of the id: another choice of premises gives other verdicts
_CHARACTERS = 16  # a token's, at most on average: what is longer is split before it is counted
_MOST = 32  # premises for one claim: more than ten only of very long sentences, or of all of them


class _Plan(NamedTuple):
    """The premises to read for a claim."""

    hypothesis: str
    readings: Sequence[Reading]


class OnnxJudge:
    """Any sequence classifier of premise and hypothesis; no key, no network, no download.

    A call blocks while the model computes. Threads may share a judge; a forked process opens the
    model again. What it remembers is bounded.
    """

    is_remote = False

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
        known = read_labels(labels, folder.config)
        identity = identify(folder, _METHOD, str(known), f"{threshold:g}")
        self._session = Session(folder, threads=threads, one_by_one=identity.is_scaled_by_batch)
        check_width(known, self._session.width)
        self._scores = Scores(self._session, known)
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
        """All claims' pairs go to the model at once."""
        search = Search(sentences, focus)
        plans = [self._plan(claim, sentences, search) for claim in claims]
        odds = self._scores.of(
            (reading.premise, plan.hypothesis)
            for plan in plans
            if isinstance(plan, _Plan)
            for reading in plan.readings
        )
        return tuple(
            plan
            if isinstance(plan, Judgement)
            else decide(
                [Read(one, odds[one.premise, plan.hypothesis]) for one in plan.readings],
                self._threshold,
            )
            for plan in plans
        )

    def _plan(
        self, draft: DraftClaim, sentences: tuple[Sentence, ...], search: Search
    ) -> _Plan | Judgement:
        if not draft.is_claim:
            return Judgement(Label.NOT_A_CLAIM, confidence=1.0, reason="states nothing to check")
        hypothesis = " ".join(blanked(draft.text).split())
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
        # In other words, or another language, it may stand anywhere.
        found = readings(near, fits) if near else windows(sentences, fits)
        read = list(islice(found, _MOST + 1))
        if not 0 < len(read) <= _MOST:
            what = "its nearest sentences are" if near else "no sentence has a word of it; all are"
            return Judgement(
                Label.UNDECIDED,
                reason=f"{what} too long for the model: more than {_MOST} times its input",
            )
        return _Plan(hypothesis, read)

    def _fits(self, hypothesis: str) -> Fits:
        longest = self._session.longest

        def fits(premise: str) -> bool:
            is_short = len(premise) <= longest * _CHARACTERS
            return is_short and self._session.pair_length(premise, hypothesis) <= longest

        return fits
