"""The context in a prompt's text: sections set apart by headings or tags."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from otel_rt4chart.spans.model.view import Message

NAMES = "context|documents?|sources?|passages?|search_results?|excerpts?"
TAG = re.compile(
    rf"<(?P<close>/)?(?P<name>(?:retrieved_)?(?:{NAMES}))(?:[ \t\n][^<>]{{0,300}})?>", re.IGNORECASE
)
# Where a document has parts, its text is in one of these.
TEXT = re.compile(r"<(document_content|page_content|content|text)>", re.IGNORECASE)
# What stands between two tags that are only spoken of, and what a template has before it is filled.
EMPTY = re.compile(r"\W*(?:and|or)?\W*|\W*\{+[^{}\n]{0,80}\}+\W*", re.IGNORECASE)
MAX_DEPTH = 20


class Element(NamedTuple):
    """A closed tag: where its text is, and how many closed ones stand around it."""

    name: str
    outer: int
    start: int
    end: int


def tagged(text: str) -> list[str]:
    """The texts between tags: those of the documents in a section, else the whole section.

    A tag that is opened and never closed is spoken of, not used.
    """
    elements = _elements(text)
    found: list[str] = []
    last = -1
    for place, one in enumerate(elements):
        if one.outer < last:
            continue
        last = one.end
        inner = _children(elements, place)
        parts = [_content(text[part.start : part.end]) for part in inner or [one]]
        found += [part for part in parts if is_filled(part)]
    return found


def is_filled(text: str) -> bool:
    """True for text that is neither a word between two tags nor a placeholder."""
    return EMPTY.fullmatch(text) is None


def _elements(text: str) -> list[Element]:
    """The closed tags in the order in which they open."""
    opened: list[tuple[str, int, int]] = []
    found: list[Element] = []
    for tag in TAG.finditer(text):
        name = tag["name"].lower()
        if not tag["close"]:
            opened = [*opened[-MAX_DEPTH:], (name, tag.start(), tag.end())]
            continue
        place = next((n for n in range(len(opened) - 1, -1, -1) if opened[n][0] == name), None)
        if place is not None:
            found.append(Element(name, opened[place][1], opened[place][2], tag.start()))
            del opened[place:]
    return sorted(found, key=lambda one: one.outer)


def _children(elements: list[Element], place: int) -> list[Element]:
    """The documents of a container: the outermost inside it that are of one name, not a part."""
    whole = elements[place]
    found: list[Element] = []
    # Not a slice: of many sections side by side each would copy all that follow.
    place += 1
    while place < len(elements) and elements[place].outer < whole.end:
        if not found or elements[place].outer >= found[-1].end:
            found.append(elements[place])
        place += 1
    # Of `<document><source>a.pdf</source>…` the source names the document and is not its text.
    return found if whole.name.endswith("s") or "context" in whole.name else []


def _content(text: str) -> str:
    """A document's text without its other parts."""
    opening = TEXT.search(text)
    if opening is None:
        return text.strip()
    closing = text.find(f"</{opening[1]}>", opening.end())
    return text[opening.end() : closing if closing >= 0 else len(text)].strip()


# What an assistant said is no source, what a tool said is read apart.
NOT_SOURCES = ("assistant", "ai", "model", "tool", "function")
# Where a lead such as "Use the following pieces of context" may stand, in characters.
LEAD_WITHIN = 4_000
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
_ASKED = (
    r"(?:(?:the|user|user's|human|current|new|input|follow[- ]up)[ _])*"
    r"(?:question|query|user input|user|human)"
)
_SAID = r"(?:(?:the|your|helpful|final|direct)[ _])*(?:answer|response|assistant|ai)"
_HISTORY = r"(?:(?:the|chat|conversation|previous)[ _])*(?:history|conversation|messages)"
# A heading names what follows on its line or below it: `Context: …`, `### Context`, `[Context]`.
HEADINGS = re.compile(
    f"{_START}(?:(?P<context>{_CONTEXT})|(?P<asked>{_ASKED})|(?P<said>{_SAID})"
    rf"|(?P<history>{_HISTORY})|(?P<field>(?<=\[\[ ## )[\w ]{{1,80}}?(?= ## \]\])))"
    r"(?:[ \t]{0,9}\([^()\n]{0,80}\))?"
    rf"(?:{_END}[ \t]{{0,9}}[:：]{_END}|(?P<bare> ## \]\]|{_END}[ \t]{{0,9}}$))",
    re.IGNORECASE | re.MULTILINE,
)
MARKED = re.compile(r"[ \t]*(?:#|[*_]{2}|=|-|\[)")
BELOW = re.compile(
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
# What follows a lead before the context does.
ORDER = re.compile(
    r"[ \t]{0,40}(?:if|keep|use|always|do not|don't|never|answer|say|please|you|be|only|cite)\b",
    re.IGNORECASE,
)
NUMBERED = re.compile(r"^[ \t]{0,40}\[([0-9]{1,4})\][ \t]{0,9}", re.MULTILINE)
DSPY = "[[ ## "
DSPY_ORDER = "Respond with the corresponding output fields"
KINDS = ("context", "asked", "said", "history", "field")
# The characters behind `Answer:` from which on it is one, not where the model is to write.
ANSWERED = 40


class Heading(NamedTuple):
    """A heading of a prompt: `what` it names, where it starts, and where its text does."""

    what: str
    start: int
    end: int


def prompt_context(prompt: Sequence[Message]) -> tuple[str, ...]:
    """The passages in a prompt's context sections, in order; none where no section stands apart.

    Sections are tagged (`<context>…</context>`), under a heading (`Context:`) or, where the prompt
    has neither, under a lead such as "Use the following pieces of context". Of a prompt in DSPy's
    form the last message counts: the others are the form itself and demonstrations.
    """
    texts = [one.text for one in prompt if one.role not in NOT_SOURCES]
    shaped = [text for text in texts if DSPY in text]
    if shaped:
        texts = shaped[-1:]
    found = [section for text in texts for section in tagged(text) or _headed(text)]
    found = found or [section for text in texts for section in _led(text)]
    passages = [part for section in found[:MAX_SECTIONS] for part in _numbered(section)]
    return tuple(dict.fromkeys(passages))


def asked_in(text: str) -> str:
    """The question under a prompt's last heading for one; empty where there is none."""
    headings = list(_headings(text))
    for place, heading in reversed(list(enumerate(headings))):
        if heading.what == "asked":
            end = headings[place + 1].start if place + 1 < len(headings) else len(text)
            return text[heading.end : end].partition(DSPY_ORDER)[0].strip()
    return ""


def _headings(text: str) -> Iterator[Heading]:
    for found in HEADINGS.finditer(text):
        # A word alone on its line is a heading only where something marks it as one.
        if found["bare"] is None or MARKED.match(found[0]):
            what = next(name for name in KINDS if found[name])
            yield Heading(what, found.start(), found.end())


def _headed(text: str) -> list[str]:
    """The sections under headings, each up to what `_end` says."""
    starts = [Heading("context", found.start(), found.end()) for found in BELOW.finditer(text)]
    headings = sorted({*_headings(text), *starts}, key=lambda one: one.start)
    places = [place for place, one in enumerate(headings) if one.what == "context"]
    found = []
    for place, after in pairwise([*places, len(headings)]):
        until = headings[after].start if after < len(headings) else len(text)
        until = _end(text, headings[place + 1 : after], until)
        found.append(_ruled(text[headings[place].end : until]))
    return [section for section in found if is_filled(section)]


def _end(text: str, between: Sequence[Heading], until: int) -> int:
    """Where a section ends: before a history, else at the last question, else at the answer.

    At the last one, because passages may hold questions themselves; with their answers, so that a
    question with a filled answer is a passage's.
    """
    for place, one in enumerate(between):
        if one.what in ("history", "field"):
            return _end(text, between[:place], one.start)
    asked = [place for place, one in enumerate(between) if one.what == "asked"]
    if not asked:
        said = [one for one in between if one.what == "said"]
        return said[-1].start if said and not text[said[-1].end : until].strip() else until
    answers = [one for one in between[asked[-1] + 1 :] if one.what == "said"]
    is_answered = bool(answers) and len(text[answers[0].end : until].strip()) > ANSWERED
    return until if is_answered else between[asked[-1]].start


def _ruled(section: str) -> str:
    """A section without the rulers around it; what stands behind the closing one is no part."""
    section = section.strip()
    opening = RULER.match(section)
    if opening is None:
        return section
    inside = section[opening.end() :]
    closing = [one.start() for one in RULER.finditer(inside) if one[1] == opening[1]]
    return inside[: closing[-1] if closing else len(inside)].strip()


def _led(text: str) -> list[str]:
    """The section behind a lead's line and further orders, up to the question or the end."""
    lead = LEAD.search(text, 0, LEAD_WITHIN)
    start = text.find("\n", lead.end()) + 1 if lead else 0
    while start and ORDER.match(text, start):
        start = text.find("\n", start) + 1
    if not start:
        return []
    until = _end(text, [one for one in _headings(text) if one.start >= start], len(text))
    section = _ruled(text[start:until])
    return [section] if is_filled(section) else []


def _numbered(section: str) -> list[str]:
    """A section as one passage, or, where it is numbered `[1]`, `[2]`, …, as one for each."""
    marks = list(NUMBERED.finditer(section))
    is_counted = [int(one[1]) for one in marks] == list(range(1, len(marks) + 1))
    if len(marks) < 2 or not is_counted or section[: marks[0].start()].strip():
        return [section]
    ends = [*(one.start() for one in marks[1:]), len(section)]
    parts = [section[one.end() : end].strip() for one, end in zip(marks, ends, strict=True)]
    return [part for part in parts if part]
