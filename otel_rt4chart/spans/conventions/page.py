"""The tables as Markdown, for the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from otel_rt4chart.spans.conventions.convention import EVERY_KIND, FIELDS, Convention, Shape, Source
from otel_rt4chart.spans.conventions.registry import CONVENTIONS
from otel_rt4chart.spans.model.view import Kind

START = "<!-- tables: python -m otel_rt4chart.spans.conventions -->"
END = "<!-- end of tables -->"


def tables() -> str:
    """The tables of all conventions, in the order of precedence, between their two marks."""
    sections = ("\n".join(_section(one)) for one in CONVENTIONS)
    return "\n\n".join((START, *sections, END)) + "\n"


def _section(one: Convention) -> Iterator[str]:
    yield f"### {one.name}\n"
    yield f"Source: {one.source}\n"
    if told := list(_told(one)):
        yield from ("| kind | told by |", "|---|---|", *told)
    rows = [(field, getattr(one, field)) for field in FIELDS]
    if any(sources for _, sources in rows):
        yield from ("", "| field | read from, in this order |", "|---|---|")
    for field, sources in rows:
        if sources:
            yield f"| {field} | {'<br>'.join(_source(source) for source in sources)} |"
    yield from _rest(one)


def _told(one: Convention) -> Iterator[str]:
    for kind in Kind:
        ways = [
            f"`{attribute}` = {_codes(value for value, meant in kinds.items() if meant is kind)}"
            for attribute, kinds in one.kinds.items()
            if kind in kinds.values()
        ]
        ways += _hinted("span's name", (name for name, meant in one.names if meant is kind))
        ways += _hinted("key", (key for key, meant in one.hints if meant is kind))
        if ways:
            yield f"| {kind.value} | {'<br>'.join(ways)} |"


def _hinted(what: str, hints: Iterable[str]) -> list[str]:
    codes = _codes(hints)
    return [f"else by the {what}: {codes}"] if codes else []


def _source(source: Source) -> str:
    notes = [] if source.shape is Shape.TEXT else [source.shape.value]
    if source.kinds != EVERY_KIND:
        notes.append("on " + ", ".join(kind.value for kind in Kind if kind in source.kinds))
    if source.scope:
        notes.append(f"where the scope begins with `{source.scope}`")
    if source.is_last:
        notes.append("last")
    return f"`{source.key}`" + (f" ({'; '.join(notes)})" if notes else "")


def _rest(one: Convention) -> Iterator[str]:
    lines = {
        "Goes behind another convention's kind": sorted(one.vague),
        "Scopes": one.scopes,
        "Span events": one.events,
        "Placeholders": (*one.placeholders, *(f"{start}…" for start in one.placeholder_starts)),
        "A tool that looks things up": [f"{key} = {value}" for key, value in one.datastore.items()],
    }
    for name, items in lines.items():
        if items:
            yield f"\n{name}: {_codes(items)}"


def _codes(items: Iterable[str]) -> str:
    return ", ".join(f"`{item.strip()}`" for item in items)
