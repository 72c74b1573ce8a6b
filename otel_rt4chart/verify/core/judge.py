"""The protocols that judges and embedders implement, and the questions the pipeline asks them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from otel_rt4chart.verify.core.meter import Meter
from otel_rt4chart.verify.core.model import Chunk, DraftClaim, Judgement, Label, Sentence


class Hint(NamedTuple):
    """The result of local verification, for the global step to look at first (3.5, Table 2).

    A claim that no chunk decided has a label without a chunk. Without local verification there is
    no hint at all.
    """

    label: Label
    chunk: Chunk | None


def is_remote(part: object) -> bool:
    """True unless the judge or embedder has an attribute `is_remote` that is False.

    Whatever does not declare that it keeps texts in this process counts as sending them out.
    """
    # The safe default: a judge of the user's own may send texts anywhere.
    return getattr(part, "is_remote", True) is not False


def reads_question(judge: object) -> bool:
    """True unless the judge has an attribute `reads_question` that is False."""
    return getattr(judge, "reads_question", True) is not False


class Judge(Protocol):
    """Decomposes an answer, then judges its claims on single chunks and on the whole context.

    Each method returns one result for each of its claims, in their order. A judge that cannot
    decide a claim returns `Label.UNDECIDED` with a reason. It raises `JudgeError` only where the
    whole call failed; the pipeline then reports the claims of that call as undecided. A judge that
    keeps texts in this process declares it by an attribute `is_remote` of False, one that never
    reads the question by `reads_question` of False.
    """

    @property
    def id(self) -> str:
        """Name and version, such as `rules/7`; it changes when verdicts could change."""

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
    """A judge that runs a model in this process.

    It is also asked about claims that share no word with the passages. Asynchronous verification
    calls it in another thread, for it computes long.
    """

    @property
    def longest_input(self) -> int:
        """The most tokens of premise and claim together that the model reads."""


@runtime_checkable
class ScanningJudge(Judge, Protocol):
    """A judge that brings what finds contradictions in single sentences."""

    @property
    def scanner(self) -> Judge:
        """Judges claims by single sentences: contradicted, or nothing to say."""

    @property
    def encoder(self) -> Embedder | None:
        """An embedder in this process, if it has one."""


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

    `bare` marks a second request, for claims whose first label came without evidence.
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
    """Asks for claims and judgements of the whole answer in one call.

    `answer` is the text that the sentences are from, where the asker has it.
    """

    sentences: tuple[Sentence, ...]
    context: tuple[Sentence, ...]
    question: str
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Embed:
    """Asks an embedder for one vector for each text."""

    texts: tuple[str, ...]


Question = Decompose | Assess | Resolve | Select | Audit | Embed
# One item for each claim or text of the question; for Decompose and Audit one for each new claim.
Reply = (
    Sequence[DraftClaim]
    | Sequence[Judgement]
    | Sequence[tuple[int, ...]]
    | Sequence[tuple[DraftClaim, Judgement]]
    | Sequence[Sequence[float]]
)


class AuditReply(list[tuple[DraftClaim, Judgement]]):
    """The reply to `Audit`; `basis` is the judge's own sentence on what decided, if any."""

    basis: str = ""


@runtime_checkable
class Embedder(Protocol):
    """Maps texts to vectors; their cosine measures similarity. JudgeError where it fails.

    Asynchronous verification calls it in another thread, for it may wait or compute long.
    """

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector for each text, all of the same length, in the order of the texts."""


@runtime_checkable
class MeteredEmbedder(Embedder, Protocol):
    """An embedder whose calls cost money or tokens."""

    def embed_metered(self, texts: Sequence[str], meter: Meter) -> Sequence[Sequence[float]]:
        """The same within the meter's budget."""


@runtime_checkable
class BatchJudge(Protocol):
    """A judge that answers several questions at once, because it waits for an endpoint.

    `answers` returns a reply or an error for each question. It never raises JudgeError and stays
    within the meter's budget.
    """

    @property
    def id(self) -> str:
        """Name, model and prompt version."""

    @property
    def input_limit(self) -> int:
        """The most tokens of context in one call."""

    @property
    def one_call(self) -> bool:
        """True for a judge that is asked `Audit` instead of the single steps."""

    def answers(self, questions: Sequence[Question], meter: Meter) -> Sequence[Reply | Exception]:
        """Block until all questions are answered; calls run concurrently where the judge allows."""

    async def answers_async(
        self, questions: Sequence[Question], meter: Meter
    ) -> Sequence[Reply | Exception]:
        """The same, awaited."""
