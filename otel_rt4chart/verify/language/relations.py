"""What WordNet says of frequent words, by stem; `training/list_relations.py` made the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Relations:
    """Each holds both directions; `words` are all stems of the table."""

    synonyms: Mapping[str, frozenset[str]]
    opposites: Mapping[str, frozenset[str]]
    siblings: Mapping[str, frozenset[str]]
    words: frozenset[str]


@cache
def relations() -> Relations:
    """The table shipped with the package, read once."""
    return read_relations(files(__package__).joinpath("relations.txt").read_text("utf-8"))


def read_relations(text: str) -> Relations:
    """A line is a stem and its relations: `=` a synonym, `!` an opposite, `~` a sibling."""
    tables: dict[str, dict[str, set[str]]] = {"=": {}, "!": {}, "~": {}}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        left, *others = line.split()
        for other in others:
            table, right = tables[other[0]], other[1:]
            table.setdefault(left, set()).add(right)
            table.setdefault(right, set()).add(left)
    same, opposite, sibling = (
        {stem: frozenset(found) for stem, found in tables[sign].items()} for sign in "=!~"
    )
    words = frozenset().union(same, opposite, sibling)
    return Relations(same, opposite, sibling, words)


def siblings(word_stem: str) -> frozenset[str]:
    """The stems of other kinds of the same thing: `guitar` and `piano`."""
    return relations().siblings.get(word_stem, frozenset())
