"""The shapes in which spans carry lists of objects: flattened keys, JSON, structured, plain text.

Flattened: `PREFIX.0.document.content`. Structured values came to Python with SDK 1.45; before,
and in rows of a database, they are JSON strings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from otel_rt4chart.spans.record import Attributes

Tree = dict[str, object]


def flattened(attributes: Attributes, prefix: str) -> dict[int, object]:
    """The objects under `PREFIX.{i}.…`, by index; nested indices become lists."""
    objects: dict[int, Tree] = {}
    start = prefix + "."
    for key, value in attributes.items():
        if key.startswith(start):
            index, _, path = key[len(start) :].partition(".")
            if index.isdecimal() and path:
                _put(objects.setdefault(int(index), {}), path.split("."), value)
    return {index: _with_lists(objects[index]) for index in sorted(objects)}


def whole(value: object) -> tuple[object, ...]:
    """The objects of one attribute that holds them all; plain text is one object, a string."""
    decoded = decoded_json(value)
    if decoded is None or decoded == "":
        return ()
    return tuple(decoded) if _is_list(decoded) else (decoded,)


def decoded_json(value: object) -> object:
    """The value of a JSON array or object in a string; any other value unchanged."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            decoded: object = json.loads(value)
        except (ValueError, RecursionError):
            return value
        return decoded
    return value


def field(item: object, wrapper: str, *names: str) -> object:
    """The first named field that an object has: plain, `{wrapper: {name}}` or `wrapper.name`."""
    if not isinstance(item, Mapping):
        return None
    inner = item.get(wrapper)
    for name in names:
        for holder, key in ((inner, name), (item, f"{wrapper}.{name}"), (item, name)):
            if isinstance(holder, Mapping) and holder.get(key) not in (None, ""):
                found: object = holder[key]
                return found
    return None


def sequence(value: object) -> Sequence[object]:
    """The value where it is a list or tuple (in JSON too), else nothing."""
    decoded = decoded_json(value)
    return decoded if isinstance(decoded, list | tuple) else ()


def _put(tree: Tree, path: Sequence[str], value: object) -> None:
    """Set one leaf; where a leaf and a branch share a name, the branch wins in any order."""
    for part in path[:-1]:
        below = tree.get(part)
        if not isinstance(below, dict):
            below = tree[part] = {}
        tree = below
    if not isinstance(tree.get(path[-1]), dict):
        tree[path[-1]] = value


def _with_lists(tree: object) -> object:
    """Branches whose keys are all indices become lists, in the order of the indices."""
    if not isinstance(tree, dict):
        return tree
    if tree and all(key.isdecimal() for key in tree):
        return [_with_lists(tree[key]) for key in sorted(tree, key=int)]
    return {key: _with_lists(value) for key, value in tree.items()}


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)
