"""Short texts that a model wrote: asked for within a bound, checked before anybody sees them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files

from otel_rt4chart.verify.language.slots import read_slots
from otel_rt4chart.verify.llm.cache import Cache, MemoryCache, key_of, load_value, store_value
from otel_rt4chart.verify.llm.conversation import Completion, PromptSender
from otel_rt4chart.verify.llm.prompt import ChatMessage, Prompt

SEED = 42
MOST = 500  # calls in a run
_TEXT = 1_200  # characters of a claim or of its evidence that are shown, and that are checked
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)
_MARKUP = re.compile(r"[<>\[\]{}|`*~\\@^]|https?:|&\w+;|\\u")


class Writer:
    """Asks a model for short texts, each question once, `most` in all.

    Threads must not share it. A call blocks for as long as the endpoint's slowest reply. What
    fails, is refused or is over the bound has no text: whoever asks has words of its own.
    """

    def __init__(
        self, sender: PromptSender, *, cache: Cache | None = None, most: int = MOST
    ) -> None:
        """`cache` keeps replies between runs; without one they are kept as long as this is."""
        self._sender = sender
        self._cache = cache or MemoryCache()
        self._left = most

    @property
    def id(self) -> str:
        """The model's name: another one writes other texts."""
        return self._sender.model

    def ask(
        self,
        prompts: Sequence[Prompt],
        read: Callable[[int, Mapping[str, object]], Mapping[str, str] | None],
    ) -> list[Mapping[str, str]]:
        """For each prompt what `read` makes of its number and reply; {} where there is nothing."""
        keys = [key_of(self._sender.address, self._sender.model, one.messages) for one in prompts]
        found = {
            key: kept for key in keys if (kept := _texts(load_value(self._cache, key))) is not None
        }
        missing = {key: at for at, key in reversed(list(enumerate(keys))) if key not in found}
        asked = sorted(missing.items(), key=lambda one: one[1])[: self._left]
        self._left -= len(asked)
        replies = self._sender.send([prompts[at] for _, at in asked])
        for (key, at), reply in zip(asked, replies, strict=True):
            if isinstance(reply, Completion):
                # A reply that was refused is kept as nothing: the same would come again.
                found[key] = read(at, object_in(reply.text)) or {}
                store_value(self._cache, key, found[key])
        return [found.get(key, {}) for key in keys]


def build_prompt(name: str, told: str, schema: Mapping[str, object], *, tokens: int) -> Prompt:
    """The instructions of `prompts/NAME.md` and what is told, quoted by whoever calls."""
    messages = (ChatMessage("system", _instructions(name)), ChatMessage("user", told))
    return Prompt(messages, f"rt4chart_{name}", schema, tokens, SEED)


def schema_of(*keys: str) -> dict[str, object]:
    """An object of texts, all required."""
    return {
        "type": "object",
        "properties": {key: {"type": "string"} for key in keys},
        "required": list(keys),
        "additionalProperties": False,
    }


def object_in(text: str) -> Mapping[str, object]:
    """The JSON object in a reply, fences and prose around it left out; {} where there is none."""
    match = _OBJECT.search(text[:20_000])
    try:
        value = json.loads(match.group()) if match else {}
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def is_bare(text: str, sources: Sequence[str]) -> bool:
    """True for text without digits, markup, and names or values of the sources."""
    if not text.isprintable() or _MARKUP.search(text) or any(map(str.isdigit, text)):
        return False
    said = read_slots(text)
    capitals = any(one.is_capital and not one.starts_clause for one in said.tokens)
    told = {token.stem for token in said.tokens}
    return not capitals and not any(told & _named(shortened(source)) for source in sources)


def shortened(text: str) -> str:
    """As much of a claim or its evidence as is shown to a model."""
    return text[:_TEXT]


def _named(source: str) -> set[str]:
    """The stems of a source's names and values."""
    slots = read_slots(source)
    valued = (slots.names, slots.quantities, slots.moments)
    spans = [(one.start, one.end) for some in valued for one in some]
    return {
        token.stem
        for token in slots.tokens
        if token.is_content and any(start <= token.start < end for start, end in spans)
    }


@cache
def _instructions(name: str) -> str:
    text = files(__package__).joinpath(f"prompts/{name}.md").read_text("utf-8")
    return text.partition("\n")[2].strip()


def _texts(value: object) -> Mapping[str, str] | None:
    """A cached reply; None where it is none."""
    if not isinstance(value, dict):
        return None
    return {str(key): text for key, text in value.items() if isinstance(text, str)}
