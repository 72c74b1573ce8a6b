"""A judge that runs the user's own detector of unsupported words, such as LettuceDetect's."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from otel_rt4chart.core.errors import JudgeError, SettingsError
from otel_rt4chart.verify.core.judge import Audit, AuditReply, Question, Reply
from otel_rt4chart.verify.core.meter import Meter
from otel_rt4chart.verify.core.model import AnswerRange, DraftClaim, Judgement, Label, Sentence
from otel_rt4chart.verify.decompose.grounding import claim_from_sentence
from otel_rt4chart.verify.decompose.rules import kind_of
from otel_rt4chart.verify.neural.model_folder import find_model, identify
from otel_rt4chart.verify.neural.pair_classifier import read_labels
from otel_rt4chart.verify.neural.premise import cached_linker
from otel_rt4chart.verify.neural.span_classifier import (
    FlaggedRange,
    SpanClassifier,
    TokenReading,
    best_supported,
    flagged_ranges,
    stripped,
)
from otel_rt4chart.verify.neural.span_windows import AnswerPiece, answer_pieces, prompt_windows

_METHOD = "1"  # part of the id: other windows or another prompt give other verdicts
_QUOTED = 80  # characters of the flagged words in a reason

Verdict = tuple[DraftClaim, Judgement]


class OnnxSpansJudge:
    """Reads a whole answer after its passages and flags words; no key, no network, no download.

    Each flagged range is a claim with exactly these characters; a sentence without one is an
    entailed claim. It cannot be asked about a claim that is given. A call blocks while the model
    computes. Threads may share a judge; a forked process opens the model again.
    """

    is_remote = False
    one_call = True
    input_limit = sys.maxsize  # longer passages are read in windows here, not in parts by callers

    def __init__(
        self, path: str | Path, *, labels: str = "", threads: int = 0, threshold: float = 0.0
    ) -> None:
        """Open the model at a folder or .onnx file; SettingsError says what is wrong with it.

        `labels` are those of the logits where config.json does not say. `threshold` is the least
        P(entailed) of a supported word; 0 takes the likeliest label.
        """
        if not 0.0 <= threshold <= 1.0 or threads < 0:
            raise SettingsError(
                "expected a threshold from 0 to 1 and threads of 0 or more, "
                f"got {threshold} and {threads}"
            )
        folder = find_model(Path(path))
        known = read_labels(labels or folder.labels, folder.config)
        digest = identify(folder, _METHOD, str(known), f"{threshold:g}").digest
        self._model = SpanClassifier(folder, known, threads=threads, threshold=threshold)
        self._id = f"onnx-spans/{folder.name}/{digest}"

    @property
    def id(self) -> str:
        """The folder's name and a hash over model, tokenizer, labels and threshold."""
        return self._id

    @property
    def longest_input(self) -> int:
        """The tokens of prompt and answer that the model takes at once."""
        return self._model.longest

    def answers(self, questions: Sequence[Question], meter: Meter) -> Sequence[Reply | Exception]:
        """The claims of each answer with their judgements."""
        return [self._reply(question, meter) for question in questions]

    async def answers_async(
        self, questions: Sequence[Question], meter: Meter
    ) -> Sequence[Reply | Exception]:
        """The same in a thread, for the model computes long."""
        return await asyncio.to_thread(self.answers, questions, meter)

    def _reply(self, question: Question, meter: Meter) -> Reply | Exception:
        if not isinstance(question, Audit):
            raise TypeError(f"{self.id} cannot be asked {type(question).__name__}")
        answer = question.answer or _joined(question.sentences)
        try:
            tokens = self._read(question, answer, meter)
        except JudgeError as error:
            return error
        ranges = list(flagged_ranges(answer, tokens))
        return AuditReply(
            pair
            for sentence in question.sentences
            for pair in _verdicts(sentence, answer, tokens, ranges, question.context)
        )

    def _read(self, asked: Audit, answer: str, meter: Meter) -> list[TokenReading]:
        """The tokens of the answer, each by the window that supports it best."""
        model = self._model
        pieces = answer_pieces(answer, asked.sentences, model.length, model.longest // 2)
        meter.start_judging()
        found: list[TokenReading] = []
        for piece in pieces:
            read: list[TokenReading] = []
            for prompt in self._prompts(asked, piece):
                _count(meter)
                tokens = model.read(prompt, piece.text)
                pairs = zip(read, tokens, strict=True)
                read = [best_supported(*pair) for pair in pairs] if read else tokens
            found += [
                replace(one, start=one.start + piece.start, end=one.end + piece.start)
                for one in read
            ]
        return found

    def _prompts(self, asked: Audit, piece: AnswerPiece) -> Iterator[str]:
        longest = self._model.longest

        def fits(prompt: str) -> bool:
            return self._model.length(prompt, piece.text) <= longest

        return prompt_windows(asked.context, asked.question, fits)


def _count(meter: Meter) -> None:
    """Count one window before it is read; JudgeError where the budget has no more."""
    problem = meter.late_reason if meter.is_late else meter.compare(1, with_model=True)
    if problem:
        raise JudgeError(problem)


def _joined(sentences: Sequence[Sentence]) -> str:
    """The text around these sentences; what lay between them was white space."""
    text = ""
    for sentence in sentences:
        text = text.ljust(sentence.start) + sentence.text
    return text


def _verdicts(
    sentence: Sentence,
    answer: str,
    tokens: Sequence[TokenReading],
    ranges: Sequence[FlaggedRange],
    context: tuple[Sentence, ...],
) -> Iterator[Verdict]:
    """A claim for each flagged range in the sentence; without one, the sentence as a claim."""
    flagged = [one for one in ranges if one.start < sentence.end and sentence.start < one.end]
    for one in flagged:
        where = stripped(answer, max(one.start, sentence.start), min(one.end, sentence.end))
        draft = DraftClaim(
            sentence.text, sentence.index, AnswerRange(*where), kind_of(sentence.text)
        )
        yield draft, _flagged_judgement(one, answer[slice(*where)], sentence, context)
    if flagged:
        return
    own = [one.odds.entailed for one in tokens if sentence.start <= one.start < sentence.end]
    for draft in claim_from_sentence(sentence):
        yield draft, _supported_judgement(draft, min(own, default=0.0), context)


def _flagged_judgement(
    flagged: FlaggedRange, words: str, sentence: Sentence, context: tuple[Sentence, ...]
) -> Judgement:
    quoted = words if len(words) <= _QUOTED else f"{words[: _QUOTED - 1]}…"
    reason = f"the detector flags “{quoted}”, P(not supported) is {flagged.probability:.2f}"
    label, evidence = flagged.label, _nearest(sentence.text, context)
    if label is Label.CONTRADICTED and not evidence:
        # No sentence can be shown as the one that contradicts it.
        label = Label.BASELESS
    shown = evidence if label is Label.CONTRADICTED else ()
    return Judgement(label, shown, flagged.probability, reason)


def _supported_judgement(
    draft: DraftClaim, entailed: float, context: tuple[Sentence, ...]
) -> Judgement:
    if not draft.is_claim:
        return Judgement(Label.NOT_A_CLAIM, confidence=1.0, reason="states nothing to check")
    evidence = _nearest(draft.text, context)
    if not evidence:
        return Judgement(
            Label.UNDECIDED,
            reason="the detector flags no word of it, and no sentence that shares a word with it "
            "can be shown as evidence",
        )
    return Judgement(
        Label.ENTAILED,
        evidence,
        entailed,
        f"the detector flags no word of it, P(supported) is at least {entailed:.2f}; it names no "
        "evidence: the sentence most like the claim is shown",
    )


def _nearest(text: str, context: tuple[Sentence, ...]) -> tuple[int, ...]:
    """The sentence with most of the words, in place of evidence that a detector does not name."""
    return tuple(link.sentence for link in cached_linker(context).candidates(text, limit=1))
