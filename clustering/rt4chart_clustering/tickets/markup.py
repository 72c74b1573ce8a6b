"""A ticket's text in the markup of each system, built from untrusted texts.

Texts of users and documents stand in code blocks, where Markdown reads no link, image, mention or
tag (CommonMark 0.31, section 4.5), and in Atlassian's format as text nodes, which have no markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from otel_rt4chart.core.text import encodable, one_line, printable
from rt4chart_clustering.core.text import code_span
from rt4chart_clustering.tickets.ticket import Ticket, TicketExample, TicketUpdate

_EXAMPLE = 600
_MOST_EXAMPLES = 5


def ticket_markdown(ticket: Ticket, *, most: int, marker: str) -> str:
    """The description, cut to `most` characters; its last line is always the marker."""
    parts = [_block(ticket.title)]
    if ticket.summary:
        parts.append(_block(ticket.summary))
    parts.append("\n".join(f"- {name}: {_code(value)}" for name, value in ticket.facts))
    if ticket.advice:
        parts.append(ticket.advice)
    parts += [_block(text) for text in example_texts(ticket)]
    parts.append(f"`{ticket.command}`")
    room = most - len(marker) - 2
    kept: list[str] = []
    for part in parts:
        if room < len(part) + 2:
            break
        room -= len(part) + 2
        kept.append(part)
    return "\n\n".join([*kept, marker])


def update_markdown(change: TicketUpdate) -> str:
    """A comment, which has no text of users."""
    return f"{change.text}\n\n{_code(change.kind)}"


def adf_document(*blocks: dict[str, Any]) -> dict[str, Any]:
    """A document in Atlassian Document Format, version 1."""
    return {"type": "doc", "version": 1, "content": list(blocks)}


def adf_paragraph(text: str) -> dict[str, Any]:
    """A paragraph of plain text."""
    return {"type": "paragraph", "content": [{"type": "text", "text": one_line(text, 2_000)}]}


def adf_code(text: str) -> dict[str, Any]:
    """A block of preformatted text."""
    return {"type": "codeBlock", "content": [{"type": "text", "text": text[:4_000] or " "}]}


def ticket_adf(ticket: Ticket) -> dict[str, Any]:
    """The description in Atlassian Document Format, for Jira."""
    blocks = [adf_paragraph(text) for text in (ticket.title, ticket.summary) if text]
    blocks += [adf_paragraph(f"{name}: {value}") for name, value in ticket.facts]
    blocks += [adf_paragraph(ticket.advice)] if ticket.advice else []
    blocks += [adf_code(text) for text in example_texts(ticket)]
    return adf_document(*blocks, adf_paragraph(ticket.command))


def example_texts(ticket: Ticket) -> list[str]:
    """Each example as a few lines of text."""
    return ["\n".join(_example_lines(one)) for one in ticket.examples[:_MOST_EXAMPLES]]


def _example_lines(example: TicketExample) -> Iterator[str]:
    """A misleading claim has the sentence that supports it beside the one against it."""
    yield f"{example.label}: {one_line(example.claim, _EXAMPLE, example.claimed)}"
    if example.used:
        yield f"used: {one_line(example.used, _EXAMPLE, example.found)}"
    if example.sentence or not example.used:
        name = "against" if example.used else "source"
        yield f"{name}: {one_line(example.sentence, _EXAMPLE, example.found) or '–'}"
    yield f"trace: {one_line(example.trace_id, 64)}"


def _block(text: str) -> str:
    """A fenced block; its fence is longer than any run of backticks in it."""
    clean = printable(encodable(text), keep="\n")
    fence = "`" * (max([2, *(len(run) for run in re.findall("`+", clean))]) + 1)
    return f"{fence}text\n{clean}\n{fence}"


def _code(text: str) -> str:
    return code_span(one_line(text, 200) or "–")
