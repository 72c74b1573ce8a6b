"""RT4CHART over an endpoint: many claims in one call, the majority of several judgements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from otel_rt4chart.core.errors import JudgeError, SettingsError
from otel_rt4chart.verify.core.drive import drive, drive_async
from otel_rt4chart.verify.core.judge import Assess, Decompose, Hint, Question, Reply, Select
from otel_rt4chart.verify.core.meter import Meter
from otel_rt4chart.verify.core.model import AnswerRange, DraftClaim, Judgement, Sentence
from otel_rt4chart.verify.decompose.drafts import whole_claim
from otel_rt4chart.verify.decompose.rules import decompose as decompose_by_rule
from otel_rt4chart.verify.llm.ask import Talk, UnusableReplyError, ask_units
from otel_rt4chart.verify.llm.cache import Cache, MemoryCache, ScopedCache
from otel_rt4chart.verify.llm.conversation import (
    CLAIMS_A_CALL,
    INPUT_LIMIT,
    Conversation,
    Sender,
    answer_all,
    batches,
    checked_limit,
    picked,
    picking,
)
from otel_rt4chart.verify.llm.judgements import agree, elected, judgement_from
from otel_rt4chart.verify.llm.labelling import Labelling, Resolving, merged, part
from otel_rt4chart.verify.llm.prices import PRICES, Price
from otel_rt4chart.verify.llm.prompt import version
from otel_rt4chart.verify.llm.splitting import WholeSplitting, drafts_from, splits

SENTENCES_A_CALL = 20


class OpenAIJudge:
    """RT4CHART over any endpoint that speaks OpenAI's protocol, many claims in one call.

    One call splits the answer, one a chunk judges all claims locally, one a hint resolves them.
    `votes` judgements are taken of claims whose first two disagree; the majority counts, and its
    share is the confidence. Without votes an endpoint's confidence is 1: nothing disagreed.
    """

    one_call = False
    is_remote = True

    def __init__(
        self,
        endpoint: Sender,
        *,
        votes: int = 1,
        decomposition: Literal["sentence", "holistic"] = "sentence",
        cache: Cache | None = None,
        prices: Mapping[str, Price] = PRICES,
        input_limit: int = INPUT_LIMIT,
    ) -> None:
        """`votes` is 1 or an odd number; `input_limit` are tokens of context in one call."""
        if votes < 1 or votes % 2 == 0:
            raise SettingsError(f"votes: expected 1 or an odd number from 3, got {votes}")
        self._endpoint = endpoint
        self._votes = votes
        self._is_holistic = decomposition == "holistic"
        kept = MemoryCache() if cache is None else cache
        self._cache = ScopedCache(kept, endpoint.address)
        self._price = prices.get(endpoint.model)
        self._input_limit = checked_limit(input_limit)

    @property
    def id(self) -> str:
        """Model, prompts' versions, votes and decomposition: another one gives other verdicts."""
        names = ("holistic" if self._is_holistic else "decompose", "labels", "assess", "resolve")
        prompts = ".".join(version(name) for name in names)
        votes = f"-votes{self._votes}" if self._votes > 1 else ""
        return f"openai/{self._endpoint.model}/{prompts}{votes}" + "-holistic" * self._is_holistic

    @property
    def input_limit(self) -> int:
        """The tokens of context that one call may hold."""
        return self._input_limit

    def answers(self, questions: Sequence[Question], meter: Meter) -> list[Reply | Exception]:
        """Blocks until all are answered, by as many calls at once as the endpoint allows."""
        return drive(self._conversation(questions, meter), self._endpoint.send)

    async def answers_async(
        self, questions: Sequence[Question], meter: Meter
    ) -> list[Reply | Exception]:
        """The same, awaited."""
        return await drive_async(self._conversation(questions, meter), self._endpoint.send_async)

    def _conversation(self, questions: Sequence[Question], meter: Meter) -> Conversation:
        """Claims to resolve on the same context share one call, each under its own hint."""
        asked, places = merged(questions)
        talks = [self._talks(question, meter) for question in asked]
        replies = yield from answer_all(asked, talks, self._reply, meter, self._price)
        return [part(replies[place.at], place) for place in places]

    def _talks(self, question: Question | Resolving, meter: Meter) -> list[Talk[list[Any]]]:
        """A question as talks of a bounded size, their results joined in order."""
        match question:
            case Decompose() if self._is_holistic:
                return [ask_units(WholeSplitting(self.id, question.sentences), meter, self._cache)]
            case Decompose():
                told = question.sentences
                tasks = splits(self.id, _asked(told), told, SENTENCES_A_CALL)
                return [ask_units(task, meter, self._cache) for task in tasks]
            case Assess():
                asked = [(claims, ()) for claims in batches(question.claims, CLAIMS_A_CALL)]
                return [self._label(question, claims, hints, meter) for claims, hints in asked]
            case Resolving():
                parts = zip(
                    batches(question.claims, CLAIMS_A_CALL),
                    batches(question.hints, CLAIMS_A_CALL),
                    strict=True,
                )
                return [self._label(question, claims, hints, meter) for claims, hints in parts]
            case Select():
                return picking(question, self.id, meter, self._cache)
        raise TypeError(f"{self.id} cannot be asked {type(question).__name__}")

    def _label(
        self,
        question: Assess | Resolving,
        claims: tuple[DraftClaim, ...],
        hints: tuple[Hint | None, ...],
        meter: Meter,
    ) -> Talk[list[Judgement]]:
        """One judgement a claim; final ones by majority where votes are taken."""
        ballots: list[list[Judgement]] = [[] for _ in claims]
        for vote in range(self._votes if isinstance(question, Resolving) else 1):
            open_ = [n for n, cast in enumerate(ballots) if vote < 2 or not agree(cast)]
            if not open_:
                break
            some = tuple(claims[n] for n in open_)
            task = self._task(question, some, tuple(hints[n] for n in open_ if hints), vote)
            values = yield from ask_units(task, meter, self._cache)
            for n, value in zip(open_, values, strict=True):
                ballots[n].append(judgement_from(value, claims[n], task.sentences))
        return [elected(cast) for cast in ballots]

    def _task(
        self,
        question: Assess | Resolving,
        claims: tuple[DraftClaim, ...],
        hints: tuple[Hint | None, ...],
        vote: int,
    ) -> Labelling:
        asked = question.question
        if isinstance(question, Assess):
            return Labelling(self.id, "assess", claims, question.chunk.sentences, asked)
        context, bare = question.context, question.bare
        return Labelling(self.id, "resolve", claims, context, asked, hints, bare, vote)

    def _reply(self, question: Question | Resolving, told: list[Any]) -> Reply | Exception:
        match question:
            case Decompose() if self._is_holistic:
                return _holistic(told[0], question.sentences)
            case Decompose():
                return _sentencewise(told, question.sentences)
            case Select():
                return picked(question, told)
        return told


def _asked(sentences: Sequence[Sentence]) -> list[Sentence]:
    """The sentences without what the rules know to be framing or a question: it costs no call."""
    return [s for s in sentences if any(draft.is_claim for draft in decompose_by_rule([s]))]


def _sentencewise(
    told: Sequence[Any], sentences: Sequence[Sentence]
) -> list[DraftClaim] | JudgeError:
    """The drafts of all sentences; one that could not be split is a claim itself."""
    asked = _asked(sentences)
    failed = [one for one in told if isinstance(one, JudgeError)]
    if asked and len(failed) == len(asked) and not isinstance(failed[0], UnusableReplyError):
        return failed[0]
    values = {one.index: value for one, value in zip(asked, told, strict=True)}
    drafts: list[DraftClaim] = []
    for sentence in sentences:
        value = values.get(sentence.index)
        drafts += drafts_from(value, sentence) if isinstance(value, list) else whole_claim(sentence)
    return drafts


def _holistic(value: object, sentences: Sequence[Sentence]) -> list[DraftClaim] | JudgeError:
    if isinstance(value, JudgeError):
        return value
    whole = AnswerRange(sentences[0].start, sentences[-1].end)
    entries = value if isinstance(value, list) else []
    return [DraftClaim(entry["claim"], -1, whole, entry["type"]) for entry in entries]
