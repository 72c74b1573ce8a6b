"""The one-call judge: it gets the claims of an answer and their labels in a single request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.core.judge import Assess, Audit, AuditReply, Question, Reply
from otel_rt4chart.verify.core.meter import Meter
from otel_rt4chart.verify.core.model import DraftClaim, Judgement, Label, Sentence
from otel_rt4chart.verify.decompose.grounding import claim_from_sentence
from otel_rt4chart.verify.llm.cache import Cache
from otel_rt4chart.verify.llm.card import decision_basis, entries_from_card, is_card
from otel_rt4chart.verify.llm.conversation import (
    Dialogue,
    EndpointJudge,
    ParsedReply,
    PromptSender,
    RoundSteps,
    answer_all,
    ask_units,
    batches,
)
from otel_rt4chart.verify.llm.label_task import CLAIMS_A_CALL, LabelTask
from otel_rt4chart.verify.llm.prices import PRICES, Price
from otel_rt4chart.verify.llm.prompt import (
    LabelSet,
    Prompt,
    labels_mark,
    passages_text,
    quoted,
    version,
)
from otel_rt4chart.verify.llm.replies import (
    AUDIT,
    CARD,
    build_prompt,
    entry_from,
    judgement_from,
    verdict_from,
)
from otel_rt4chart.verify.llm.split_task import SplitTask, drafts_from, split_tasks
from otel_rt4chart.verify.llm.votes import ask_votes, checked_votes

Form = Literal["sentences", "card"]


@dataclass(frozen=True, slots=True)
class AuditTask:
    """Asks for the claims of each sentence with their labels, in our form or in the card's.

    A reply in the card's form is accepted whatever was asked for.
    """

    split: SplitTask
    context: tuple[Sentence, ...]
    question: str
    form: Form = "sentences"
    labels: LabelSet = "three"

    @property
    def judge(self) -> str:
        """The judge of the split."""
        return self.split.judge

    @property
    def units(self) -> int:
        """The number of sentences of the answer."""
        return self.split.units

    def prompt(self, units: Sequence[int]) -> Prompt:
        """Passages first, the answer last."""
        asked = f"{self.split.listing()}Audit these: {self.split.numbers(units)}"
        user = passages_text(self.context, self.question) + asked
        name, schema = ("card", CARD) if self.form == "card" else ("single", AUDIT)
        tokens = 5 * self.split.size(units) + 160 * len(units)
        return build_prompt(name, user, schema, tokens, labels=self.labels)

    def read(self, text: str, units: Sequence[int], *, is_cut: bool = False) -> ParsedReply:
        """The entries of each sentence that pass the guards; labels without evidence are bare."""

        def adapt(items: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
            if not is_card(items):
                return items
            return entries_from_card(items, units, self.split, self.context, self.question)

        readings = self.split.readings(text, units, self._entry, is_cut=is_cut, adapt=adapt)
        if basis := decision_basis(text):
            for value in readings.found.values():
                value[0]["basis"] = basis
        bare = {unit: value for unit, value in readings.found.items() if any(map(_is_bare, value))}
        return ParsedReply(
            {unit: value for unit, value in readings.found.items() if unit not in bare},
            (
                *readings.problems,
                *(
                    f"the claim {quoted(item['claim'])}: name the sentences, or answer baseless"
                    for value in bare.values()
                    for item in filter(_is_bare, value)
                ),
            ),
            bare,
        )

    def keeps(self, value: object) -> bool:
        """True: every sentence that `read` accepts may be cached."""
        return True

    def _entry(self, item: Mapping[str, Any], claim: str) -> dict[str, Any] | str:
        entry = entry_from(item, claim)
        if not entry["is_claim"]:
            return entry
        verdict = verdict_from(item, len(self.context), self.labels)
        return (
            f"the claim {quoted(claim)}: {verdict}" if isinstance(verdict, str) else entry | verdict
        )


def _is_bare(entry: Mapping[str, Any]) -> bool:
    return entry["is_claim"] and entry["label"] != Label.BASELESS and not entry["sentences"]


SENTENCES_A_CALL = 12
# Above it a judge that reads all passages at once gets careless (the prompt card's tuning notes).
PART_LIMIT = 10_000


class SingleJudge(EndpointJudge):
    """The cheapest way to use a model: one call for an answer of ordinary length.

    After the single-prompt grounding check: the model sees the passages while it splits the answer,
    it reads no chunk alone, and no verdict is confirmed, but by further `votes` on the same claims.
    Passages of more than `PART_LIMIT` tokens are read in parts. With the `form` "card" the model
    replies as the card says: a copied phrase for each supported claim, and what decided.
    """

    one_call = True

    def __init__(
        self,
        endpoint: PromptSender,
        *,
        votes: int = 1,
        form: Form = "sentences",
        labels: LabelSet = "three",
        cache: Cache | None = None,
        prices: Mapping[str, Price] = PRICES,
        input_limit: int = PART_LIMIT,
    ) -> None:
        """`votes` is 1 or an odd number; `input_limit` is the most context tokens in one call."""
        limit = min(input_limit, PART_LIMIT)
        super().__init__(endpoint, cache=cache, prices=prices, input_limit=limit)
        self._votes = checked_votes(votes)
        self._form = form
        self._labels = labels

    @property
    def id(self) -> str:
        """Model and versions of the prompts: what verdicts depend on."""
        prompts = f"{version('single')}.{version('labels')}"
        if self._form == "card":
            prompts = f"card{version('card')}.{version('card_labels')}"
        votes = f"-votes{self._votes}" if self._votes > 1 else ""
        return f"single/{self._endpoint.model}/{prompts}{votes}{labels_mark(self._labels)}"

    def _conversation(self, questions: Sequence[Question], meter: Meter) -> RoundSteps:
        dialogues = [self._dialogues(question, meter) for question in questions]
        return answer_all(questions, dialogues, self._reply, meter, self._price)

    def _dialogues(self, question: Question, meter: Meter) -> list[Dialogue[list[Any]]]:
        match question:
            case Audit():
                sentences = question.sentences
                splits = split_tasks(self.id, sentences, sentences, SENTENCES_A_CALL)
                return [self._audit(split, question, meter) for split in splits]
            case Assess():
                return [
                    self._relabel(claims, question.chunk.sentences, question.question, meter)
                    for claims in batches(question.claims, CLAIMS_A_CALL)
                ]
        raise TypeError(f"{self.id} cannot be asked {type(question).__name__}")

    def _audit(self, split: SplitTask, asked: Audit, meter: Meter) -> Dialogue[list[Any]]:
        """The claims of some sentences with their judgements, confirmed by further votes."""
        task = AuditTask(split, asked.context, asked.question, self._form, self._labels)
        values = yield from ask_units(task, meter, self._cache)
        found = AuditReply(
            pair
            for sentence, value in zip(split.sentences, values, strict=True)
            for pair in _pairs(value, sentence, asked.context)
        )
        found.basis = next(filter(None, map(_basis, values)), "")
        decided = [n for n, (_, judgement) in enumerate(found) if judgement.label.is_decided]
        for some in batches(decided if self._votes > 1 else (), CLAIMS_A_CALL):
            claims = tuple(found[n][0] for n in some)
            first = [found[n][1] for n in some]
            elected = yield from self._relabel(claims, asked.context, asked.question, meter, first)
            for n, judgement in zip(some, elected, strict=True):
                found[n] = (found[n][0], judgement)
        return [found]

    def _relabel(
        self,
        claims: tuple[DraftClaim, ...],
        context: tuple[Sentence, ...],
        question: str,
        meter: Meter,
        first: Sequence[Judgement] = (),
    ) -> Dialogue[list[Judgement]]:
        """Judgements of given claims on some passages; `first` are those of the audit."""
        stage = "resolve" if first else "assess"

        def make_task(numbers: Sequence[int], vote: int) -> LabelTask:
            some = tuple(claims[n] for n in numbers)
            return LabelTask(
                self.id, stage, some, context, question, vote=vote, labels=self._labels
            )

        return ask_votes(claims, self._votes, make_task, meter, self._cache, first)

    def _reply(self, question: Question, values: list[Any]) -> Reply | Exception:
        if not isinstance(question, Audit):
            return values
        joined = AuditReply(pair for found in values for pair in found)
        joined.basis = next(filter(None, (found.basis for found in values)), "")
        return joined


def _basis(value: object) -> str:
    entries = value if isinstance(value, list) else []
    return next((str(entry["basis"]) for entry in entries if entry.get("basis")), "")


def _pairs(
    value: object, sentence: Sentence, context: Sequence[Sentence]
) -> list[tuple[DraftClaim, Judgement]]:
    """A sentence's claims with their judgements; undecided where the audit failed."""
    if not isinstance(value, list):
        reason = str(value) if isinstance(value, JudgeError) else "no verdict"
        undecided = Judgement(Label.UNDECIDED, reason=reason)
        return [(draft, undecided) for draft in claim_from_sentence(sentence)]
    drafts = drafts_from(value, sentence)
    return [
        (draft, judgement_from(entry, draft, context))
        for draft, entry in zip(drafts, value, strict=True)
    ]
