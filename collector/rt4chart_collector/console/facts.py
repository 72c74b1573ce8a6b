"""What the process around the console tells about itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, dataclass, fields
from typing import Any

from rt4chart_collector.settings import PREFIX
from rt4chart_collector.store.connect import hidden


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
    """The settings of these values of `setting` fields."""
    return tuple(_fact(group, declared) for group in groups for declared in _declared(group))


def _declared(group: object) -> Iterable[Field[Any]]:
    return [one for one in fields(group) if "parse" in one.metadata]  # type: ignore[arg-type]


def _fact(group: object, declared: Field[Any]) -> Fact:
    value = getattr(group, declared.name)
    shown = ("set" if value else "not set") if "secret" in declared.metadata else _shown(value)
    meaning = declared.metadata["help"] or f"{declared.metadata['expected']} (secret)"
    return Fact(PREFIX + declared.name.upper(), shown, value == declared.default, meaning)


def _shown(value: object) -> str:
    if value is None:
        return "off"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, frozenset | tuple) and not hasattr(value, "_fields"):
        return ", ".join(sorted(str(one) for one in value)) or "none"
    return hidden(str(value)) or "none"
