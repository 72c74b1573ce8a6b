"""What the process around the console tells about itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any

from rt4chart_collector.core.settings import PREFIX
from rt4chart_collector.store.engine.dsn import hidden


@dataclass(frozen=True, slots=True)
class Fact:
    """A setting in force: `value` as one would write it, of a secret only whether it is set."""

    variable: str
    value: str
    is_default: bool
    meaning: str


@dataclass(frozen=True, slots=True)
class Facts:
    """`settings` are those of this process, `status` gives its pipeline's figures if it has one."""

    settings: tuple[Fact, ...] = ()
    status: Callable[[], Mapping[str, object]] | None = None
    database: str = ""


def facts_of(*groups: object) -> tuple[Fact, ...]:
    """The settings of these values: fields of the service's `setting`, or of `named`."""
    return tuple(_fact(group, declared) for group in groups for declared in _declared(group))


def _declared(group: object) -> Iterable[Field[Any]]:
    declared = fields(group)  # type: ignore[arg-type]
    return [one for one in declared if "parse" in one.metadata or "name" in one.metadata]


def _fact(group: object, declared: Field[Any]) -> Fact:
    value, told = getattr(group, declared.name), declared.metadata
    is_secret = "secret" in told or not told.get("is_shown", True)
    shown = ("set" if value else "not set") if is_secret else _shown(value)
    meaning = told["help"] or f"{told['expected']} (secret)"
    variable = told.get("name", PREFIX + declared.name.upper())
    return Fact(variable, shown, value == _default(declared), meaning)


def _default(declared: Field[Any]) -> object:
    factory = declared.default_factory
    return declared.default if factory is MISSING else factory()


def _shown(value: object) -> str:
    if value is None:
        return "off"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, frozenset | tuple) and not hasattr(value, "_fields"):
        return ", ".join(sorted(str(one) for one in value)) or "none"
    return hidden(str(value)) or "none"
