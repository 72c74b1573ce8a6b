"""An issue's title and summary in a model's words; the template's where these do not hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from otel_rt4chart.verify.llm.prompt import Prompt, quoted
from rt4chart_clustering.description.distill import Failing
from rt4chart_clustering.description.naming import one_line
from rt4chart_clustering.description.phrase import (
    Writer,
    build_prompt,
    is_bare,
    schema_of,
    shortened,
)

LONGEST_TITLE, LONGEST_SUMMARY = 90, 500
EXAMPLES = 5
_TOKENS = 300
_SCHEMA = schema_of("title", "summary")


@dataclass(frozen=True, slots=True)
class Named:
    """Plain text, each on one line; `summary` is "" where only the template spoke."""

    title: str
    summary: str = ""


def entitle(writer: Writer | None, template: str, route: str, examples: Sequence[Failing]) -> Named:
    """The name of an issue whose offline title is `template`; without a model that is its name.

    A model's title has no name, number or date of the examples: these would name one failure, not
    what they share.
    """
    shown = examples[:EXAMPLES]
    if writer is None or not shown:
        return Named(template)
    sources = [text for one in shown for text in (one.claim, *one.beside)]

    def read(at: int, reply: Mapping[str, object]) -> Mapping[str, str] | None:
        title, summary = _text(reply.get("title")), _text(reply.get("summary"))
        if not title or len(title) > LONGEST_TITLE or not is_bare(title, sources):
            return None
        holds = len(summary) <= LONGEST_SUMMARY and is_bare(_lowered(summary), sources)
        return {"title": title, "summary": summary if holds else ""}

    (found,) = writer.ask([_prompt(template, shown)], read)
    if not found:
        return Named(template)
    return Named(f"{found['title']} · {one_line(route)}", found["summary"])


def _text(value: object) -> str:
    return " ".join(value.split()).strip(" .\"'“”") if isinstance(value, str) else ""


def _lowered(text: str) -> str:
    """With a small letter at each sentence's start, where a capital is no name."""
    return ". ".join(part[:1].lower() + part[1:] for part in text.split(". "))


def _prompt(template: str, shown: Sequence[Failing]) -> Prompt:
    lines = [f"The kind of mistake, by rules: {quoted(template)}"]
    for number, one in enumerate(shown, start=1):
        lines.append(f"{number}. {one.label}: {quoted(shortened(one.claim))}")
        lines.append(f"   the source: {' '.join(quoted(shortened(t)) for t in one.beside[:2])}")
    return build_prompt("title", "\n".join(lines), _SCHEMA, tokens=_TOKENS)
