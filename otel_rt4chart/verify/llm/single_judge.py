"""The one-call judge: the claims of an answer and their labels in a single request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.core.drive import drive, drive_async
from otel_rt4chart.verify.core.judge import Audit, Question, Reply, Select
from otel_rt4chart.verify.core.meter import Meter
from otel_rt4chart.verify.core.model import DraftClaim, Judgement, Label, Sentence
from otel_rt4chart.verify.decompose.drafts import whole_claim
from otel_rt4chart.verify.llm.ask import Readings, Talk, ask_units
from otel_rt4chart.verify.llm.cache import Cache, MemoryCache, ScopedCache, key_of
from otel_rt4chart.verify.llm.conversation import (
    INPUT_LIMIT,
    Conversation,
    Sender,
    answer_all,
    checked_limit,
    picked,
    picking,
)
from otel_rt4chart.verify.llm.judgements import judgement_from
from otel_rt4chart.verify.llm.prices import PRICES, Price
from otel_rt4chart.verify.llm.prompt import Prompt, instructions, quoted, shown, version
from otel_rt4chart.verify.llm.replies import AUDIT, build_prompt, entry_from, verdict_from
from otel_rt4chart.verify.llm.splitting import Splitting, drafts_from, splits


@dataclass(frozen=True, slots=True)
class Auditing:
    """The claims of each sentence with their labels: a split whose entries are verdicts too."""

    split: Splitting
    context: tuple[Sentence, ...]
    question: str

    @property
    def units(self) -> int:
        """One a sentence of the answer."""
        return self.split.units

    def key(self, unit: int) -> str:
        """By the sentence, those that its pronouns may mean, and the passages."""
        return key_of(
            self.split.judge,
            instructions("single"),
            shown(self.context, self.question),
            *self.split.told(unit),
        )

    def prompt(self, units: Sequence[int]) -> Prompt:
        """Passages first, the answer last."""
        asked = f"{self.split.listing()}Audit these: {self.split.numbers(units)}"
        user = shown(self.context, self.question) + asked
        return build_prompt("single", user, AUDIT, 5 * self.split.size(units) + 160 * len(units))

    def read(self, text: str, units: Sequence[int], *, is_cut: bool = False) -> Readings:
        """The entries of each sentence that pass the guards; bare labels are asked once more."""
        readings = self.split.readings(text, units, self._entry, is_cut=is_cut)
        bare = {unit: value for unit, value in readings.found.items() if any(map(_is_bare, value))}
        return Readings(
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
        """Every audited sentence whose labels have their evidence."""
        return True

    def _entry(self, item: Mapping[str, Any], claim: str) -> dict[str, Any] | str:
        entry = entry_from(item, claim)
        if not entry["is_claim"]:
            return entry
        verdict = verdict_from(item, len(self.context))
        return (
            f"the claim {quoted(claim)}: {verdict}" if isinstance(verdict, str) else entry | verdict
        )


def _is_bare(entry: Mapping[str, Any]) -> bool:
    return entry["is_claim"] and entry["label"] != Label.BASELESS and not entry["sentences"]


SENTENCES_A_CALL = 12


class SingleJudge:
    """The cheapest way to ask a model: one call for an answer of ordinary length.

    After the single-prompt grounding check: the model sees the passages while it splits, no chunk
    is read alone, and nothing is confirmed.
    """

    one_call = True
    is_remote = True

    def __init__(
        self,
        endpoint: Sender,
        *,
        cache: Cache | None = None,
        prices: Mapping[str, Price] = PRICES,
        input_limit: int = INPUT_LIMIT,
    ) -> None:
        """`input_limit` are tokens of context in one call."""
        self._endpoint = endpoint
        kept = MemoryCache() if cache is None else cache
        self._cache = ScopedCache(kept, endpoint.address)
        self._price = prices.get(endpoint.model)
        self._input_limit = checked_limit(input_limit)

    @property
    def id(self) -> str:
        """Model and prompts' versions: another one gives other verdicts."""
        return f"single/{self._endpoint.model}/{version('single')}.{version('labels')}"

    @property
    def input_limit(self) -> int:
        """The tokens of context that one call may hold."""
        return self._input_limit

    def answers(self, questions: Sequence[Question], meter: Meter) -> list[Reply | Exception]:
        """Blocks until all are answered."""
        return drive(self._conversation(questions, meter), self._endpoint.send)

    async def answers_async(
        self, questions: Sequence[Question], meter: Meter
    ) -> list[Reply | Exception]:
        """The same, awaited."""
        return await drive_async(self._conversation(questions, meter), self._endpoint.send_async)

    def _conversation(self, questions: Sequence[Question], meter: Meter) -> Conversation:
        talks = [self._talks(question, meter) for question in questions]
        return answer_all(questions, talks, self._reply, meter, self._price)

    def _talks(self, question: Question, meter: Meter) -> list[Talk[list[Any]]]:
        match question:
            case Audit():
                told = question.sentences
                return [
                    ask_units(
                        Auditing(split, question.context, question.question), meter, self._cache
                    )
                    for split in splits(self.id, told, told, SENTENCES_A_CALL)
                ]
            case Select():
                return picking(question, self.id, meter, self._cache)
        raise TypeError(f"{self.id} cannot be asked {type(question).__name__}")

    def _reply(self, question: Question, told: list[Any]) -> Reply | Exception:
        match question:
            case Audit():
                return [
                    pair
                    for sentence, value in zip(question.sentences, told, strict=True)
                    for pair in _pairs(value, sentence, question.context)
                ]
            case Select():
                return picked(question, told)
        return TypeError(f"{self.id} cannot be asked {type(question).__name__}")


def _pairs(
    value: object, sentence: Sentence, context: Sequence[Sentence]
) -> list[tuple[DraftClaim, Judgement]]:
    """A sentence's claims with their judgements; one that could not be audited is undecided."""
    if not isinstance(value, list):
        reason = str(value) if isinstance(value, JudgeError) else "no verdict"
        undecided = Judgement(Label.UNDECIDED, reason=reason)
        return [(draft, undecided) for draft in whole_claim(sentence)]
    drafts = drafts_from(value, sentence)
    return [
        (draft, judgement_from(entry, draft, context))
        for draft, entry in zip(drafts, value, strict=True)
    ]
