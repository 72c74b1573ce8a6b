"""The facts about alerts as JSON, in the store and in the output of commands."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import MappingProxyType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from rt4chart_collector.core.alerts.alert import DRIFT_RULES, Rule
from rt4chart_collector.core.alerts.facts import (
    AlertFacts,
    BacklogFacts,
    CorrectedRateFacts,
    DriftFacts,
    GrowingIssueFacts,
    IssueFacts,
    JudgeDriftFacts,
    JudgeFacts,
    NewIssueFacts,
    NoDataFacts,
    NoteFacts,
    UndecidedFacts,
)
from rt4chart_collector.core.times import iso, time_ns_of

FACTS: Mapping[str, type[AlertFacts]] = MappingProxyType(
    {
        **dict.fromkeys(DRIFT_RULES.values(), DriftFacts),
        Rule.NEW_ISSUE: NewIssueFacts,
        Rule.REGRESSED_ISSUE: IssueFacts,
        Rule.GROWING_ISSUE: GrowingIssueFacts,
        Rule.UNDECIDED: UndecidedFacts,
        Rule.BACKLOG: BacklogFacts,
        Rule.NO_DATA: NoDataFacts,
        Rule.JUDGE_FAILING: JudgeFacts,
        Rule.JUDGE_DRIFT: JudgeDriftFacts,
        Rule.CORRECTED_RATE: CorrectedRateFacts,
        Rule.TEST: NoteFacts,
    }
)


def facts_to_json(facts: AlertFacts) -> dict[str, object]:
    """The facts as JSON objects. A field is left out where its value is its default, None."""
    return {**_to_json(facts), **facts.unknown}


def facts_from_json(rule: str, stored: Mapping[str, object]) -> AlertFacts:
    """The facts of an alert of that rule. Never raises: another program may have written them.

    A value of another type than expected counts as missing. Facts that lack what their class needs
    are all unknown.
    """
    kind = FACTS.get(rule)
    if kind is None or not stored:
        return AlertFacts(unknown=stored)
    known = {_key(field.name) for field in fields(kind)} - {"unknown"}
    unknown = {name: value for name, value in stored.items() if name not in known}
    try:
        facts: AlertFacts = _object(kind, stored, unknown=unknown)
    except ValueError:
        return AlertFacts(unknown=stored)
    return facts


def _key(name: str) -> str:
    return name.removesuffix("_ns")


def _to_json(value: Any) -> dict[str, object]:  # noqa: ANN401 - any of the classes of facts
    found: dict[str, object] = {}
    for field in fields(value):
        item = getattr(value, field.name)
        if field.name == "unknown" or (item is None and field.default is None):
            continue
        if field.name.endswith("_ns"):
            item = item if item is None else iso(item)
        elif isinstance(item, tuple):
            item = [_to_json(part) for part in item]
        elif is_dataclass(item):
            item = _to_json(item)
        found[_key(field.name)] = item
    return found


@cache
def _hints(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)


def _object(kind: type, stored: object, **given: object) -> Any:  # noqa: ANN401 - a `kind`
    """The JSON object as a class of facts; ValueError where a needed field is missing."""
    if not isinstance(stored, Mapping):
        raise ValueError
    found: dict[str, object] = dict(given)
    for field in fields(kind):
        if field.name not in given and field.name != "unknown":
            found[field.name] = _field(
                field, _hints(kind)[field.name], stored.get(_key(field.name))
            )
    return kind(**found)


def _field(field: Field[Any], hint: Any, stored: object) -> object:  # noqa: ANN401 - a type
    try:
        return _time(hint, stored) if field.name.endswith("_ns") else _value(hint, stored)
    except (ValueError, OverflowError):
        if field.default is MISSING:
            raise ValueError(field.name) from None
        return field.default


def _time(hint: Any, stored: object) -> int | None:  # noqa: ANN401 - a type
    if stored is None and isinstance(hint, UnionType):
        return None
    return time_ns_of(_value(str, stored))


def _value(hint: Any, stored: object) -> Any:  # noqa: ANN401 - a type, and a value of it
    if isinstance(hint, UnionType):
        return None if stored is None else _value(get_args(hint)[0], stored)
    if get_origin(hint) is tuple:
        return _objects(get_args(hint)[0], stored)
    if isinstance(hint, type) and is_dataclass(hint):
        return _object(hint, stored)
    if isinstance(hint, type) and issubclass(hint, str) and isinstance(stored, str):
        return hint(stored)
    if hint in (int, float) and isinstance(stored, int | float) and math.isfinite(stored):
        return hint(stored)
    raise ValueError


def _objects(kind: type, stored: object) -> tuple[object, ...]:
    """The objects of a list; those of another form are left out."""
    if not isinstance(stored, list):
        raise ValueError
    found = []
    for item in stored:
        try:
            found.append(_object(kind, item))
        except ValueError:
            continue
    return tuple(found)
