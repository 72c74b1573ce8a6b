"""The convention tables as Markdown, for docs/reference/conventions.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from otel_rt4chart.spans.conventions.convention import (
    ALL_KINDS,
    FIELDS,
    AttributeSource,
    Convention,
    ValueShape,
)
from otel_rt4chart.spans.conventions.registry import CONVENTIONS
from otel_rt4chart.spans.model.span_view import OperationKind

START = "<!-- tables: python -m otel_rt4chart.spans.conventions -->"
END = "<!-- end of tables -->"


def render_tables() -> str:
    """The tables of all conventions in order of precedence, between the two markers."""
    sections = ("\n".join(_section(convention)) for convention in CONVENTIONS)
    return "\n\n".join((START, *sections, END)) + "\n"


def _section(convention: Convention) -> Iterator[str]:
    yield f"### {convention.name}\n"
    yield f"Source: {convention.source}\n"
    if kinds := list(_kind_rows(convention)):
        yield from ("| kind | determined by |", "|---|---|", *kinds)
    rows = [(field, getattr(convention, field)) for field in FIELDS]
    if any(sources for _, sources in rows):
        yield from ("", "| field | read from, in this order |", "|---|---|")
    for field, sources in rows:
        if sources:
            yield f"| {field} | {'<br>'.join(_source_cell(source) for source in sources)} |"
    yield from _notes(convention)


def _kind_rows(convention: Convention) -> Iterator[str]:
    for kind in OperationKind:
        signs = [
            f"`{attribute}` = {_codes(value for value, hinted in kinds.items() if hinted is kind)}"
            for attribute, kinds in convention.kinds.items()
            if kind in kinds.values()
        ]
        signs += _hint_cell(
            "span's name", (name for name, hinted in convention.names if hinted is kind)
        )
        signs += _hint_cell("key", (key for key, hinted in convention.hints if hinted is kind))
        if signs:
            yield f"| {kind.value} | {'<br>'.join(signs)} |"


def _hint_cell(what: str, hints: Iterable[str]) -> list[str]:
    codes = _codes(hints)
    return [f"otherwise by the {what}: {codes}"] if codes else []


def _source_cell(source: AttributeSource) -> str:
    notes = [] if source.shape is ValueShape.TEXT else [source.shape.value]
    if source.kinds != ALL_KINDS:
        notes.append(
            "on " + ", ".join(kind.value for kind in OperationKind if kind in source.kinds)
        )
    if source.scope:
        notes.append(f"where the scope begins with `{source.scope}`")
    if source.is_last:
        notes.append("last")
    return f"`{source.key}`" + (f" ({'; '.join(notes)})" if notes else "")


def _notes(convention: Convention) -> Iterator[str]:
    lines = {
        "Yields to the kind of another convention": sorted(convention.vague),
        "Scopes": convention.scopes,
        "Span events": convention.events,
        "Placeholders": (
            *convention.placeholders,
            *(f"{start}…" for start in convention.placeholder_starts),
        ),
        "A tool that looks up data": [
            f"{key} = {value}" for key, value in convention.datastore.items()
        ],
    }
    for name, items in lines.items():
        if items:
            yield f"\n{name}: {_codes(items)}"


def _codes(items: Iterable[str]) -> str:
    return ", ".join(f"`{item.strip()}`" for item in items)
