"""Parses JSON, or a Python literal of that form, with the offsets of every value in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple


class JsonKind(StrEnum):
    """The type of a value."""

    STRING = "string"
    NUMBER = "number"
    TRUE = "true"
    FALSE = "false"
    NULL = "null"
    OBJECT = "object"
    ARRAY = "array"


# No record is nested deeper, and recursion must end before the stack does.
MAX_LEVELS = 60
SHORT_ARRAY = 300
LONGEST_NAME = 80
# Sentences name the nearest parents only: whole paths would make the output quadratic.
_PARENTS = 2
_TRANSPARENT = frozenset({"attributes", "attrs", "properties", "data", "details", "metadata"})
_TRANSPARENT |= {"fields", ""}

_HEX = "[0-9a-fA-F]"
_ESCAPED = rf"""\\(?:["'\\/bfnrt]|x{_HEX}{{2}}|u{_HEX}{{4}}|U00(?:0{_HEX}|10){_HEX}{{4}})"""
_DOUBLE = rf'"[^"\\\x00-\x1f]*+(?:{_ESCAPED}[^"\\\x00-\x1f]*+)*+"'
_SINGLE = rf"'[^'\\\x00-\x1f]*+(?:{_ESCAPED}[^'\\\x00-\x1f]*+)*+'"
_SCALAR = re.compile(
    rf"(?P<string>u?(?:{_DOUBLE}|{_SINGLE}))"
    r"|(?P<number>-?(?:(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|Infinity\b|inf\b)"
    r"|NaN\b|nan\b)"
    r"|(?P<true>[tT]rue\b)|(?P<false>[fF]alse\b)|(?P<null>null\b|None\b)"
)
_SPACE = re.compile(r"\s*+")
_ESCAPE = re.compile(rf"\\(?:[xuU](?P<code>(?<=x){_HEX}{{2}}|(?<=u){_HEX}{{4}}|{_HEX}{{8}})|(.))")
_PAIR = rf"\\u[dD][89abAB]{_HEX}{{2}}\\u[dD][c-fC-F]{_HEX}{{2}}"
_UNIT = re.compile(rf"{_PAIR}|{_ESCAPED}|[^\\]++")
_QUOTED = re.compile(r"u?(?P<mark>['\"])(?P<inner>(?:(?!(?P=mark)).)*+)(?P=mark)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
_CONTROLS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
# A key that says what kind of thing an object is, and has its name: {"plan": "Basic", "users": 5}.
_NAMING = re.compile(
    r"""(?:^|_)(?:name|title|plan|tier|item|product|model|policy|service|feature|course|event
      |city|employee|person|drug|medicine|device|vehicle|room|dish|sku|option
      |endpoint|package|subject|entity)$""",
    re.IGNORECASE | re.VERBOSE,
)


class JsonNode(NamedTuple):
    """A value; `text` is that of a scalar, a string's without quotes and escapes."""

    start: int
    end: int
    kind: JsonKind
    text: str
    members: tuple[JsonMember, ...] = ()

    @property
    def is_container(self) -> bool:
        """True for objects and arrays, also empty ones."""
        return self.kind in (JsonKind.OBJECT, JsonKind.ARRAY)


class JsonMember(NamedTuple):
    """A value in its container; `start` is the start of its key, in an array of the value."""

    start: int
    key: str
    node: JsonNode


class JsonLeaf(NamedTuple):
    """A value that becomes one sentence: a scalar, an empty container or a short array."""

    start: int
    key: str
    node: JsonNode
    parents: tuple[str, ...]
    owner: str
    names_owner: bool

    @property
    def is_element(self) -> bool:
        """True in an array: `key` is then that of the array and not part of the slice."""
        return self.start == self.node.start

    def inside(self, text: str) -> tuple[int, int]:
        """The offsets of a string's characters, without its quotes."""
        return self.node.start + 1 + text.startswith("u", self.node.start), self.node.end - 1

    @property
    def meaning(self) -> tuple[JsonKind, str]:
        """The type and the words of the value; an array has those of its elements."""
        if self.node.members:
            return JsonKind.ARRAY, ", ".join(_listed(member.node) for member in self.node.members)
        if self.is_element and not self.node.is_container:
            return JsonKind.ARRAY, _listed(self.node)
        return self.node.kind, _said(self.node)


class _LeafContext(NamedTuple):
    """The parents and the owner of a value; an `entity` may have a name of its own."""

    parents: tuple[str, ...] = ()
    owner: str = ""
    entity: bool = False


class _MalformedError(ValueError):
    """The text is not a JSON or Python literal."""


def parse_json(text: str) -> JsonNode | None:
    """The object or array that makes up the whole text; None for any other text."""
    start = _skip(text, 0)
    if not text.startswith(("{", "["), start):
        return None
    try:
        root = _value(text, start, 1)
    except _MalformedError:
        return None
    return root if _skip(text, root.end) == len(text) else None


def leaves(root: JsonNode) -> Iterator[JsonLeaf]:
    """The leaves of `root`, in the order of the text."""
    return _leaves(JsonMember(root.start, "", root), _LeafContext(entity=True), names_owner=False)


def one_line(text: str) -> str:
    """The text without line breaks, control characters and repeated whitespace."""
    return " ".join(_CONTROL.sub(" ", text).split())


def unquote(text: str) -> str:
    """The text on one line, without quotes around it."""
    line = one_line(text)
    quoted = _QUOTED.fullmatch(line)
    return quoted["inner"].strip() if quoted else line


def unescape(inner: str) -> str:
    """The characters of a string literal, with escapes replaced."""
    if "\\" not in inner:
        return inner
    # Half a surrogate pair can be escaped but not encoded: pairs are joined, halves replaced.
    units = _ESCAPE.sub(_character, inner).encode("utf-16-le", "surrogatepass")
    return units.decode("utf-16-le", "replace")


def unescape_with_offsets(inner: str) -> tuple[str, Sequence[int]]:
    """The same, and the offset of each character in the literal; the last offset is the end."""
    if "\\" not in inner:
        return inner, range(len(inner) + 1)
    characters: list[str] = []
    offsets: list[int] = []
    for unit in _UNIT.finditer(inner):
        characters.append(unescape(unit.group()))
        offsets += range(unit.start(), unit.start() + len(characters[-1]))
    return "".join(characters), [*offsets, len(inner)]


def _said(node: JsonNode) -> str:
    return unquote(node.text) if node.kind is JsonKind.STRING else node.text


def _listed(node: JsonNode) -> str:
    return _said(node) or '""'


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _value(text: str, at: int, level: int) -> JsonNode:
    if text.startswith(("{", "["), at):
        return _container(text, at, level)
    return _scalar(text, at)


def _scalar(text: str, at: int) -> JsonNode:
    match = _SCALAR.match(text, at)
    if match is None:
        raise _MalformedError
    kind, source = JsonKind(str(match.lastgroup)), match.group()
    value = unescape(source.removeprefix("u")[1:-1]) if kind is JsonKind.STRING else source
    return JsonNode(at, match.end(), kind, value)


def _container(text: str, at: int, level: int) -> JsonNode:
    if level > MAX_LEVELS:
        raise _MalformedError
    kind, close = (JsonKind.OBJECT, "}") if text[at] == "{" else (JsonKind.ARRAY, "]")
    members: list[JsonMember] = []
    end = _skip(text, at + 1)
    while not text.startswith(close, end):
        start = _after(text, end, ",") if members else end
        members.append(_member(text, start, kind, level + 1))
        end = _skip(text, members[-1].node.end)
    return JsonNode(at, end + 1, kind, "", tuple(members))


def _member(text: str, at: int, container: JsonKind, level: int) -> JsonMember:
    if container is JsonKind.ARRAY:
        return JsonMember(at, "", _value(text, at, level))
    key = _scalar(text, at)
    if key.kind not in (JsonKind.STRING, JsonKind.NUMBER):
        raise _MalformedError
    return JsonMember(at, key.text, _value(text, _after(text, _skip(text, key.end), ":"), level))


def _after(text: str, at: int, sign: str) -> int:
    if not text.startswith(sign, at):
        raise _MalformedError
    return _skip(text, at + 1)


def _character(escape: re.Match[str]) -> str:
    if escape["code"]:
        return chr(int(escape["code"], 16))
    return _CONTROLS.get(escape[2], escape[2])


def _leaves(member: JsonMember, place: _LeafContext, *, names_owner: bool) -> Iterator[JsonLeaf]:
    node = member.node
    if _is_leaf(member):
        yield JsonLeaf(member.start, member.key, node, place.parents, place.owner, names_owner)
    elif node.kind is JsonKind.OBJECT:
        yield from _of_object(member, place)
    else:
        inner = place._replace(entity=True)
        for element in node.members:
            yield from _leaves(element._replace(key=member.key), inner, names_owner=False)


def _of_object(member: JsonMember, place: _LeafContext) -> Iterator[JsonLeaf]:
    transparent = member.key.lower() in _TRANSPARENT
    name = _name(member.node) if place.entity or transparent else None
    owner = one_line(name.node.text) if name else place.owner
    parents = place.parents if transparent else (*place.parents, member.key)[-_PARENTS:]
    for inner in member.node.members:
        yield from _leaves(inner, _LeafContext(parents, owner), names_owner=inner is name)


def _name(node: JsonNode) -> JsonMember | None:
    """The member that has an object's name: `name`, else `title`, else a first one like `plan`."""
    candidates = [member for member in node.members if member.key.lower() in ("name", "title")] or [
        member
        for member in node.members[:1]
        if len(node.members) > 1 and _NAMING.search(member.key)
    ]
    named = [member for member in candidates if _may_name(member.node)]
    return min(named, key=lambda member: member.key.lower(), default=None)


def _may_name(node: JsonNode) -> bool:
    is_short = len(node.text) <= LONGEST_NAME
    return is_short and node.kind is JsonKind.STRING and bool(one_line(node.text))


def _is_leaf(member: JsonMember) -> bool:
    node = member.node
    if not node.members:
        return True
    short = node.end - member.start <= SHORT_ARRAY and node.kind is JsonKind.ARRAY
    return short and not any(element.node.is_container for element in node.members)
