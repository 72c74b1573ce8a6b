"""JSON, or a Python literal of the same shape, read with the place of every value in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """What a value is."""

    STRING = "string"
    NUMBER = "number"
    TRUE = "true"
    FALSE = "false"
    NULL = "null"
    OBJECT = "object"
    ARRAY = "array"


# Deeper is not a record that somebody wrote down, and recursion has to end before the stack does.
MAX_LEVELS = 60
SHORT_ARRAY = 300
LONGEST_NAME = 80
# A sentence names its nearest parents: repeating a long path on each leaf is not linear any more.
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


class Node(NamedTuple):
    """A value; `text` is a scalar's, a string's without quotes and escapes."""

    start: int
    end: int
    kind: Kind
    text: str
    members: tuple[Member, ...] = ()

    @property
    def is_container(self) -> bool:
        """An object or array, also an empty one."""
        return self.kind in (Kind.OBJECT, Kind.ARRAY)


class Member(NamedTuple):
    """A value in its container; `start` is where its key begins, or the value in an array."""

    start: int
    key: str
    node: Node


class Leaf(NamedTuple):
    """A value to be told as one: a scalar, an empty container or a short array of scalars."""

    start: int
    key: str
    node: Node
    parents: tuple[str, ...]
    owner: str
    names_owner: bool

    @property
    def is_element(self) -> bool:
        """It stands in an array: `key` is the array's and no part of the slice."""
        return self.start == self.node.start

    def inside(self, text: str) -> tuple[int, int]:
        """Where a string's characters stand, between its quotes."""
        return self.node.start + 1 + text.startswith("u", self.node.start), self.node.end - 1

    @property
    def meaning(self) -> tuple[Kind, str]:
        """What it is and its words; an array's are those of its elements."""
        if self.node.members:
            return Kind.ARRAY, ", ".join(_listed(member.node) for member in self.node.members)
        if self.is_element and not self.node.is_container:
            return Kind.ARRAY, _listed(self.node)
        return self.node.kind, _said(self.node)


class _Place(NamedTuple):
    """Where a value stands; an `entity` may say in its own words what it is called."""

    parents: tuple[str, ...] = ()
    owner: str = ""
    entity: bool = False


class _MalformedError(ValueError):
    """The text is not such a literal."""


def parse(text: str) -> Node | None:
    """The object or array that the whole text is."""
    start = _skip(text, 0)
    if not text.startswith(("{", "["), start):
        return None
    try:
        root = _value(text, start, 1)
    except _MalformedError:
        return None
    return root if _skip(text, root.end) == len(text) else None


def leaves(root: Node) -> Iterator[Leaf]:
    """What `root` says, in the order of the text."""
    return _leaves(Member(root.start, "", root), _Place(entity=True), names_owner=False)


def one_line(text: str) -> str:
    """`text` without line breaks, control characters and repeated white space."""
    return " ".join(_CONTROL.sub(" ", text).split())


def unquoted(text: str) -> str:
    """A string's words on one line; quotes within quotes go."""
    said = one_line(text)
    quoted = _QUOTED.fullmatch(said)
    return quoted["inner"].strip() if quoted else said


def unescaped(inner: str) -> str:
    """What characters between quotes stand for."""
    if "\\" not in inner:
        return inner
    # Half a surrogate pair can be escaped but not encoded: pairs are joined, halves replaced.
    units = _ESCAPE.sub(_character, inner).encode("utf-16-le", "surrogatepass")
    return units.decode("utf-16-le", "replace")


def located(inner: str) -> tuple[str, Sequence[int]]:
    """The same, and where each of its characters begins; the last place is the end."""
    if "\\" not in inner:
        return inner, range(len(inner) + 1)
    said: list[str] = []
    places: list[int] = []
    for unit in _UNIT.finditer(inner):
        said.append(unescaped(unit.group()))
        places += range(unit.start(), unit.start() + len(said[-1]))
    return "".join(said), [*places, len(inner)]


def _said(node: Node) -> str:
    return unquoted(node.text) if node.kind is Kind.STRING else node.text


def _listed(node: Node) -> str:
    return _said(node) or '""'


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _value(text: str, at: int, level: int) -> Node:
    if text.startswith(("{", "["), at):
        return _container(text, at, level)
    return _scalar(text, at)


def _scalar(text: str, at: int) -> Node:
    match = _SCALAR.match(text, at)
    if match is None:
        raise _MalformedError
    kind, source = Kind(str(match.lastgroup)), match.group()
    said = unescaped(source.removeprefix("u")[1:-1]) if kind is Kind.STRING else source
    return Node(at, match.end(), kind, said)


def _container(text: str, at: int, level: int) -> Node:
    if level > MAX_LEVELS:
        raise _MalformedError
    kind, close = (Kind.OBJECT, "}") if text[at] == "{" else (Kind.ARRAY, "]")
    members: list[Member] = []
    end = _skip(text, at + 1)
    while not text.startswith(close, end):
        start = _after(text, end, ",") if members else end
        members.append(_member(text, start, kind, level + 1))
        end = _skip(text, members[-1].node.end)
    return Node(at, end + 1, kind, "", tuple(members))


def _member(text: str, at: int, container: Kind, level: int) -> Member:
    if container is Kind.ARRAY:
        return Member(at, "", _value(text, at, level))
    key = _scalar(text, at)
    if key.kind not in (Kind.STRING, Kind.NUMBER):
        raise _MalformedError
    return Member(at, key.text, _value(text, _after(text, _skip(text, key.end), ":"), level))


def _after(text: str, at: int, sign: str) -> int:
    if not text.startswith(sign, at):
        raise _MalformedError
    return _skip(text, at + 1)


def _character(escape: re.Match[str]) -> str:
    if escape["code"]:
        return chr(int(escape["code"], 16))
    return _CONTROLS.get(escape[2], escape[2])


def _leaves(member: Member, place: _Place, *, names_owner: bool) -> Iterator[Leaf]:
    node = member.node
    if _is_leaf(member):
        yield Leaf(member.start, member.key, node, place.parents, place.owner, names_owner)
    elif node.kind is Kind.OBJECT:
        yield from _of_object(member, place)
    else:
        inner = place._replace(entity=True)
        for element in node.members:
            yield from _leaves(element._replace(key=member.key), inner, names_owner=False)


def _of_object(member: Member, place: _Place) -> Iterator[Leaf]:
    transparent = member.key.lower() in _TRANSPARENT
    name = _name(member.node) if place.entity or transparent else None
    owner = one_line(name.node.text) if name else place.owner
    parents = place.parents if transparent else (*place.parents, member.key)[-_PARENTS:]
    for inner in member.node.members:
        yield from _leaves(inner, _Place(parents, owner), names_owner=inner is name)


def _name(node: Node) -> Member | None:
    """The member that says what an object is called."""
    candidates = [
        member
        for member in node.members
        if member.key.lower() in ("name", "title")
        and member.node.kind is Kind.STRING
        and one_line(member.node.text)
        and len(member.node.text) <= LONGEST_NAME
    ]
    return min(candidates, key=lambda member: member.key.lower(), default=None)


def _is_leaf(member: Member) -> bool:
    node = member.node
    if not node.members:
        return True
    short = node.end - member.start <= SHORT_ARRAY and node.kind is Kind.ARRAY
    return short and not any(element.node.is_container for element in node.members)
