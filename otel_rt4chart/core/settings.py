"""The declaration of settings, from which reading, flags, help and the reference are derived.

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
from otel_rt4chart.core.settings_parsers import InvalidPartError, Parser, RefusedSecretError

PREFIX = "RT4CHART_"
Environment = Mapping[str, str]
T = TypeVar("T")
REQUIRED: Any = MISSING


@dataclass(frozen=True, slots=True)
class Setting:
    """The declaration of a field. A secret has no flag, and its value is never quoted."""

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
        """The name under which argparse stores the value of the flag."""
        return self.variable.removeprefix(PREFIX).lower()


@dataclass(frozen=True, slots=True)
class SettingInForce:
    """A setting for display; for a secret, only whether it is set."""

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
    """A field of a section; the default REQUIRED means that there is none.

    `unset` computes the value from the environment if neither flag nor variable is set;
    `empty_means` is the text that replaces an empty variable.
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
    """A field computed from several variables; it may hold secrets, and is not displayed."""
    made: T = field(repr=False, metadata={"computed": unset})
    return made


def is_plain_terminal(environ: Environment | None = None) -> bool:
    """True if the user wants no colours (NO_COLOR), or the terminal has none."""
    variables = os.environ if environ is None else environ
    return bool(variables.get("NO_COLOR")) or variables.get("TERM") == "dumb"


def tell_package(variable: str, value: str) -> None:
    """Set a variable that another package reads when it is imported, unless it is set already."""
    os.environ.setdefault(variable, value)


def load(
    cls: type[T], flags: Mapping[str, str | None] | None = None, environ: Environment | None = None
) -> T:
    """Load the settings: a flag takes precedence over its variable, and that over the default.

    Raises SettingsError with the variable, what was expected and what was found.
    """
    variables = os.environ if environ is None else environ
    values: dict[str, Any] = {}
    for part in fields(cls):  # type: ignore[arg-type]
        if "section" in part.metadata:
            values[part.name] = load(part.metadata["section"], flags, variables)
        elif "computed" in part.metadata:
            values[part.name] = part.metadata["computed"](variables)
    for item in _declared(cls):
        if written := _written(item, flags or {}, variables):
            values[item.field] = _parsed(item, written)
        elif item.unset is not None:
            values[item.field] = item.unset(variables)
        elif item.default is REQUIRED:
            raise _error(item, "nothing")
    return cls(**values)


def check(section: object) -> None:
    """Raise SettingsError for an invalid value: one that is set in code was not parsed."""
    for item in settings_of(type(section)):
        value = getattr(section, item.field)
        if value != item.default and not item.parser.is_valid(value):
            raise _error(item, "another value (hidden)" if item.is_secret else repr(value))


def settings_of(*classes: type[Any]) -> Iterator[Setting]:
    """The settings of these classes, including those of their sections."""
    for cls in classes:
        yield from _declared(cls)
        yield from settings_of(*(part["section"] for part in _sections(cls)))


def flags_of(cls: type[Any]) -> Iterator[Setting]:
    """The settings of a process that have a flag: other users can read a command line."""
    yield from (item for item in _declared(cls) if not item.is_secret)
    for part in _sections(cls):
        found, chosen = flags_of(part["section"]), part["flags"]
        yield from (item for item in found if chosen is None or item.field in chosen)


def add_flags(parser: argparse.ArgumentParser, cls: type[Any]) -> None:
    """Add a flag for each of these settings; a switch that is off by default needs no value."""
    for item in flags_of(cls):
        is_switch = item.default is False
        text = f"{item.help} ({item.variable}; {_default(item)})"
        parser.add_argument(
            "--" + item.key.replace("_", "-"),
            metavar="VALUE",
            help=text.replace("%", "%%"),
            nargs="?" if is_switch else None,
            const="true" if is_switch else None,
        )


def in_force(*sections: object) -> tuple[SettingInForce, ...]:
    """The settings of these sections with their values, for the console."""
    return tuple(
        _in_force(item, getattr(section, item.field))
        for section in sections
        for item in settings_of(type(section))
    )


def reference(*sections: type[Any]) -> str:
    """The documentation of these sections: a heading and a table in Markdown for each."""
    return "\n".join(_table(section_class) for section_class in sections)


def misspelt(
    variables: Iterable[str], known: Collection[str], *, cutoff: float, with_ends: bool = False
) -> Iterator[str]:
    """A warning for each unknown RT4CHART_ variable that resembles a known one.

    With `with_ends`, a name also resembles those that end with it. No value is quoted: it may be a
    secret.
    """
    known_names = [name.removeprefix(PREFIX) for name in known if name.startswith(PREFIX)]
    for variable in sorted(variables):
        short = variable.removeprefix(PREFIX)
        if variable == short or short in known_names:
            continue
        ends = [name for name in known_names if with_ends and name.endswith(f"_{short}")]
        if similar := ends or get_close_matches(short, known_names, n=1, cutoff=cutoff):
            candidates = " or ".join(PREFIX + name for name in similar)
            yield f"{variable} is not known: is {candidates} meant?"


def without_credentials(written: str) -> str:
    """A URL with everything before the last @ hidden: it may contain a password."""
    return "…@" + written.rpartition("@")[2] if "@" in written else written


def shown(value: object) -> str:
    """A value as it is written in the environment."""
    if value is None:
        return "off"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, frozenset | tuple) and not hasattr(value, "_fields"):
        found = sorted(map(str, value)) if isinstance(value, frozenset) else map(str, value)
        return ",".join(found) or "none"
    if isinstance(value, Mapping):
        return ",".join(f"{name}={item}" for name, item in value.items()) or "none"
    written = str(value)
    return without_credentials(written.removesuffix(".0") if written != "0.0" else "0") or "none"


def _declared(cls: type[Any]) -> Iterator[Setting]:
    prefix = getattr(cls, "PREFIX", PREFIX)
    for part in fields(cls):
        if "setting" in part.metadata:
            found: Setting = part.metadata["setting"]
            variable = found.variable or prefix + part.name.upper()
            yield replace(found, field=part.name, variable=variable)


def _sections(cls: type[Any]) -> list[Mapping[str, Any]]:
    return [part.metadata for part in fields(cls) if "section" in part.metadata]


def _written(item: Setting, flags: Mapping[str, str | None], environ: Environment) -> str:
    flag = None if item.is_secret else flags.get(item.key)
    # OpenTelemetry's rule (configuration/sdk-environment-variables): empty means unset.
    texts = [text for text in (flag, environ.get(item.variable)) if text is not None]
    found = next(filter(None, texts), item.empty_means if texts else "")
    # A blank text is no empty one: a secret that was lost on the way must not open a door.
    if found and not found.strip():
        raise _error(item, "only white space")
    return found.strip()


def _parsed(item: Setting, written: str) -> object:
    try:
        return item.parser(written)
    except InvalidPartError as error:
        raise SettingsError(f"{item.variable}: {error}") from None
    except ValueError as error:
        if not item.is_secret:
            raise _error(item, repr(without_credentials(written))) from error
        reason = str(error) if isinstance(error, RefusedSecretError) else "another value"
        # `from None`: the traceback of the parser's error would quote the secret.
        raise _error(item, f"{reason} (hidden)") from None


def _error(item: Setting, found: str) -> SettingsError:
    return SettingsError(f"{item.variable}: expected {item.parser.expected}; got {found}")


def _default(item: Setting) -> str:
    if item.default is REQUIRED or item.default in ("", None, (), frozenset()):
        return "no default"
    return f"default {shown(item.default)}"


def _in_force(item: Setting, value: object) -> SettingInForce:
    text = ("set" if value else "not set") if item.is_secret else shown(value)
    meaning = f"{item.help} (secret)" if item.is_secret else item.help
    return SettingInForce(item.variable, text, value == item.default, meaning)


def _table(cls: type[Any]) -> str:
    summary = (cls.__doc__ or "").partition("\n")[0]
    rows = "".join(_row(item) for item in settings_of(cls))
    heads = "| Variable | Default | Meaning | Expected |\n|---|---|---|---|\n"
    return f"### {summary.rstrip('.')}\n\n{heads}{rows}"


def _row(item: Setting) -> str:
    default = _default(item).removeprefix("default ").removeprefix("no default")
    cells = (
        f"`{item.variable}`",
        f"`{default}`" if default else "none",
        f"{item.help} (secret: no flag)" if item.is_secret else item.help,
        item.parser.expected,
    )
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"
