"""RT4CHART over an endpoint: many claims in one call, and the majority of several votes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.core.judge import Assess, Decompose, Hint, Question, Reply, Select
from otel_rt4chart.verify.core.meter import Meter
from otel_rt4chart.verify.core.model import AnswerRange, DraftClaim, Judgement, Sentence
from otel_rt4chart.verify.decompose.grounding import claim_from_sentence
from otel_rt4chart.verify.decompose.rules import decompose as decompose_by_rule
from otel_rt4chart.verify.llm.cache import Cache
from otel_rt4chart.verify.llm.conversation import (
    INPUT_LIMIT,
    Dialogue,
    EndpointJudge,
    PromptSender,
    RoundSteps,
    UnusableReplyError,
    answer_all,
    ask_units,
    batches,
)
from otel_rt4chart.verify.llm.label_task import (
    CLAIMS_A_CALL,
    LabelTask,
    ResolveGroup,
    ask_selection,
    merge_resolves,
    reply_part,
    selection_reply,
)
from otel_rt4chart.verify.llm.prices import PRICES, Price
from otel_rt4chart.verify.llm.prompt import LabelSet, labels_mark, version
from otel_rt4chart.verify.llm.split_task import HolisticSplitTask, drafts_from, split_tasks
from otel_rt4chart.verify.llm.votes import ask_votes, checked_votes

SENTENCES_A_CALL = 20


class OpenAIJudge(EndpointJudge):
    """RT4CHART over any endpoint that speaks OpenAI's protocol, with many claims in one call.

    One call splits the answer, one call per chunk judges all claims locally, and one call resolves
    them on the whole context. With `votes`, every claim is resolved twice, and up to `votes` times
    where the judgements differ; the majority decides, and its share is the confidence. Without
    votes it is the probability of the label's tokens, and None where the endpoint tells none.
    """

    one_call = False

    def __init__(
        self,
        endpoint: PromptSender,
        *,
        votes: int = 1,
        decomposition: Literal["sentence", "holistic"] = "sentence",
        labels: LabelSet = "three",
        cache: Cache | None = None,
        prices: Mapping[str, Price] = PRICES,
        input_limit: int = INPUT_LIMIT,
    ) -> None:
        """`votes` is 1 or an odd number; `input_limit` is the most context tokens in one call."""
        super().__init__(endpoint, cache=cache, prices=prices, input_limit=input_limit)
        self._votes = checked_votes(votes)
        self._labels = labels
        self._is_holistic = decomposition == "holistic"

    @property
    def id(self) -> str:
        """Model, versions of the prompts, votes and decomposition: what verdicts depend on."""
        names = ("holistic" if self._is_holistic else "decompose", "labels", "assess", "resolve")
        prompts = ".".join(version(name) for name in names)
        votes = f"-votes{self._votes}" if self._votes > 1 else ""
        options = f"{votes}{labels_mark(self._labels)}" + "-holistic" * self._is_holistic
        return f"openai/{self._endpoint.model}/{prompts}{options}"

    def _conversation(self, questions: Sequence[Question], meter: Meter) -> RoundSteps:
        """Ask everything at once; claims to resolve on the same context share a call."""
        asked, places = merge_resolves(questions)
        dialogues = [self._dialogues(question, meter) for question in asked]
        replies = yield from answer_all(asked, dialogues, self._reply, meter, self._price)
        return [reply_part(replies[place.at], place) for place in places]

    def _dialogues(
        self, question: Question | ResolveGroup, meter: Meter
    ) -> list[Dialogue[list[Any]]]:
        """A question as dialogues of bounded size, whose results are joined in order."""
        match question:
            case Decompose() if self._is_holistic:
                return [
                    ask_units(HolisticSplitTask(self.id, question.sentences), meter, self._cache)
                ]
            case Decompose():
                sentences = question.sentences
                tasks = split_tasks(self.id, _asked(sentences), sentences, SENTENCES_A_CALL)
                return [ask_units(task, meter, self._cache) for task in tasks]
            case Assess():
                asked = [(claims, ()) for claims in batches(question.claims, CLAIMS_A_CALL)]
                return [self._label(question, claims, hints, meter) for claims, hints in asked]
            case ResolveGroup():
                parts = zip(
                    batches(question.claims, CLAIMS_A_CALL),
                    batches(question.hints, CLAIMS_A_CALL),
                    strict=True,
                )
                return [self._label(question, claims, hints, meter) for claims, hints in parts]
            case Select():
                return ask_selection(question, self.id, meter, self._cache)
        raise TypeError(f"{self.id} cannot be asked {type(question).__name__}")

    def _label(
        self,
        question: Assess | ResolveGroup,
        claims: tuple[DraftClaim, ...],
        hints: tuple[Hint | None, ...],
        meter: Meter,
    ) -> Dialogue[list[Judgement]]:
        """One judgement for each claim; on the whole context by majority where there are votes."""

        def make_task(numbers: Sequence[int], vote: int) -> LabelTask:
            some = tuple(claims[n] for n in numbers)
            return self._task(question, some, tuple(hints[n] for n in numbers if hints), vote)

        votes = self._votes if isinstance(question, ResolveGroup) else 1
        return ask_votes(claims, votes, make_task, meter, self._cache)

    def _task(
        self,
        question: Assess | ResolveGroup,
        claims: tuple[DraftClaim, ...],
        hints: tuple[Hint | None, ...],
        vote: int,
    ) -> LabelTask:
        asked = question.question
        if isinstance(question, Assess):
            shown = question.chunk.sentences
            return LabelTask(self.id, "assess", claims, shown, asked, labels=self._labels)
        context, bare = question.context, question.bare
        return LabelTask(
            self.id, "resolve", claims, context, asked, hints, bare, vote, self._labels
        )

    def _reply(self, question: Question | ResolveGroup, values: list[Any]) -> Reply | Exception:
        match question:
            case Decompose() if self._is_holistic:
                return _holistic(values[0], question.sentences)
            case Decompose():
                return _sentencewise(values, question.sentences)
            case Select():
                return selection_reply(question, values)
        return values


def _asked(sentences: Sequence[Sentence]) -> list[Sentence]:
    """The sentences that the rules do not recognise as framing or questions; those cost no call."""
    return [s for s in sentences if any(draft.is_claim for draft in decompose_by_rule([s]))]


def _sentencewise(
    values: Sequence[Any], sentences: Sequence[Sentence]
) -> list[DraftClaim] | JudgeError:
    """The claims of all sentences; a sentence that could not be split is one claim."""
    asked = _asked(sentences)
    failed = [one for one in values if isinstance(one, JudgeError)]
    if asked and len(failed) == len(asked) and not isinstance(failed[0], UnusableReplyError):
        return failed[0]
    by_sentence = {one.index: value for one, value in zip(asked, values, strict=True)}
    drafts: list[DraftClaim] = []
    for sentence in sentences:
        value = by_sentence.get(sentence.index)
        drafts += (
            drafts_from(value, sentence)
            if isinstance(value, list)
            else claim_from_sentence(sentence)
        )
    return drafts


def _holistic(value: object, sentences: Sequence[Sentence]) -> list[DraftClaim] | JudgeError:
    if isinstance(value, JudgeError):
        return value
    whole = AnswerRange(sentences[0].start, sentences[-1].end)
    entries = value if isinstance(value, list) else []
    return [DraftClaim(entry["claim"], -1, whole, entry["type"]) for entry in entries]
