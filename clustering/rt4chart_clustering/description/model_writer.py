"""Short texts that a language model writes, and the checks that they must pass."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from otel_rt4chart.verify.language.slots import read_slots
from otel_rt4chart.verify.llm.cache import Cache, MemoryCache, key_of, load_value, store_value
from otel_rt4chart.verify.llm.conversation import Completion, PromptSender
from otel_rt4chart.verify.llm.prompt import Prompt, PromptMessage, quoted
from rt4chart_clustering.description.pattern_names import clean_line

SEED = 42
MAX_CALLS = 500  # calls in a run
_MAX_TEXT = 1_200  # characters of a claim or of its evidence that are shown, and that are checked
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)
_MARKUP = re.compile(r"[<>\[\]{}|`*~\\@^]|https?:|&\w+;|\\u")


class Writer:
    """Asks a model for short texts: each question once, and at most `most` questions.

    Threads must not share it. A call blocks until the endpoint's slowest reply. A question that
    fails, is refused or exceeds the limit has no text, and its caller uses a template instead.
    """

    def __init__(
        self, sender: PromptSender, *, cache: Cache | None = None, most: int = MAX_CALLS
    ) -> None:
        """`cache` keeps replies between runs; without one they are kept in memory."""
        self._sender = sender
        self._cache = cache or MemoryCache()
        self._left = most

    @property
    def id(self) -> str:
        """The model's name."""
        return self._sender.model

    def ask(
        self,
        prompts: Sequence[Prompt],
        read: Callable[[int, Mapping[str, object]], Mapping[str, str] | None],
    ) -> list[Mapping[str, str]]:
        """For each prompt what `read` returns for its number and reply; {} if there is nothing."""
        keys = [key_of(self._sender.address, self._sender.model, one.messages) for one in prompts]
        found = {
            key: kept
            for key in keys
            if (kept := _cached_texts(load_value(self._cache, key))) is not None
        }
        missing = {key: at for at, key in reversed(list(enumerate(keys))) if key not in found}
        asked = sorted(missing.items(), key=lambda one: one[1])[: self._left]
        self._left -= len(asked)
        replies = self._sender.send([prompts[at] for _, at in asked])
        for (key, at), reply in zip(asked, replies, strict=True):
            if isinstance(reply, Completion):
                # A refused reply is cached as empty: the model would write the same again.
                found[key] = read(at, parse_object(reply.text)) or {}
                store_value(self._cache, key, found[key])
        return [found.get(key, {}) for key in keys]


def build_prompt(name: str, content: str, schema: Mapping[str, object], *, tokens: int) -> Prompt:
    """The instructions of `prompts/NAME.md`, and the content, which the caller has quoted."""
    messages = (PromptMessage("system", _instructions(name)), PromptMessage("user", content))
    return Prompt(messages, f"rt4chart_{name}", schema, tokens, SEED)


def text_schema(*keys: str) -> dict[str, object]:
    """The JSON schema of an object of required texts."""
    return {
        "type": "object",
        "properties": {key: {"type": "string"} for key in keys},
        "required": list(keys),
        "additionalProperties": False,
    }


def parse_object(text: str) -> Mapping[str, object]:
    """The JSON object in a reply, without the fences and prose around it; {} if there is none."""
    match = _OBJECT.search(text[:20_000])
    try:
        value = json.loads(match.group()) if match else {}
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def is_generic(text: str, sources: Sequence[str]) -> bool:
    """True for text without digits, without markup, and without names or values of the sources.

    A text with a name or number would describe one failure, not what the failures share. Without
    markup, text that a document has injected cannot become a link in a console or a ticket.
    """
    if not text.isprintable() or _MARKUP.search(text) or any(map(str.isdigit, text)):
        return False
    tokens = read_slots(text).tokens
    capitals = any(token.is_capital and not token.starts_clause for token in tokens)
    stems = {token.stem for token in tokens}
    return not capitals and not any(stems & _named_stems(clip_text(source)) for source in sources)


def clip_text(text: str) -> str:
    """The part of a claim or its evidence that a model is shown."""
    return text[:_MAX_TEXT]


def _named_stems(source: str) -> set[str]:
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


def _cached_texts(value: object) -> Mapping[str, str] | None:
    """The texts of a cached reply; None if there is none."""
    if not isinstance(value, dict):
        return None
    return {str(key): text for key, text in value.items() if isinstance(text, str)}


MAX_PHRASE, PHRASE_WORDS = 120, range(3, 17)
_PHRASE_TOKENS = 80
_PHRASE_SCHEMA = text_schema("phrase")


@dataclass(frozen=True, slots=True)
class FailureText:
    """The texts of a failure that a model is shown; `sources` are its evidence."""

    claim: str
    label: str
    sources: tuple[str, ...]


def write_phrases(writer: Writer, failing: Sequence[FailureText]) -> list[str]:
    """One phrase a failure; "" if there is none, or none that passes the checks."""

    def read(at: int, reply: Mapping[str, object]) -> Mapping[str, str] | None:
        phrase = _phrase_line(reply.get("phrase"))
        return {"phrase": phrase} if is_phrase(phrase, failing[at]) else None

    found = writer.ask([_phrase_prompt(one) for one in failing], read)
    return [one.get("phrase", "") for one in found]


def is_phrase(text: str, one: FailureText) -> bool:
    """True for a short line that gives away nothing of the claim and its evidence."""
    fits = len(text) <= MAX_PHRASE and len(text.split()) in PHRASE_WORDS
    return fits and is_generic(text, (one.claim, *one.sources))


def _phrase_line(value: object) -> str:
    return value.strip().rstrip(".") if isinstance(value, str) else ""


def _phrase_prompt(one: FailureText) -> Prompt:
    sources = "\n".join(quoted(clip_text(text)) for text in one.sources[:3]) or "nothing like it"
    content = f"Claim: {quoted(clip_text(one.claim))}\nLabel: {one.label}\nThe source:\n{sources}"
    return build_prompt("distill", content, _PHRASE_SCHEMA, tokens=_PHRASE_TOKENS)


MAX_TITLE, MAX_SUMMARY = 90, 500
TITLE_EXAMPLES = 5
_TITLE_TOKENS = 300
_TITLE_SCHEMA = text_schema("title", "summary")


@dataclass(frozen=True, slots=True)
class IssueName:
    """An issue's title and summary, each one line of plain text; a template has no summary."""

    title: str
    summary: str = ""


def write_title(
    writer: Writer | None, template: str, route: str, examples: Sequence[FailureText]
) -> IssueName:
    """The name of an issue: the model's if it passes the checks, else the title `template`."""
    shown = examples[:TITLE_EXAMPLES]
    if writer is None or not shown:
        return IssueName(template)
    sources = [text for one in shown for text in (one.claim, *one.sources)]

    def read(at: int, reply: Mapping[str, object]) -> Mapping[str, str] | None:
        title, summary = _one_line(reply.get("title")), _one_line(reply.get("summary"))
        if not title or len(title) > MAX_TITLE or not is_generic(title, sources):
            return None
        holds = len(summary) <= MAX_SUMMARY and is_generic(_lower_sentence_starts(summary), sources)
        return {"title": title, "summary": summary if holds else ""}

    (found,) = writer.ask([_title_prompt(template, shown)], read)
    if not found:
        return IssueName(template)
    return IssueName(f"{found['title']} · {clean_line(route)}", found["summary"])


def _one_line(value: object) -> str:
    return " ".join(value.split()).strip(" .\"'“”") if isinstance(value, str) else ""


def _lower_sentence_starts(text: str) -> str:
    """The text with lower case at the start of sentences, where a capital letter marks no name."""
    return ". ".join(part[:1].lower() + part[1:] for part in text.split(". "))


def _title_prompt(template: str, shown: Sequence[FailureText]) -> Prompt:
    lines = [f"The kind of mistake, by rules: {quoted(template)}"]
    for number, one in enumerate(shown, start=1):
        lines.append(f"{number}. {one.label}: {quoted(clip_text(one.claim))}")
        lines.append(f"   the source: {' '.join(quoted(clip_text(t)) for t in one.sources[:2])}")
    return build_prompt("title", "\n".join(lines), _TITLE_SCHEMA, tokens=_TITLE_TOKENS)
