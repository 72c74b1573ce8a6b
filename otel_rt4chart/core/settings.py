"""How a setting is declared, once, and what follows from it: reading, flags, help, reference.

A section is a frozen dataclass whose fields are made by `setting`; a process's settings are a
dataclass whose fields are made by `section`. A field's variable is its name in capitals after
RT4CHART_, or after the section's own PREFIX; its flag is the same with dashes.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from difflib import get_close_matches
from typing import Any, TypeVar

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.settings_parsers import Parser, RefusedSecretError

PREFIX = "RT4CHART_"
Environment = Mapping[str, str]
T = TypeVar("T")
REQUIRED: Any = MISSING


@dataclass(frozen=True, slots=True)
class Setting:
    """What a field declares. A secret has no flag and is quoted nowhere."""

    help: str
    parser: Parser[object]
    default: object
    variable: str
    is_secret: bool
    unset: Callable[[Environment], object] | None
    empty_means: str
    field: str = ""

    @property
    def key(self) -> str:
        """The name under which argparse keeps the flag's value."""
        return self.variable.removeprefix(PREFIX).lower()


@dataclass(frozen=True, slots=True)
class SettingInForce:
    """A setting as people are shown it: of a secret only whether it is set."""

    variable: str
    value: str
    is_default: bool
    meaning: str


def setting(
    default: T,
    help: str,
    parser: Parser[T],
    *,
    secret: bool = False,
    variable: str = "",
    unset: Callable[[Environment], T] | None = None,
    empty_means: str = "",
) -> T:
    """A field of a section; REQUIRED is the default of one that has to be given.

    `unset` finds the value in the environment where neither flag nor variable is given;
    `empty_means` is the text that an empty variable stands for.
    """
    declared = Setting(help, parser, default, variable, secret, unset, empty_means)
    # A mapping is copied for each instance, as a dataclass asks; other defaults are immutable.
    kind: dict[str, Any] = {"default": default}
    if isinstance(default, dict):
        kind = {"default_factory": default.copy}
    made: T = field(**kind, repr=not secret, metadata={"setting": declared})
    return made


def section(cls: type[T], *, flags: Collection[str] | None = None) -> T:
    """A section among a process's settings; `flags` names those of its fields that have a flag."""
    made: T = field(metadata={"section": cls, "flags": flags})
    return made


def computed(unset: Callable[[Environment], T]) -> T:
    """A field of a section that is no single variable; it may hold secrets, and is not shown."""
    made: T = field(repr=False, metadata={"computed": unset})
    return made


def load(
    cls: type[T], flags: Mapping[str, str | None] | None = None, environ: Environment | None = None
) -> T:
    """The settings: a flag wins over its variable, which wins over the default.

    Raises SettingsError with the variable, what was expected and what was given.
    """
    given = os.environ if environ is None else environ
    values: dict[str, Any] = {}
    for part in fields(cls):  # type: ignore[arg-type]
        if "section" in part.metadata:
            values[part.name] = load(part.metadata["section"], flags, given)
        elif "computed" in part.metadata:
            values[part.name] = part.metadata["computed"](given)
    for one in _declared(cls):
        if written := _written(one, flags or {}, given):
            values[one.field] = _parsed(one, written)
        elif one.unset is not None:
            values[one.field] = one.unset(given)
        elif one.default is REQUIRED:
            raise _error(one, "nothing")
    return cls(**values)


def check(section: object) -> None:
    """Raise SettingsError for a value that is not valid; one given in code is not parsed."""
    for one in settings_of(type(section)):
        value = getattr(section, one.field)
        if value != one.default and not one.parser.is_valid(value):
            raise _error(one, "another value (hidden)" if one.is_secret else repr(value))


def settings_of(*classes: type[Any]) -> Iterator[Setting]:
    """The settings that sections declare, also those of a process's sections."""
    for cls in classes:
        yield from _declared(cls)
        yield from settings_of(*(part["section"] for part in _sections(cls)))


def flags_of(cls: type[Any]) -> Iterator[Setting]:
    """The settings of a process that have a flag: other users can read a command line."""
    yield from (one for one in _declared(cls) if not one.is_secret)
    for part in _sections(cls):
        found, chosen = flags_of(part["section"]), part["flags"]
        yield from (one for one in found if chosen is None or one.field in chosen)


def add_flags(parser: argparse.ArgumentParser, cls: type[Any]) -> None:
    """A flag for each of these settings; a switch that is off needs no value."""
    for one in flags_of(cls):
        is_switch = one.default is False
        told = f"{one.help} ({one.variable}; {_default(one)})"
        parser.add_argument(
            "--" + one.key.replace("_", "-"),
            metavar="VALUE",
            help=told.replace("%", "%%"),
            nargs="?" if is_switch else None,
            const="true" if is_switch else None,
        )


def in_force(*sections: object) -> tuple[SettingInForce, ...]:
    """The settings of these sections with their values, for the console."""
    return tuple(
        _in_force(one, getattr(section, one.field))
        for section in sections
        for one in settings_of(type(section))
    )


def reference(*sections: type[Any]) -> str:
    """The documentation of these sections: a heading and a table in Markdown for each."""
    return "\n".join(_table(one) for one in sections)


def misspelt(
    given: Iterable[str], known: Collection[str], *, cutoff: float, with_ends: bool = False
) -> Iterator[str]:
    """A warning for each RT4CHART_ name that is unknown and like a known one.

    `with_ends` takes a name for like those that end with it, too. No value is quoted: it may be
    a secret.
    """
    ours = [name.removeprefix(PREFIX) for name in known if name.startswith(PREFIX)]
    for name in sorted(given):
        short = name.removeprefix(PREFIX)
        if name == short or short in ours:
            continue
        ends = [one for one in ours if with_ends and one.endswith(f"_{short}")]
        if meant := ends or get_close_matches(short, ours, n=1, cutoff=cutoff):
            candidates = " or ".join(PREFIX + one for one in meant)
            yield f"{name} is not known: is {candidates} meant?"


def without_credentials(written: str) -> str:
    """A URL with everything before the last @ hidden: a password may stand there."""
    return "…@" + written.rpartition("@")[2] if "@" in written else written


def shown(value: object) -> str:
    """A value as one would write it."""
    if value is None:
        return "off"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, frozenset | tuple) and not hasattr(value, "_fields"):
        found = sorted(map(str, value)) if isinstance(value, frozenset) else map(str, value)
        return ",".join(found) or "none"
    if isinstance(value, Mapping):
        return ",".join(f"{name}={one}" for name, one in value.items()) or "none"
    written = str(value)
    return without_credentials(written.removesuffix(".0") if written != "0.0" else "0") or "none"


def _declared(cls: type[Any]) -> Iterator[Setting]:
    prefix = getattr(cls, "PREFIX", PREFIX)
    for one in fields(cls):
        if "setting" in one.metadata:
            found: Setting = one.metadata["setting"]
            variable = found.variable or prefix + one.name.upper()
            yield replace(found, field=one.name, variable=variable)


def _sections(cls: type[Any]) -> list[Mapping[str, Any]]:
    return [one.metadata for one in fields(cls) if "section" in one.metadata]


def _written(one: Setting, flags: Mapping[str, str | None], environ: Environment) -> str:
    flag = None if one.is_secret else flags.get(one.key)
    # OpenTelemetry's rule: an empty variable is one that is not set.
    texts = [text.strip() for text in (flag, environ.get(one.variable)) if text is not None]
    return next(filter(None, texts), one.empty_means if texts else "")


def _parsed(one: Setting, written: str) -> object:
    try:
        return one.parser(written)
    except ValueError as error:
        if not one.is_secret:
            raise _error(one, repr(without_credentials(written))) from error
        lack = str(error) if isinstance(error, RefusedSecretError) else "another value"
        raise _error(one, f"{lack} (hidden)") from None


def _error(one: Setting, given: str) -> SettingsError:
    return SettingsError(f"{one.variable}: expected {one.parser.expected}; got {given}")


def _default(one: Setting) -> str:
    if one.default is REQUIRED or one.default in ("", None, (), frozenset()):
        return "no default"
    return f"default {shown(one.default)}"


def _in_force(one: Setting, value: object) -> SettingInForce:
    told = ("set" if value else "not set") if one.is_secret else shown(value)
    meaning = f"{one.help} (secret)" if one.is_secret else one.help
    return SettingInForce(one.variable, told, value == one.default, meaning)


def _table(cls: type[Any]) -> str:
    summary = (cls.__doc__ or "").partition("\n")[0]
    rows = "".join(_row(one) for one in settings_of(cls))
    heads = "| Variable | Default | Meaning | Expected |\n|---|---|---|---|\n"
    return f"### {summary.rstrip('.')}\n\n{heads}{rows}"


def _row(one: Setting) -> str:
    default = _default(one).removeprefix("default ").removeprefix("no default")
    cells = (
        f"`{one.variable}`",
        f"`{default}`" if default else "none",
        f"{one.help} (secret: no flag)" if one.is_secret else one.help,
        one.parser.expected,
    )
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"
