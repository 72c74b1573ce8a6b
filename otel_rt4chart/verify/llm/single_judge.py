"""The one-call judge: it gets the claims of an answer and their labels in a single request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.verify.core.judge import Audit, Question, Reply, Select
from otel_rt4chart.verify.core.meter import Meter
from otel_rt4chart.verify.core.model import DraftClaim, Judgement, Label, Sentence
from otel_rt4chart.verify.decompose.grounding import claim_from_sentence
from otel_rt4chart.verify.llm.conversation import (
    Dialogue,
    EndpointJudge,
    ParsedReply,
    RoundSteps,
    answer_all,
    ask_units,
)
from otel_rt4chart.verify.llm.label_task import ask_selection, selection_reply
from otel_rt4chart.verify.llm.prompt import Prompt, passages_text, quoted, version
from otel_rt4chart.verify.llm.replies import (
    AUDIT,
    build_prompt,
    entry_from,
    judgement_from,
    verdict_from,
)
from otel_rt4chart.verify.llm.split_task import SplitTask, drafts_from, split_tasks


@dataclass(frozen=True, slots=True)
class AuditTask:
    """Asks for the claims of each sentence with their labels."""

    split: SplitTask
    context: tuple[Sentence, ...]
    question: str

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
        return build_prompt("single", user, AUDIT, 5 * self.split.size(units) + 160 * len(units))

    def read(self, text: str, units: Sequence[int], *, is_cut: bool = False) -> ParsedReply:
        """The entries of each sentence that pass the guards; labels without evidence are bare."""
        readings = self.split.readings(text, units, self._entry, is_cut=is_cut)
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
        verdict = verdict_from(item, len(self.context))
        return (
            f"the claim {quoted(claim)}: {verdict}" if isinstance(verdict, str) else entry | verdict
        )


def _is_bare(entry: Mapping[str, Any]) -> bool:
    return entry["is_claim"] and entry["label"] != Label.BASELESS and not entry["sentences"]


SENTENCES_A_CALL = 12


class SingleJudge(EndpointJudge):
    """The cheapest way to use a model: one call for an answer of ordinary length.

    After the single-prompt grounding check: the model sees the passages while it splits the answer,
    it reads no chunk alone, and no verdict is confirmed.
    """

    one_call = True

    @property
    def id(self) -> str:
        """Model and versions of the prompts: what verdicts depend on."""
        return f"single/{self._endpoint.model}/{version('single')}.{version('labels')}"

    def _conversation(self, questions: Sequence[Question], meter: Meter) -> RoundSteps:
        dialogues = [self._dialogues(question, meter) for question in questions]
        return answer_all(questions, dialogues, self._reply, meter, self._price)

    def _dialogues(self, question: Question, meter: Meter) -> list[Dialogue[list[Any]]]:
        match question:
            case Audit():
                sentences = question.sentences
                return [
                    ask_units(
                        AuditTask(split, question.context, question.question), meter, self._cache
                    )
                    for split in split_tasks(self.id, sentences, sentences, SENTENCES_A_CALL)
                ]
            case Select():
                return ask_selection(question, self.id, meter, self._cache)
        raise TypeError(f"{self.id} cannot be asked {type(question).__name__}")

    def _reply(self, question: Question, values: list[Any]) -> Reply | Exception:
        match question:
            case Audit():
                return [
                    pair
                    for sentence, value in zip(question.sentences, values, strict=True)
                    for pair in _pairs(value, sentence, question.context)
                ]
            case Select():
                return selection_reply(question, values)
        return TypeError(f"{self.id} cannot be asked {type(question).__name__}")


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
