"""The criteria that a model at an endpoint decides, several in one call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from otel_rt4chart.core.errors import JudgeError
from otel_rt4chart.core.text import one_line
from otel_rt4chart.verify.core.meter import TOO_LARGE, Meter
from otel_rt4chart.verify.core.model import Exchange, Sentence
from otel_rt4chart.verify.core.steps import run_steps
from otel_rt4chart.verify.criteria.model import CriterionOutcome, JudgedCheck
from otel_rt4chart.verify.link.chunks import tokens_of
from otel_rt4chart.verify.llm.cache import Cache, MemoryCache, ScopedCache
from otel_rt4chart.verify.llm.conversation import (
    INPUT_LIMIT,
    Completion,
    Dialogue,
    ParsedReply,
    PromptSender,
    ask_units,
    charge_completion,
    checked_limit,
    run_in_rounds,
)
from otel_rt4chart.verify.llm.prices import PRICES, Price
from otel_rt4chart.verify.llm.prompt import Prompt, passages_text, quoted, quoted_lines, version
from otel_rt4chart.verify.llm.replies import (
    CRITERION_VERDICTS,
    SEED,
    build_prompt,
    listed,
    normalized_phrase,
    number_of,
)
from otel_rt4chart.verify.llm.votes import checked_votes
from otel_rt4chart.verify.text.segment import segment_passages

CRITERIA_A_CALL = 10
_REASON, _QUOTE = 400, 400
_WORDS = {
    "pass": CriterionOutcome.PASS,
    "fail": CriterionOutcome.FAIL,
    "unsure": CriterionOutcome.UNDECIDED,
}
UNSURE = "the model is not sure"


class JudgedCriterion(NamedTuple):
    """What a model says of one criterion; `quote` are words that stand in the material."""

    outcome: CriterionOutcome
    reason: str
    quote: str = ""


@dataclass(frozen=True, slots=True)
class CriteriaTask:
    """Asks for the verdict of each criterion; `vote` distinguishes repeated judgements."""

    judge: str
    checks: tuple[JudgedCheck, ...]
    question: str
    answer: str
    sentences: tuple[Sentence, ...] = ()
    vote: int = 0

    @property
    def units(self) -> int:
        """The number of criteria."""
        return len(self.checks)

    def prompt(self, units: Sequence[int]) -> Prompt:
        """Passages first, criteria last: calls on the same passages share a prefix to cache."""
        ordered = list(reversed(units)) if self.vote % 2 else units
        asked = "\n".join(map(self._line, ordered))
        material = passages_text(self.sentences, self.question) if self.sentences else ""
        if not material and self.question:
            material = f"Question: {quoted(self.question)}\n\n"
        user = f"{material}Answer:\n{quoted_lines(self.answer)}\n\nCriteria:\n{asked}"
        tokens = 160 * len(units)
        return build_prompt("criteria", user, CRITERION_VERDICTS, tokens, SEED + self.vote)

    def _line(self, unit: int) -> str:
        check = self.checks[unit]
        when = f" It applies only when: {quoted(check.applies_when)}" if check.applies_when else ""
        return f"{unit + 1}. {quoted(check.instruction)}{when}"

    def read(self, text: str, units: Sequence[int], *, is_cut: bool = False) -> ParsedReply:
        """One value for each criterion, by its number, or by position where none has a number."""
        items = listed(text, "verdicts", is_cut=is_cut).items
        numbers = [number_of(item.get("criterion")) for item in items]
        if not any(numbers) and len(items) == len(units):
            numbers = [unit + 1 for unit in units]
        found: dict[int, Any] = {}
        problems: list[str] = []
        for number, item in zip(numbers, items, strict=True):
            unit = -1 if number is None else number - 1
            if unit not in units:
                continue
            value = self._value(item, self.checks[unit])
            if isinstance(value, str):
                problems.append(f"criterion {number}: {value}")
            elif found.setdefault(unit, value)["outcome"] != value["outcome"]:
                problems.append(f"criterion {number} has two verdicts")
                found[unit] = {"outcome": None}
        found = {unit: value for unit, value in found.items() if value["outcome"] is not None}
        lacking = [str(unit + 1) for unit in units if unit not in found]
        if lacking:
            problems.append(f"verdicts are missing for the criteria {', '.join(lacking)}")
        return ParsedReply(found, tuple(problems))

    def keeps(self, value: object) -> bool:
        """True: every verdict that `read` accepts may be cached."""
        return True

    def _value(self, item: Mapping[str, Any], check: JudgedCheck) -> dict[str, str] | str:
        """A verdict in the form in which it is cached; a problem with it as a str."""
        word = item.get("verdict")
        outcome = _WORDS.get(word.strip().lower()) if isinstance(word, str) else None
        # A criterion without a condition always applies, whatever the model says.
        if check.applies_when and item.get("applies") is False:
            outcome = CriterionOutcome.NOT_APPLICABLE
        if outcome is None:
            shown = quoted(word[:40]) if isinstance(word, str) else "that is no text"
            return f"the verdict {shown} is none of pass, fail and unsure"
        reason, quote = item.get("reason"), item.get("quote")
        return {
            "outcome": outcome.value,
            "reason": one_line(reason, _REASON) if isinstance(reason, str) else "",
            "quote": self._known_quote(quote) if isinstance(quote, str) else "",
        }

    def _known_quote(self, quote: str) -> str:
        """The words that a model copied, if they stand in the material; else nothing."""
        words = normalized_phrase(quote)
        texts = (self.answer, self.question, *(one.reading for one in self.sentences))
        is_known = bool(words) and any(words in normalized_phrase(text) for text in texts)
        return one_line(quote, _QUOTE) if is_known else ""


class CriteriaModel:
    """Asks a model at an endpoint; with `votes`, each criterion twice, and more where they differ.

    The same endpoint as the judge's, so that both share its limits.
    """

    def __init__(
        self,
        endpoint: PromptSender,
        *,
        votes: int = 1,
        cache: Cache | None = None,
        prices: Mapping[str, Price] = PRICES,
        input_limit: int = INPUT_LIMIT,
    ) -> None:
        """`votes` is 1 or an odd number; `input_limit` is the most tokens of passages in a call."""
        self._endpoint = endpoint
        self._votes = checked_votes(votes)
        self._cache = ScopedCache(MemoryCache() if cache is None else cache, endpoint.address)
        self._price = prices.get(endpoint.model)
        self._input_limit = checked_limit(input_limit)

    @property
    def id(self) -> str:
        """Model, version of the prompt and votes: what verdicts depend on."""
        votes = f"-votes{self._votes}" if self._votes > 1 else ""
        return f"criteria/{self._endpoint.model}/{version('criteria')}{votes}"

    def judge(
        self, checks: Sequence[JudgedCheck], exchange: Exchange, meter: Meter
    ) -> list[JudgedCriterion]:
        """One judgement for each criterion, in order; what failed is undecided. Blocks."""
        if (problem := meter.budget.size_problem(exchange)) is not None:
            return [JudgedCriterion(CriterionOutcome.UNDECIDED, problem)] * len(checks)
        found: dict[int, JudgedCriterion] = {}
        dialogues: list[tuple[list[int], Dialogue[list[JudgedCriterion]]]] = []
        for reads in (True, False):
            numbers = [n for n, one in enumerate(checks) if one.reads_passages is reads]
            sentences = segment_passages(exchange.passages) if reads and numbers else ()
            if (problem := self._size_problem(sentences, meter)) is not None:
                undecided = JudgedCriterion(CriterionOutcome.UNDECIDED, problem)
                found |= dict.fromkeys(numbers, undecided)
                continue
            for at in range(0, len(numbers), CRITERIA_A_CALL):
                some = numbers[at : at + CRITERIA_A_CALL]
                asked = tuple(checks[n] for n in some)
                task = CriteriaTask(self.id, asked, exchange.question, exchange.answer, sentences)
                dialogues.append((some, self._ask(task, meter)))
        steps = run_in_rounds([one for _, one in dialogues], meter, self._charge)
        results = run_steps(steps, self._endpoint.send)
        for (some, _), result in zip(dialogues, results, strict=True):
            found |= zip(some, result, strict=True)
        return [found[n] for n in range(len(checks))]

    def _charge(self, meter: Meter, completion: Completion) -> None:
        charge_completion(meter, completion, self._price)

    def _size_problem(self, sentences: tuple[Sentence, ...], meter: Meter) -> str | None:
        """Passages are never cut: a criterion may be about what would be left out."""
        tokens = tokens_of(sentences)
        if tokens > self._input_limit:
            return (
                f"{TOO_LARGE}: about {tokens:,} tokens in the passages, expected at most "
                f"{self._input_limit:,}"
            )
        return meter.budget.sentence_problem(sentences)

    def _ask(self, task: CriteriaTask, meter: Meter) -> Dialogue[list[JudgedCriterion]]:
        """One judgement for each criterion of the task, by majority where there are votes."""
        ballots: list[list[JudgedCriterion]] = [[] for _ in task.checks]
        for vote in range(self._votes):
            open_ = [n for n, cast in enumerate(ballots) if vote < 2 or _differ(cast)]
            if not open_:
                break
            checks = tuple(task.checks[n] for n in open_)
            again = CriteriaTask(
                task.judge, checks, task.question, task.answer, task.sentences, vote
            )
            values = yield from ask_units(again, meter, self._cache)
            for n, value in zip(open_, values, strict=True):
                ballots[n].append(_judged(value))
        return [_elected(cast) for cast in ballots]


def _judged(value: object) -> JudgedCriterion:
    if isinstance(value, JudgeError) or not isinstance(value, dict):
        return JudgedCriterion(CriterionOutcome.UNDECIDED, one_line(str(value), _REASON))
    outcome, reason = CriterionOutcome(value["outcome"]), value["reason"]
    if outcome is CriterionOutcome.UNDECIDED:
        reason = f"{UNSURE}: {reason}" if reason else UNSURE
    return JudgedCriterion(outcome, reason, value["quote"])


def _differ(cast: Sequence[JudgedCriterion]) -> bool:
    return len({one.outcome for one in cast}) > 1


def _elected(cast: Sequence[JudgedCriterion]) -> JudgedCriterion:
    """The first judgement with the majority's outcome; undecided votes do not count."""
    known = [one for one in cast if one.outcome is not CriterionOutcome.UNDECIDED]
    if not known:
        return cast[0]
    ((outcome, count),) = Counter(one.outcome for one in known).most_common(1)
    if 2 * count <= len(known):
        outcomes = ", ".join(one.outcome for one in known)
        return JudgedCriterion(CriterionOutcome.UNDECIDED, f"votes without a majority: {outcomes}")
    return next(one for one in known if one.outcome is outcome)
