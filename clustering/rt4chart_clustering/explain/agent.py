"""A language model that reads traces through tools until it submits a finding."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Protocol

from otel_rt4chart.core.errors import InputError, JudgeError
from otel_rt4chart.core.text import encodable
from otel_rt4chart.verify.core.meter import Budget, Meter
from otel_rt4chart.verify.core.model import Usage
from otel_rt4chart.verify.core.steps import run_steps
from otel_rt4chart.verify.llm.conversation import Completion, Dialogue, PromptSender, run_in_rounds
from otel_rt4chart.verify.llm.prices import Price
from otel_rt4chart.verify.llm.prompt import Prompt, PromptMessage
from rt4chart_clustering.core.defaults import MAX_TOKENS, MAX_TURNS
from rt4chart_clustering.explain.finding import CauseFinding, FindingQuote, parse_finding
from rt4chart_clustering.explain.tool_calls import (
    SCHEMA,
    SUBMIT,
    TOOLS,
    ToolCall,
    describe_tools,
    parse_call,
)

# Characters of one result; what is longer is cut, and says so.
MAX_RESULT = 6_000
_OUTPUT_TOKENS = 1_500


class AgentTools(Protocol):
    """The agent's access to the store, which is read-only."""

    def read(self, call: ToolCall) -> object:
        """The result as JSON values; InputError if the call is wrong."""

    def texts_of(self, quote: FindingQuote) -> list[str]:
        """The texts in which the quote must stand; empty if there is no such passage or span."""


@dataclass(frozen=True, slots=True)
class AgentResult:
    """The finding, or the reason why there is none, after so many turns."""

    finding: CauseFinding | None
    reason: str
    turns: int


def run_agent(tools: AgentTools, *, turns: int = MAX_TURNS) -> Dialogue[AgentResult]:
    """Answer the model's calls until a finding holds, or the turns or the budget are used up."""
    prompt = first_prompt()
    asked: dict[str, int] = {}
    for turn in range(1, turns + 1):
        try:
            completion = yield prompt
        except JudgeError as error:
            return AgentResult(None, str(error), turn - 1)
        if completion.refusal:
            return AgentResult(None, f"the model refused: {completion.refusal[:200]}", turn)
        reply = _reply_to(tools, completion, asked, turn)
        if isinstance(reply, CauseFinding):
            return AgentResult(reply, "", turn)
        prompt = prompt.again(completion.text, f"{reply}\n\n{_turns_left(turns - turn)}")
    return AgentResult(None, f"no finding that holds in {turns} turns", turns)


def first_prompt() -> Prompt:
    """The first prompt: the instructions, and the request to begin."""
    start = PromptMessage("user", "Begin: find the cause of the issue that get_issue shows.")
    messages = (PromptMessage("system", instructions()), start)
    return Prompt(messages, "rt4chart_explain", SCHEMA, _OUTPUT_TOKENS, 0)


@cache
def instructions() -> str:
    """The text of `prompt.md` with the list of tools."""
    text = files(__package__).joinpath("prompt.md").read_text("utf-8")
    return text.partition("\n")[2].strip().replace("{tools}", describe_tools())


def quote_problems(finding: CauseFinding, tools: AgentTools) -> list[str]:
    """One sentence for each quote that does not stand where the finding says."""
    return [
        f"quote {number} does not stand there word for word: {quote.text[:80]!r}"
        for number, quote in enumerate(finding.quotes, start=1)
        if not any(
            _collapse_spaces(quote.text) in _collapse_spaces(text) for text in tools.texts_of(quote)
        )
    ]


def _reply_to(
    tools: AgentTools, completion: Completion, asked: dict[str, int], turn: int
) -> CauseFinding | str:
    """The reply to the model, or the finding that it submitted."""
    if completion.is_cut:
        return "That reply was cut at its limit. Answer again, shorter."
    try:
        call = parse_call(completion.text)
        if call.tool == SUBMIT:
            return _check_finding(tools, call)
        if call.tool not in TOOLS:
            raise InputError(f"there is no tool {call.tool[:60]!r}; there are {', '.join(TOOLS)}")
        wanted = json.dumps([call.tool, call.arguments], sort_keys=True)
        if known := asked.get(wanted):
            return f"You asked that in turn {known}, and the result is the same. Go on, or submit."
        result = format_result(tools.read(call))
        asked[wanted] = turn
        return result
    except InputError as error:
        return f"That was not carried out: {error}"


def _check_finding(tools: AgentTools, call: ToolCall) -> CauseFinding | str:
    finding = parse_finding(call.arguments)
    problems = quote_problems(finding, tools)
    return "The finding is refused: " + "; ".join(problems) if problems else finding


def format_result(result: object) -> str:
    """A result between tags. Its own `<` are escaped, so that no untrusted text closes the tag."""
    text = encodable(json.dumps(result, ensure_ascii=False)).replace("<", "\\u003c")
    cut = f"\n(cut: {len(text) - MAX_RESULT} more characters)" if len(text) > MAX_RESULT else ""
    return f"<result>\n{text[:MAX_RESULT]}{cut}\n</result>"


def _turns_left(turns: int) -> str:
    if turns <= 3:
        return f"{turns} turn{'s' * (turns != 1)} left: submit the finding now."
    return f"{turns} turns left."


def _collapse_spaces(text: str) -> str:
    return " ".join(text.split())


@dataclass(frozen=True, slots=True)
class Explanation:
    """The agent's result, and what it cost."""

    result: AgentResult
    usage: Usage


def explain_issue(
    endpoint: PromptSender,
    tools: AgentTools,
    *,
    turns: int = MAX_TURNS,
    tokens: int = MAX_TOKENS,
    price: Price | None = None,
) -> Explanation:
    """Run the agent at the endpoint, for at most `turns` turns and `tokens` tokens."""
    meter = Meter(Budget(tokens=tokens))

    def charge(meter: Meter, completion: Completion) -> None:
        used = (completion.input_tokens, completion.cached_tokens, completion.output_tokens)
        is_known = price is not None and not completion.is_estimated
        meter.charge(*used, price.of(*used) if price and is_known else None)

    (ended,) = run_steps(
        run_in_rounds([run_agent(tools, turns=turns)], meter, charge), endpoint.send
    )
    if ended.reason.startswith("over_budget"):
        ended = AgentResult(None, f"the budget of {tokens} tokens is spent", ended.turns)
    return Explanation(ended, meter.usage())
