"""Texts into sentences with exact character offsets; structured data into sentences in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from otel_rt4chart.verify.core.model import Fact, Passage, Sentence
from otel_rt4chart.verify.text.fact_words import (
    as_sentence,
    end_sentence,
    fact_text,
    format_hours,
    kind_of_flag,
    with_unit,
    words_from_key,
)
from otel_rt4chart.verify.text.html_text import HtmlText, read_html
from otel_rt4chart.verify.text.json_offsets import (
    JsonKind,
    JsonLeaf,
    leaves,
    one_line,
    parse_json,
    unescape_with_offsets,
    unquote,
)
from otel_rt4chart.verify.text.sentences import MAX_SENTENCE, sentence_spans
from otel_rt4chart.verify.text.tables import (
    CODE,
    Rendered,
    TextLine,
    is_sentence,
    plain_lines,
    render_delimited,
    render_tables,
    split_long,
)

# A longer value or line is split into its sentences.
LONG_TEXT = 300


_PAIR_LENGTH = 200
_VALUE_LENGTH = 120
_PAIR_SHARE = 0.8
_SPEECH = re.compile(r"\b(?:I|[Yy]ou|[Yy]our|[Ww]e|[Hh]i|[Hh]ello|[Hh]ey|[Tt]hanks?|[Ss]orry)\b")
_EXPRESSION = re.compile(r"\s[-+*/%|&]\s|^[\[('\"]")
_TYPE = re.compile(r"(?:str|int|float|bool|bytes|string|number|boolean|any|Any|void)(?: [|=] .*)?")
_BULLET = re.compile(r"[-*•]\s+")
_PAIR = re.compile(r"(?P<key>[^\W_][\w '&/#%()$-]{0,39}?) ?(?::(?=\s)|(?P<equals>=))(?P<value>.+)")
_VISIBLE = re.compile(r"[^\s\x00-\x1f\x7f-\x9f]")


def render_structured(text: str) -> tuple[Rendered, ...] | None:
    """The sentences of a record, a table or HTML, disjoint and in order; None for other texts."""
    root = parse_json(text)
    if root is not None:
        rendered = (part for leaf in leaves(root) for part in _of_leaf(text, leaf))
        return tuple(rendered) if root.members else None
    if text.lstrip().startswith("{"):
        return None
    page = read_html(text)
    return _render_lines(text) if page is None else tuple(_of_html(page))


def _render_lines(text: str) -> tuple[Rendered, ...] | None:
    lines = _lines(text)
    return render_tables(text, lines) or _pairs(text, lines) or render_delimited(lines) or None


def _of_html(page: HtmlText) -> Iterator[Rendered]:
    """The sentences of the page's plain text, with the ranges of its source."""
    text = page.text
    lines = [TextLine(0, len(text), text)]
    for one in _render_lines(text) or plain_lines(text, lines):
        start, end = page.source_range(one.start, one.end)
        if start < end:
            yield one._replace(start=start, end=end)


def _of_leaf(text: str, leaf: JsonLeaf) -> Sequence[Rendered]:
    start, end = leaf.start, leaf.node.end
    key = words_from_key(leaf.key)
    if leaf.names_owner:
        return [Rendered(start, end, as_sentence(f"the {key} is {one_line(leaf.node.text)}"))]
    if leaf.node.kind is JsonKind.STRING and end - leaf.node.start > LONG_TEXT:
        return list(_of_prose(text, leaf, key))
    kind, value = leaf.meaning
    if not key:
        words = end_sentence(value if leaf.is_element and value else text[start:end])
    else:
        kind = kind_of_flag(key, kind, value)
        words = as_sentence(_in_context(leaf, key, kind, format_hours(value)), leaf.owner)
    fact = Fact(leaf.owner, *with_unit(_name_of(leaf, key), value))
    whole = Rendered(start, end, words, (fact,) if key else ())
    return [whole] if len(words) <= MAX_SENTENCE else split_long(whole, text[start:end])


def _of_prose(text: str, leaf: JsonLeaf, key: str) -> Iterator[Rendered]:
    """A long string, sentence by sentence: the first has the key, each has the owner."""
    at, behind = leaf.inside(text)
    unescaped, offsets = unescape_with_offsets(text[at:behind])
    found = list(sentence_spans(unescaped)) or [(0, len(unescaped))]
    for start, end in found:
        words = one_line(unescaped[start:end])
        if start == found[0][0] and key:
            words = _in_context(leaf, key, JsonKind.ARRAY, words)
        yield Rendered(
            leaf.start if start == found[0][0] else at + offsets[start],
            leaf.node.end if end == found[-1][1] else at + offsets[end],
            as_sentence(words, leaf.owner),
        )


def _in_context(leaf: JsonLeaf, key: str, kind: JsonKind, value: str) -> str:
    """The fact with its parents' names, unless the key repeats a word of the nearest one."""
    nearest = words_from_key(leaf.parents[-1]) if leaf.parents else ""
    if nearest.split()[-1:] == ["hours"]:
        day = f"{key} {nearest}"
        is_text = value and kind is JsonKind.STRING
        return f"{day}: {value}" if is_text else fact_text(day, kind, value)
    parents = _named_parents(leaf, key)
    return fact_text(key, kind, value, f"{parents}: " if parents else "")


def _name_of(leaf: JsonLeaf, key: str) -> str:
    """The key with its parents' names."""
    return f"{_named_parents(leaf, key)} {key}".strip()


def _named_parents(leaf: JsonLeaf, key: str) -> str:
    """The parents' names; "" where the key repeats a word of the nearest one."""
    parents = [words_from_key(parent) for parent in leaf.parents]
    nearest = parents[-1].split() if parents else []
    return " ".join(parents) if set(nearest).isdisjoint(key.split()) else ""


def _lines(text: str) -> list[TextLine]:
    found = []
    for match in re.finditer(r"[^\r\n]+", text):
        raw = match.group()
        if _VISIBLE.search(raw):
            indent = len(raw) - len(raw.lstrip())
            found.append(TextLine(match.start() + indent, match.start() + len(raw.rstrip()), raw))
    return found


def _pairs(text: str, lines: Sequence[TextLine]) -> tuple[Rendered, ...]:
    """A block of keys and values; repeated keys are speakers or numbered steps, so no block."""
    pairs = [_pair(line.raw) for line in lines]
    keys = [re.sub(r"\d+", "", pair[0]).lower() for pair in pairs if pair]
    if len(keys) < max(2, _PAIR_SHARE * len(lines)) or len(set(keys)) < len(keys):
        return ()
    rendered = (
        [_of_pair(line, *pair)] if pair else plain_lines(text, [line])
        for line, pair in zip(lines, pairs, strict=True)
    )
    return tuple(part for parts in rendered for part in parts)


def _of_pair(line: TextLine, key: str, value: str) -> Rendered:
    name = words_from_key(key)
    words = fact_text(name, kind_of_flag(name, JsonKind.STRING, value), format_hours(value))
    fact = Fact("", *with_unit(name, value))
    return Rendered(line.start, line.end, as_sentence(words), (fact,))


def _pair(raw: str) -> tuple[str, str] | None:
    if len(raw) > _PAIR_LENGTH:
        return None
    match = _PAIR.fullmatch(_BULLET.sub("", one_line(raw).replace("**", ""), count=1))
    if match is None or len(match["key"].split()) > 5:
        return None
    value = match["value"].strip()
    if match["equals"] and _EXPRESSION.search(value):
        return None
    code = CODE.search(value) or _TYPE.fullmatch(value)
    if code or len(value) > _VALUE_LENGTH or _SPEECH.search(value) or is_sentence(value):
        return None
    return match["key"], unquote(value)


def segment(text: str, passage_id: str = "", first_index: int = 0) -> tuple[Sentence, ...]:
    """The sentences of a text: disjoint, in order, and together all characters except whitespace.

    Offsets are code points of `text`. List items, headings and table rows are sentences.
    """
    return tuple(
        Sentence(first_index + number, start, end, text[start:end], passage_id)
        for number, (start, end) in enumerate(sentence_spans(text))
    )


def segment_passages(passages: Iterable[Passage]) -> tuple[Sentence, ...]:
    """The sentences of all passages; their indices continue from passage to passage.

    JSON, key-value blocks and tables become sentences in words with the offsets of their source.
    """
    found: list[Sentence] = []
    for passage in passages:
        parts = render_structured(passage.text)
        if parts is None:
            found.extend(segment(passage.text, passage.id, len(found)))
            continue
        for start, end, words, facts in parts:
            text = passage.text[start:end]
            found.append(Sentence(len(found), start, end, text, passage.id, words, facts))
    return tuple(found)
