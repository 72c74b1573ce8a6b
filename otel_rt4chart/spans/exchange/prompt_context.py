"""Finds the context in the text of a prompt: sections marked by tags or headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from otel_rt4chart.spans.model.span_view import ChatMessage

TAG_NAMES = "context|documents?|sources?|passages?|search_results?|excerpts?"
TAG_PATTERN = re.compile(
    rf"<(?P<close>/)?(?P<name>(?:retrieved_)?(?:{TAG_NAMES}))(?:[ \t\n][^<>]{{0,300}})?>",
    re.IGNORECASE,
)
# The text of a document that has several parts is in one of these.
TEXT_TAG = re.compile(r"<(document_content|page_content|content|text)>", re.IGNORECASE)
# What stands between two tags that are only mentioned.
BETWEEN_MENTIONS = re.compile(r"\W*+(?:(?:and|or)\W*+)?", re.IGNORECASE)
# The first to the last word of a text, and an unfilled placeholder of a template.
WORDS = re.compile(r"\w(?:.*\w)?", re.DOTALL)
PLACEHOLDER = re.compile(r"\{[^{}\n]{0,80}\}")
MAX_PLACEHOLDER = 82
MAX_DEPTH = 20


class TagElement(NamedTuple):
    """A closed element: the position of its opening tag, and the range of its text."""

    name: str
    outer: int
    start: int
    end: int


def tagged_sections(text: str) -> list[str]:
    """The texts between tags: of each document in a section, else of the whole section.

    A tag that is never closed is only mentioned in the text, and ignored.
    """
    elements = _tag_elements(text)
    found: list[str] = []
    last = -1
    for index, element in enumerate(elements):
        if element.outer < last:
            continue
        last = element.end
        inner = _child_documents(elements, index)
        parts = [_document_text(text[part.start : part.end]) for part in inner or [element]]
        found += [part for part in parts if is_filled(part)]
    return found


def is_filled(text: str) -> bool:
    """True for text other than a word between two mentioned tags, or a placeholder."""
    words = WORDS.search(text)
    if words is None or BETWEEN_MENTIONS.fullmatch(text):
        return False
    start, end = words.span()
    # A pattern for the whole text would take time that grows with its square.
    return not any(
        found.start() < start and end < found.end()
        for found in PLACEHOLDER.finditer(
            text, max(start - MAX_PLACEHOLDER, 0), end + MAX_PLACEHOLDER
        )
    )


def _tag_elements(text: str) -> list[TagElement]:
    """The closed elements in the order of their opening tags."""
    opened: list[tuple[str, int, int]] = []
    found: list[TagElement] = []
    for tag in TAG_PATTERN.finditer(text):
        name = tag["name"].lower()
        if not tag["close"]:
            opened = [*opened[-MAX_DEPTH:], (name, tag.start(), tag.end())]
            continue
        index = next((n for n in range(len(opened) - 1, -1, -1) if opened[n][0] == name), None)
        if index is not None:
            found.append(TagElement(name, opened[index][1], opened[index][2], tag.start()))
            del opened[index:]
    return sorted(found, key=lambda element: element.outer)


def _child_documents(elements: list[TagElement], index: int) -> list[TagElement]:
    """The documents in a container: the outermost elements inside it."""
    container = elements[index]
    found: list[TagElement] = []
    # No slice: copying the rest of the list for each section would be quadratic.
    index += 1
    while index < len(elements) and elements[index].outer < container.end:
        if not found or elements[index].outer >= found[-1].end:
            found.append(elements[index])
        index += 1
    # In `<document><source>a.pdf</source>…` the source is the document's name, not its text.
    return found if container.name.endswith("s") or "context" in container.name else []


def _document_text(text: str) -> str:
    """The text of a document without its other parts."""
    opening = TEXT_TAG.search(text)
    if opening is None:
        return text.strip()
    closing = text.find(f"</{opening[1]}>", opening.end())
    return text[opening.end() : closing if closing >= 0 else len(text)].strip()


# Assistant messages are no source; tool messages are read separately.
NOT_SOURCES = ("assistant", "ai", "model", "tool", "function")
# A lead such as "Use the following pieces of context" is only searched in the first characters.
MAX_LEAD_OFFSET = 4_000
MAX_SECTIONS = 200
_START = (
    r"^[ \t]{0,40}(?:#{1,6}[ \t]{0,9}|[*_]{2,3}|={2,9}[ \t]{0,9}|-{2,9}[ \t]{0,9}|\[\[ ## |\[)?"
)
_END = r"(?:[ \t]{0,9}(?:[*_]{2,3}|={2,9}|-{2,9}|#{1,9}|\]))?"
_CONTEXT = (
    r"(?:(?:the|retrieved|relevant|provided|background|supporting|additional|reference)[ _])*"
    r"(?:context|sources?|documents?|passages?|search[ _]results?|excerpts?|snippets?)"
    r"(?:[ _](?:information|documents?|passages?|texts?|data))?"
)
_QUESTION = (
    r"(?:(?:the|user|user's|human|current|new|input|follow[- ]up)[ _])*"
    r"(?:question|query|user input|user|human)"
)
_ANSWER = r"(?:(?:the|your|helpful|final|direct)[ _])*(?:answer|response|assistant|ai)"
_HISTORY = r"(?:(?:the|chat|conversation|previous)[ _])*(?:history|conversation|messages)"
# A heading names what follows on its line or below it: `Context: …`, `### Context`, `[Context]`.
HEADINGS = re.compile(
    f"{_START}(?:(?P<context>{_CONTEXT})|(?P<question>{_QUESTION})|(?P<answer>{_ANSWER})"
    rf"|(?P<history>{_HISTORY})|(?P<field>(?<=\[\[ ## )[\w ]{{1,80}}?(?= ## \]\])))"
    r"(?:[ \t]{0,9}\([^()\n]{0,80}\))?"
    rf"(?:{_END}[ \t]{{0,9}}[:：]{_END}|(?P<bare> ## \]\]|{_END}[ \t]{{0,9}}$))",
    re.IGNORECASE | re.MULTILINE,
)
HEADING_MARK = re.compile(r"[ \t]*(?:#|[*_]{2}|=|-|\[)")
CONTEXT_BELOW = re.compile(
    r"^[^\n]{0,80}\b(?:context|information|documents|sources|passages|excerpts)\b[^\n]{0,60}\bbelow\b"
    r"[^\n]{0,20}\n\s{0,40}(?=[-=*~`]{3,200}[ \t]{0,9}$)",
    re.IGNORECASE | re.MULTILINE,
)
LEAD = re.compile(
    r"\bpieces of (?:retrieved |relevant )?(?:context|information)\b|"
    r"\bfollowing (?:retrieved |relevant )?"
    r"(?:context|documents|sources|passages|excerpts|search results)\b",
    re.IGNORECASE,
)
RULER = re.compile(r'^[ \t]{0,40}([-=*~`"]{3,200})[ \t]{0,9}$', re.MULTILINE)
# An instruction between a lead and the context.
INSTRUCTION = re.compile(
    r"[ \t]{0,40}(?:if|keep|use|always|do not|don't|never|answer|say|please|you|be|only|cite)\b",
    re.IGNORECASE,
)
NUMBERED = re.compile(r"^[ \t]{0,40}\[([0-9]{1,4})\][ \t]{0,9}", re.MULTILINE)
DSPY_FIELD = "[[ ## "
DSPY_INSTRUCTION = "Respond with the corresponding output fields"
HEADING_KINDS = ("context", "question", "answer", "history", "field")
# More text than this after `Answer:` is an answer; less is where the model starts to write.
MIN_ANSWER_CHARS = 40


class Heading(NamedTuple):
    """A heading of a prompt: `kind` names its subject, where it starts, and where its text does."""

    kind: str
    start: int
    end: int


def prompt_context(prompt: Sequence[ChatMessage]) -> tuple[str, ...]:
    """The passages in the context sections of a prompt, in order; none without a marked section.

    Sections are tagged (`<context>…</context>`), under a heading (`Context:`) or, if the prompt has
    neither, after a lead such as "Use the following pieces of context". Of a prompt in DSPy's
    format only the last message counts: the others are the format description and demonstrations.
    """
    texts = [message.text for message in prompt if message.role not in NOT_SOURCES]
    dspy_texts = [text for text in texts if DSPY_FIELD in text]
    if dspy_texts:
        texts = dspy_texts[-1:]
    found = [
        section
        for text in texts
        for section in tagged_sections(text) or _sections_under_headings(text)
    ]
    found = found or [section for text in texts for section in _section_after_lead(text)]
    passages = [part for section in found[:MAX_SECTIONS] for part in _split_numbered(section)]
    return tuple(dict.fromkeys(passages))


def question_in_prompt(text: str) -> str:
    """The text under the last question heading of a prompt; empty without such a heading."""
    headings = list(_find_headings(text))
    for index, heading in reversed(list(enumerate(headings))):
        if heading.kind == "question":
            end = headings[index + 1].start if index + 1 < len(headings) else len(text)
            return text[heading.end : end].partition(DSPY_INSTRUCTION)[0].strip()
    return ""


def _find_headings(text: str) -> Iterator[Heading]:
    for found in HEADINGS.finditer(text):
        # A word alone on its line is a heading only with a mark such as `#` or `**`.
        if found["bare"] is None or HEADING_MARK.match(found[0]):
            kind = next(name for name in HEADING_KINDS if found[name])
            yield Heading(kind, found.start(), found.end())


def _sections_under_headings(text: str) -> list[str]:
    """The sections under context headings; `_section_end` finds their ends."""
    starts = [
        Heading("context", match.start(), match.end()) for match in CONTEXT_BELOW.finditer(text)
    ]
    headings = sorted({*_find_headings(text), *starts}, key=lambda heading: heading.start)
    indices = [index for index, heading in enumerate(headings) if heading.kind == "context"]
    sections = []
    for index, after in pairwise([*indices, len(headings)]):
        end = headings[after].start if after < len(headings) else len(text)
        end = _section_end(text, headings[index + 1 : after], end)
        sections.append(_strip_rulers(text[headings[index].end : end]))
    return [section for section in sections if is_filled(section)]


def _section_end(text: str, between: Sequence[Heading], end: int) -> int:
    """The end of a section: before a history, else at the last question, else at the answer.

    At the last question, because passages may contain questions. A question with a filled-in answer
    belongs to a passage.
    """
    for index, heading in enumerate(between):
        if heading.kind in ("history", "field"):
            return _section_end(text, between[:index], heading.start)
    questions = [index for index, heading in enumerate(between) if heading.kind == "question"]
    if not questions:
        answers = [heading for heading in between if heading.kind == "answer"]
        if answers and not text[answers[-1].end : end].strip():
            return answers[-1].start
        return end
    answers = [heading for heading in between[questions[-1] + 1 :] if heading.kind == "answer"]
    is_answered = bool(answers) and len(text[answers[0].end : end].strip()) > MIN_ANSWER_CHARS
    return end if is_answered else between[questions[-1]].start


def _strip_rulers(section: str) -> str:
    """A section without the rulers around it, and without text after the closing ruler."""
    section = section.strip()
    opening = RULER.match(section)
    if opening is None:
        return section
    inside = section[opening.end() :]
    closing = [ruler.start() for ruler in RULER.finditer(inside) if ruler[1] == opening[1]]
    return inside[: closing[-1] if closing else len(inside)].strip()


def _section_after_lead(text: str) -> list[str]:
    """The section after a lead and further instructions, up to the question or the end."""
    lead = LEAD.search(text, 0, MAX_LEAD_OFFSET)
    start = text.find("\n", lead.end()) + 1 if lead else 0
    while start and INSTRUCTION.match(text, start):
        start = text.find("\n", start) + 1
    if not start:
        return []
    end = _section_end(
        text, [heading for heading in _find_headings(text) if heading.start >= start], len(text)
    )
    section = _strip_rulers(text[start:end])
    return [section] if is_filled(section) else []


def _split_numbered(section: str) -> list[str]:
    """A section as one passage, or as one for each number if it is numbered `[1]`, `[2]`, …."""
    marks = list(NUMBERED.finditer(section))
    is_consecutive = [int(mark[1]) for mark in marks] == list(range(1, len(marks) + 1))
    if len(marks) < 2 or not is_consecutive or section[: marks[0].start()].strip():
        return [section]
    ends = [*(mark.start() for mark in marks[1:]), len(section)]
    parts = [section[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)]
    return [part for part in parts if part]
