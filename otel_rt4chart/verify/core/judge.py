"""The seam between the pipeline and whatever decides: a model, rules, or a script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from otel_rt4chart.verify.core.meter import Meter
from otel_rt4chart.verify.core.model import Chunk, DraftClaim, Judgement, Label, Sentence


class Hint(NamedTuple):
    """What local verification found, and where the global judge looks first (section 3.5, Table 2).

    A claim that no chunk decided has no chunk to look at; a hint of None is: nothing was looked at.
    """

    label: Label
    chunk: Chunk | None


def is_remote(part: object) -> bool:
    """True where a judge or an embedder sends texts out of this process, or does not say.

    Each says so itself by an attribute `is_remote`.
    """
    return getattr(part, "is_remote", True) is not False


class Judge(Protocol):
    """Decomposes an answer, then judges its claims chunk by chunk and as a whole.

    Each method answers for all its claims in one call, in their order. A judge that cannot
    decide a claim returns `Label.UNDECIDED` with a reason; it raises `JudgeError` only where the
    whole call failed, and the pipeline then reports the claims of that call as undecided. One that
    sends texts nowhere says so by an attribute `is_remote` of False.
    """

    @property
    def id(self) -> str:
        """Name and version, such as `rules/5`: it identifies the verdicts it gives."""

    def decompose(self, sentences: Sequence[Sentence]) -> Sequence[DraftClaim]:
        """The claims of an answer's sentences, in the answer's order; it never sees the context."""

    def assess(
        self, claims: Sequence[DraftClaim], chunk: Chunk, *, question: str
    ) -> Sequence[Judgement]:
        """Local verification: each claim against one chunk."""

    def resolve(
        self,
        claims: Sequence[DraftClaim],
        context: Sequence[Sentence],
        *,
        hint: Hint | None,
        question: str,
    ) -> Sequence[Judgement]:
        """Global verification: each claim against the whole context; `hint` says where to look."""


@runtime_checkable
class ModelJudge(Judge, Protocol):
    """A judge that runs a model in this process: it reads meaning, and it computes long.

    It is asked about claims that share no word with the passages, too, and in asynchronous
    verification it is called in another thread.
    """

    @property
    def longest_input(self) -> int:
        """The tokens of premise and claim that the model takes at once."""


@dataclass(frozen=True, slots=True)
class Decompose:
    """Asks for the claims of an answer's sentences."""

    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class Assess:
    """Asks for local verification: claims against one chunk."""

    claims: tuple[DraftClaim, ...]
    chunk: Chunk
    question: str


@dataclass(frozen=True, slots=True)
class Resolve:
    """Asks for global verification: claims against the whole context.

    `bare` claims were labelled before, without the evidence that their label needs.
    """

    claims: tuple[DraftClaim, ...]
    context: tuple[Sentence, ...]
    hint: Hint | None
    question: str
    bare: bool = False


@dataclass(frozen=True, slots=True)
class Select:
    """Asks, for each claim, which sentences bear on it: evidence selection for long contexts."""

    claims: tuple[DraftClaim, ...]
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class Audit:
    """Asks for everything at once: claims of the answer, each with its judgement."""

    sentences: tuple[Sentence, ...]
    context: tuple[Sentence, ...]
    question: str


@dataclass(frozen=True, slots=True)
class Embed:
    """Asks an embedder for one vector a text."""

    texts: tuple[str, ...]


Question = Decompose | Assess | Resolve | Select | Audit | Embed
# One item a claim, a sentence's claim or a text, as the question asks.
Reply = (
    Sequence[DraftClaim]
    | Sequence[Judgement]
    | Sequence[tuple[int, ...]]
    | Sequence[tuple[DraftClaim, Judgement]]
    | Sequence[Sequence[float]]
)


@runtime_checkable
class Embedder(Protocol):
    """Texts to vectors whose cosine says how alike they are; JudgeError where it fails.

    In asynchronous verification it is called in another thread, for it may wait or compute long.
    """

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector a text, all of the same length, in the texts' order."""


@runtime_checkable
class MeteredEmbedder(Embedder, Protocol):
    """An embedder whose texts cost something."""

    def embed_metered(self, texts: Sequence[str], meter: Meter) -> Sequence[Sequence[float]]:
        """The same; it spends from the meter only what its budget allows."""


@runtime_checkable
class BatchJudge(Protocol):
    """A judge that takes several questions at once, because it waits for an endpoint.

    `answers` gives for each question its reply or the error that stands for it, never raises
    JudgeError, and spends from the meter only what its budget allows.
    """

    @property
    def id(self) -> str:
        """Name, model and prompt version."""

    @property
    def input_limit(self) -> int:
        """The tokens of context that one call may hold."""

    @property
    def one_call(self) -> bool:
        """True for a judge that is asked `Audit` instead of the steps."""

    def answers(self, questions: Sequence[Question], meter: Meter) -> Sequence[Reply | Exception]:
        """Blocks until all are answered; calls run side by side, as many as the judge allows."""

    async def answers_async(
        self, questions: Sequence[Question], meter: Meter
    ) -> Sequence[Reply | Exception]:
        """The same, awaited."""
