"""The texts that a span detector reads at once: windows of the passages, pieces of the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.core.model import Sentence
from otel_rt4chart.verify.neural.premise import Fits, split_to_fit

# The prompts of RAGTruth's question answering and summaries, on which LettuceDetect was trained: a
# detector sees an answer after the prompt that it answers.
_ASKED = (
    "Briefly answer the following question:\n{question}\nBear in mind that your response should be "
    "strictly based on the following {count} passages:\n{passages}\nIn case the passages do not "
    "contain the necessary information to answer the question, please reply with: "
    '"Unable to answer based on given passages."\noutput:'
)
_UNASKED = "Summarize the following text:\n{passages}\noutput:"
# Characters of a token at most on average: longer texts are not counted before they are split.
_TOKEN_LENGTH = 16

Length = Callable[[str, str], int]


class AnswerPiece(NamedTuple):
    """A part of the answer that is read at once; `start` is its place there."""

    start: int
    text: str


def prompt_text(question: str, passages: Sequence[str]) -> str:
    """The prompt with these passages, numbered from 1; without a question that of a summary."""
    listed = "\n".join(f"passage {number}: {text}" for number, text in enumerate(passages, 1))
    if not question.strip():
        return _UNASKED.format(passages=listed)
    return _ASKED.format(question=question, count=len(passages), passages=listed)


def answer_pieces(
    answer: str, sentences: Sequence[Sentence], length: Length, most: int
) -> Iterator[AnswerPiece]:
    """The whole answer, or runs of its sentences of at most `most` tokens; nothing is cut off."""

    def fits(text: str) -> bool:
        return len(text) <= most * _TOKEN_LENGTH and length("", text) <= most

    if fits(answer):
        yield AnswerPiece(0, answer)
        return
    at = 0
    while at < len(sentences):
        start = sentences[at].start
        count = _most_that_fit(
            len(sentences) - at,
            lambda some, at=at, start=start: fits(  # type: ignore[misc]
                answer[start : sentences[at + some - 1].end]
            ),
        )
        if count:
            yield AnswerPiece(start, answer[start : sentences[at + count - 1].end])
        else:
            for text in split_to_fit(answer[start : sentences[at].end], fits):
                yield AnswerPiece(start, text)
                start += len(text)
        at += max(count, 1)


def prompt_windows(context: Sequence[Sentence], question: str, fits: Fits) -> Iterator[str]:
    """Prompts that together hold all passages, each with as many sentences as fit.

    JudgeError where the question leaves no room for a passage.
    """
    if not fits(prompt_text(question, ["a"])):
        raise JudgeError("the question and the answer are too long for the model together")
    at = 0
    while at < len(context):
        count = _most_that_fit(
            len(context) - at,
            lambda some, at=at: fits(  # type: ignore[misc]
                prompt_text(question, _passages(context[at : at + some]))
            ),
        )
        if count:
            yield prompt_text(question, _passages(context[at : at + count]))
        else:
            alone = context[at].reading
            for text in split_to_fit(alone, lambda part: fits(prompt_text(question, [part]))):
                yield prompt_text(question, [text])
        at += max(count, 1)


def _passages(sentences: Sequence[Sentence]) -> list[str]:
    """The sentences of each passage as one text."""
    return [
        " ".join(sentence.reading.strip() for sentence in some)
        for _, some in groupby(sentences, key=lambda sentence: sentence.passage_id)
    ]


def _most_that_fit(most: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to `most` that fits, found by doubling and bisection; 0 for none."""
    low, high = 0, 1
    while high < most and fits(high):
        low, high = high, min(2 * high, most)
    if high == most and fits(most):
        return most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
