"""Records, key-value blocks and tables, told in sentences that keep their place in the source."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from otel_rt4chart.verify.json_offsets import (
    Kind,
    Leaf,
    leaves,
    located,
    one_line,
    parse,
    unquoted,
)
from otel_rt4chart.verify.prose import MAX_SENTENCE, spans
from otel_rt4chart.verify.table import delimited, tables
from otel_rt4chart.verify.wording import (
    CODE,
    LONG_TEXT,
    Line,
    Rendered,
    clock,
    closed,
    divided,
    fact,
    flagged,
    is_sentence,
    line_itself,
    readable,
    sentence,
)

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
    """What a record or table says; None for any other text. In order and disjoint."""
    root = parse(text)
    if root is not None:
        told = (part for leaf in leaves(root) for part in _of_leaf(text, leaf))
        return tuple(told) if root.members else None
    if text.lstrip().startswith("{"):
        return None
    lines = _lines(text)
    return tables(lines) or _pairs(lines) or delimited(lines) or None


def _of_leaf(text: str, leaf: Leaf) -> Sequence[Rendered]:
    start, end = leaf.start, leaf.node.end
    key = readable(leaf.key)
    if leaf.names_owner:
        return [Rendered(start, end, sentence(f"the {key} is {one_line(leaf.node.text)}"))]
    if leaf.node.kind is Kind.STRING and end - leaf.node.start > LONG_TEXT:
        return list(_of_prose(text, leaf, key))
    kind, said = leaf.meaning
    if not key:
        words = closed(said if leaf.is_element and said else text[start:end])
    else:
        kind = flagged(key, kind, said)
        words = sentence(_in_context(leaf, key, kind, clock(said)), leaf.owner)
    whole = Rendered(start, end, words)
    return [whole] if len(words) <= MAX_SENTENCE else divided(whole, text[start:end])


def _of_prose(text: str, leaf: Leaf, key: str) -> Iterator[Rendered]:
    """A long string sentence by sentence; the key is said once, and each time whose it is."""
    at, behind = leaf.inside(text)
    said, places = located(text[at:behind])
    found = list(spans(said)) or [(0, len(said))]
    for start, end in found:
        words = one_line(said[start:end])
        if start == found[0][0] and key:
            words = _in_context(leaf, key, Kind.ARRAY, words)
        yield Rendered(
            leaf.start if start == found[0][0] else at + places[start],
            leaf.node.end if end == found[-1][1] else at + places[end],
            sentence(words, leaf.owner),
        )


def _in_context(leaf: Leaf, key: str, kind: Kind, said: str) -> str:
    """With the parents' names, unless the leaf's own repeats a word of the nearest one."""
    parents = [readable(parent) for parent in leaf.parents]
    nearest = parents[-1].split() if parents else []
    if nearest[-1:] == ["hours"]:
        day = f"{key} {parents[-1]}"
        return f"{day}: {said}" if said and kind is Kind.STRING else fact(day, kind, said)
    alone = not nearest or not set(nearest).isdisjoint(key.split())
    return fact(key, kind, said, "" if alone else f"{' '.join(parents)}: ")


def _lines(text: str) -> list[Line]:
    found = []
    for match in re.finditer(r"[^\r\n]+", text):
        raw = match.group()
        if _VISIBLE.search(raw):
            indent = len(raw) - len(raw.lstrip())
            found.append(Line(match.start() + indent, match.start() + len(raw.rstrip()), raw))
    return found


def _pairs(lines: Sequence[Line]) -> tuple[Rendered, ...]:
    """A block of keys and values; keys that return are speakers, or steps that are counted."""
    pairs = [_pair(line.raw) for line in lines]
    keys = [re.sub(r"\d+", "", pair[0]).lower() for pair in pairs if pair]
    if len(keys) < max(2, _PAIR_SHARE * len(lines)) or len(set(keys)) < len(keys):
        return ()
    told = (
        [Rendered(line.start, line.end, sentence(_of_pair(*pair)))] if pair else line_itself(line)
        for line, pair in zip(lines, pairs, strict=True)
    )
    return tuple(part for parts in told for part in parts)


def _of_pair(key: str, value: str) -> str:
    name = readable(key)
    return fact(name, flagged(name, Kind.STRING, value), clock(value))


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
    return match["key"], unquoted(value)
