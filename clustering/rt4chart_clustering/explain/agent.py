"""The agent: a model asks for what it wants to see, until it submits a finding that holds.

It is a `Dialogue` of `otel_rt4chart.verify.llm.conversation`, and sends nothing itself. The
tools are asked for in the reply's JSON and not by the protocol's own tool calls: so every endpoint
that can judge can explain, also those that know no tools.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Protocol

from otel_rt4chart.core.errors import InputError, JudgeError
from otel_rt4chart.core.text import encodable
from otel_rt4chart.verify.llm.conversation import Completion, Dialogue
from otel_rt4chart.verify.llm.prompt import ChatMessage, Prompt
from rt4chart_clustering.explain.calls import SCHEMA, SUBMIT, TOOLS, Call, call_from, listing
from rt4chart_clustering.explain.finding import Finding, Quote, finding_from

TURNS = 30
# Characters of one result; what is longer is cut, and says so.
RESULT = 6_000
_OUTPUT_TOKENS = 1_500


class Tools(Protocol):
    """What the agent may read. Nothing of it writes."""

    def read(self, call: Call) -> object:
        """The result as JSON values; InputError where the call is not right."""

    def texts_of(self, quote: Quote) -> list[str]:
        """The texts that the place of a quote holds; empty where there is no such place."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How it ended: a finding, or in words why there is none; `turns` were taken."""

    finding: Finding | None
    why: str
    turns: int


def agent(tools: Tools, *, turns: int = TURNS) -> Dialogue[Ended]:
    """Ask, read, answer, until a finding holds, the turns are over or nothing more may be spent."""
    prompt = opening()
    asked: dict[str, int] = {}
    for turn in range(1, turns + 1):
        try:
            completion = yield prompt
        except JudgeError as error:
            return Ended(None, str(error), turn - 1)
        if completion.refusal:
            return Ended(None, f"the model refused: {completion.refusal[:200]}", turn)
        told = _told(tools, completion, asked, turn)
        if isinstance(told, Finding):
            return Ended(told, "", turn)
        prompt = prompt.again(completion.text, f"{told}\n\n{_left(turns - turn)}")
    return Ended(None, f"no finding that holds in {turns} turns", turns)


def opening() -> Prompt:
    """The first call: instructions, and the request to begin."""
    start = ChatMessage("user", "Begin: find the cause of the issue that get_issue shows.")
    messages = (ChatMessage("system", instructions()), start)
    return Prompt(messages, "rt4chart_explain", SCHEMA, _OUTPUT_TOKENS, 0)


@cache
def instructions() -> str:
    """The text of `prompt.md` with the tools."""
    text = files(__package__).joinpath("prompt.md").read_text("utf-8")
    return text.partition("\n")[2].strip().replace("{tools}", listing())


def problems_with(finding: Finding, tools: Tools) -> list[str]:
    """One sentence for each quote that is not where it says that it is."""
    return [
        f"quote {number} does not stand there word for word: {quote.text[:80]!r}"
        for number, quote in enumerate(finding.quotes, start=1)
        if not any(_flat(quote.text) in _flat(text) for text in tools.texts_of(quote))
    ]


def _told(tools: Tools, completion: Completion, asked: dict[str, int], turn: int) -> Finding | str:
    """What the model is answered, or the finding that it submitted."""
    if completion.is_cut:
        return "That reply was cut at its limit. Answer again, shorter."
    try:
        call = call_from(completion.text)
        if call.tool == SUBMIT:
            return _submitted(tools, call)
        if call.tool not in TOOLS:
            raise InputError(f"there is no tool {call.tool[:60]!r}; there are {', '.join(TOOLS)}")
        wanted = json.dumps([call.tool, call.arguments], sort_keys=True)
        if known := asked.get(wanted):
            return f"You asked that in turn {known}, and the result is the same. Go on, or submit."
        result = shown(tools.read(call))
        asked[wanted] = turn
        return result
    except InputError as error:
        return f"That was not carried out: {error}"


def _submitted(tools: Tools, call: Call) -> Finding | str:
    finding = finding_from(call.arguments)
    problems = problems_with(finding, tools)
    return "The finding is refused: " + "; ".join(problems) if problems else finding


def shown(result: object) -> str:
    """A result between its marks, which nothing in it can close: its own < are escaped."""
    text = encodable(json.dumps(result, ensure_ascii=False)).replace("<", "\\u003c")
    cut = f"\n(cut: {len(text) - RESULT} more characters)" if len(text) > RESULT else ""
    return f"<result>\n{text[:RESULT]}{cut}\n</result>"


def _left(turns: int) -> str:
    if turns <= 3:
        return f"{turns} turn{'s' * (turns != 1)} left: submit the finding now."
    return f"{turns} turns left."


def _flat(text: str) -> str:
    return " ".join(text.split())
