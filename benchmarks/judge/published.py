"""RT4CHART as published: one prompt a call, one claim a prompt, every claim against every chunk.

The instructions, the rendering of passages and the reading of replies are the product's own, so
that a comparison shows what batching, linking and caching save, and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.core.evidence import and_join, or_join
from otel_rt4chart.verify.core.judge import Hint
from otel_rt4chart.verify.core.model import (
    AnswerLabel,
    Chunk,
    DraftClaim,
    Exchange,
    Judgement,
    Label,
    Sentence,
)
from otel_rt4chart.verify.link.chunks import split_into_chunks
from otel_rt4chart.verify.llm.conversation import Completion, PromptSender
from otel_rt4chart.verify.llm.label_task import LabelTask
from otel_rt4chart.verify.llm.prompt import Prompt
from otel_rt4chart.verify.llm.replies import entry_from, judgement_from, objects
from otel_rt4chart.verify.llm.split_task import SplitTask, drafts_from
from otel_rt4chart.verify.text.segment import segment, segment_passages

ID = "naive"


@dataclass(frozen=True, slots=True)
class Cost:
    """What the server counted."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: Cost) -> Cost:
        """The sum."""
        return Cost(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """One claim, known by its sentence and its words, with its label after each of the steps."""

    sentence: int
    text: str
    local: Label
    final: Label


@dataclass(frozen=True, slots=True)
class Outcome:
    """What verifying one answer came to."""

    label: AnswerLabel
    verdicts: tuple[Verdict, ...]
    cost: Cost


class Naive:
    """The published pipeline over an endpoint.

    `is_sequential` sends a prompt after the other, as published; else those of one step are sent
    together, which changes how long it takes and nothing that is counted.
    """

    def __init__(self, endpoint: PromptSender, *, is_sequential: bool) -> None:
        """Holds no state between answers."""
        self._endpoint = endpoint
        self._is_sequential = is_sequential

    def verify(self, exchange: Exchange) -> Outcome:
        """Decompose sentence by sentence, verify locally, verify globally, join."""
        context = segment_passages(exchange.passages)
        claims, cost = self._decompose(segment(exchange.answer))
        parts = split_into_chunks(context)
        asked = [
            LabelTask(ID, "assess", (claim,), part.sentences, exchange.question)
            for claim in claims
            for part in parts
        ]
        votes, spent = self._label(asked)
        cost += spent
        size = len(parts)
        hints = [_hint(votes[n * size : (n + 1) * size], parts) for n in range(len(claims))]
        finals, spent = self._label(
            [
                LabelTask(ID, "resolve", (claim,), context, exchange.question, (hint,))
                for claim, hint in zip(claims, hints, strict=True)
            ]
        )
        verdicts = tuple(
            Verdict(claim.sentence, claim.text, hint.label, final.label)
            for claim, hint, final in zip(claims, hints, finals, strict=True)
        )
        return Outcome(and_join(one.final for one in verdicts), verdicts, cost + spent)

    def _decompose(self, sentences: Sequence[Sentence]) -> tuple[list[DraftClaim], Cost]:
        """One call a sentence, each by itself; whatever the model says is a claim is one."""
        replies, cost = self._send([SplitTask(ID, (one,)).prompt([0]) for one in sentences])
        drafts = [
            draft
            for sentence, reply in zip(sentences, replies, strict=True)
            for draft in drafts_from(
                [entry_from(item, str(item["claim"])) for item in objects(reply.text, "claims")],
                sentence,
            )
        ]
        return [draft for draft in drafts if draft.is_claim], cost

    def _label(self, tasks: Sequence[LabelTask]) -> tuple[list[Judgement], Cost]:
        replies, cost = self._send([task.prompt([0]) for task in tasks])
        return [
            judgement_from(task.read(reply.text, [0]).found.get(0), task.claims[0], task.sentences)
            for task, reply in zip(tasks, replies, strict=True)
        ], cost

    def _send(self, prompts: Sequence[Prompt]) -> tuple[list[Completion], Cost]:
        """The completions; a call that failed would make the counts wrong, so it is raised."""
        runs = [[prompt] for prompt in prompts] if self._is_sequential else [list(prompts)]
        done: list[Completion] = []
        for reply in (reply for run in runs for reply in self._endpoint.send(run)):
            if isinstance(reply, JudgeError):
                raise reply
            done.append(reply)
        tokens = (sum(one.input_tokens for one in done), sum(one.output_tokens for one in done))
        return done, Cost(len(done), *tokens)


def _hint(votes: Sequence[Judgement], parts: Sequence[Chunk]) -> Hint:
    """The OR-join, and the first chunk that has its label where the label points at one."""
    label = or_join(vote.label for vote in votes)
    if label not in (Label.ENTAILED, Label.CONTRADICTED):
        return Hint(label, None)
    return Hint(
        label, next(part for vote, part in zip(votes, parts, strict=True) if vote.label is label)
    )
