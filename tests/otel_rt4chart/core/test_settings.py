"""A setting is declared once; values, errors, flags, help and the reference follow from it."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import pytest

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.settings import (
    REQUIRED,
    Environment,
    SettingInForce,
    add_flags,
    check,
    computed,
    flags_of,
    in_force,
    load,
    reference,
    section,
    setting,
    settings_of,
    shown,
)
from otel_rt4chart.core.settings_parsers import (
    OFF,
    Address,
    Parser,
    address,
    bearer_token,
    boolean,
    host_names,
    http_urls,
    integer,
    name_set,
    names,
    networks,
    or_off,
    text,
)


def home(environ: Environment) -> str:
    """What the environment says where the path itself is not given."""
    return environ.get("HOME", "/")


@dataclass(frozen=True, slots=True)
class Kettle:
    """Settings of a kettle."""

    litres: int = setting(2, "how much it boils, 100% water", integer(1, 5, "litres"))
    whistle: bool = setting(False, "whether it whistles", boolean)
    path: str = setting("", "where it stands", text, unset=home)
    port: Address | None = setting(
        Address("127.0.0.1", 80), "where it listens", or_off(address, None), empty_means=OFF
    )
    key: str = setting("", "what opens it", bearer_token, secret=True)

    def __post_init__(self) -> None:
        """Refuse values that are not valid."""
        check(self)


@dataclass(frozen=True, slots=True)
class Stove:
    """Settings of a stove."""

    PREFIX: ClassVar[str] = "RT4CHART_STOVE_"

    fuel: str = setting(REQUIRED, "what it burns", text)
    rings: Mapping[str, str] = computed(lambda environ: {"of": environ.get("RINGS", "")})
    brand: str = setting("", "who made it", text, variable="MAKER")


@dataclass(frozen=True, slots=True)
class Kitchen:
    """All settings of a kitchen."""

    stove: Stove = section(Stove, flags=("fuel",))
    kettle: Kettle = section(Kettle)


def test_a_process_is_loaded_whole() -> None:
    """A flag wins over its variable, which wins over the default; a secret has no flag."""
    flags = {"litres": "4", "stove_fuel": "gas", "key": "from-a-flag", "whistle": None}
    environ = {
        "RT4CHART_LITRES": "3",
        "RT4CHART_WHISTLE": "TRUE",
        "RT4CHART_KEY": " s3cret\n",
        "MAKER": "Ofen",
        "RINGS": "four",
        "HOME": "/home/it",
    }

    assert load(Kitchen, flags, environ) == Kitchen(
        Stove("gas", {"of": "four"}, "Ofen"),
        Kettle(4, True, "/home/it", Address("127.0.0.1", 80), "s3cret"),
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [({}, Address("127.0.0.1", 80)), ({"RT4CHART_PORT": "", "RT4CHART_LITRES": ""}, None)],
)
def test_an_empty_variable_is_not_set_unless_it_means_something(
    given: dict[str, str], expected: Address | None
) -> None:
    """Only a declaration gives it a meaning."""
    found = load(Kettle, environ=given)

    assert (found.port, found.litres) == (expected, 2)


@pytest.mark.parametrize(
    ("cls", "environ", "error"),
    [
        (Kettle, {"RT4CHART_LITRES": "9"}, "RT4CHART_LITRES: expected litres from 1 to 5; got '9'"),
        (Kettle, {"RT4CHART_PORT": "me:pw@h"}, "HOST:PORT with an IP address or localhost, or off"),
        (Kettle, {"RT4CHART_PORT": "me:pw@h"}, "; got '…@h'"),
        (Kettle, {"RT4CHART_KEY": "two words"}, "; got another value (hidden)"),
        (Stove, {}, "RT4CHART_STOVE_FUEL: expected a text; got nothing"),
    ],
)
def test_an_error_names_variable_expectation_and_value(
    cls: type, environ: dict[str, str], error: str
) -> None:
    """A password in a URL and a secret are not quoted."""
    with pytest.raises(SettingsError, match=re.escape(error)):
        load(cls, environ=environ)


@pytest.mark.parametrize("blank", [" ", "\n", "\t \n"])
@pytest.mark.parametrize("name", ["KEY", "PATH", "LITRES", "PORT", "WHISTLE"])
def test_a_blank_variable_is_invalid_whatever_the_setting(name: str, blank: str) -> None:
    """Only an empty one counts as not set: a lost secret must not open a door."""
    with pytest.raises(SettingsError, match=f"RT4CHART_{name}: expected .*; got only white space"):
        load(Kettle, environ={f"RT4CHART_{name}": blank})


@pytest.mark.parametrize("parser", [names, name_set, networks, host_names, http_urls])
def test_a_list_of_commas_alone_is_no_list(parser: Parser[object]) -> None:
    """Whose names were lost on the way must not count as not set."""
    with pytest.raises(ValueError, match=","):
        parser(" , ,")


def test_a_value_given_in_code_is_checked_too() -> None:
    """The error shows it, unless it is a secret."""
    with pytest.raises(SettingsError, match="RT4CHART_LITRES: expected litres from 1 to 5; got 9"):
        Kettle(litres=9)
    with pytest.raises(SettingsError, match=r"RT4CHART_KEY: .*; got another value \(hidden\)"):
        Kettle(key="two words")


def test_a_secret_is_in_no_representation() -> None:
    """Of the settings or of those in force; nor are values that are no single variable."""
    kitchen = load(Kitchen, {"stove_fuel": "gas"}, {"RT4CHART_KEY": "s3cret", "RINGS": "s3cret"})

    assert "s3cret" not in repr(kitchen)
    assert in_force(kitchen.stove, kitchen.kettle) == (
        SettingInForce("RT4CHART_STOVE_FUEL", "gas", False, "what it burns"),
        SettingInForce("MAKER", "none", True, "who made it"),
        SettingInForce("RT4CHART_LITRES", "2", True, "how much it boils, 100% water"),
        SettingInForce("RT4CHART_WHISTLE", "false", True, "whether it whistles"),
        SettingInForce("RT4CHART_PATH", "/", False, "where it stands"),
        SettingInForce("RT4CHART_PORT", "127.0.0.1:80", True, "where it listens"),
        SettingInForce("RT4CHART_KEY", "set", False, "what opens it (secret)"),
    )


def test_flags_are_those_of_a_process_without_secrets() -> None:
    """A switch needs no value; the help names variable and default."""
    parser = argparse.ArgumentParser(prog="cook")
    add_flags(parser, Kitchen)
    told = " ".join(parser.format_help().split())

    assert [one.key for one in flags_of(Kitchen)] == [
        "stove_fuel",
        "litres",
        "whistle",
        "path",
        "port",
    ]
    assert "how much it boils, 100% water (RT4CHART_LITRES; default 2)" in told
    assert "what it burns (RT4CHART_STOVE_FUEL; no default)" in told
    given = vars(parser.parse_args(["--whistle", "--litres", "5", "--stove-fuel", "gas"]))
    assert load(Kitchen, given, {}).kettle == Kettle(litres=5, whistle=True, path="/")


def test_the_reference_is_a_table_of_each_section() -> None:
    """A character that ends a cell is escaped."""
    assert reference(Stove) == (
        "### Settings of a stove\n\n"
        "| Variable | Default | Meaning | Expected |\n|---|---|---|---|\n"
        "| `RT4CHART_STOVE_FUEL` | none | what it burns | a text |\n"
        "| `MAKER` | none | who made it | a text |\n"
    )
    assert "| what opens it (secret: no flag) |" in reference(Kettle)
    assert len([*settings_of(Kitchen)]) == 7


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "off"),
        (True, "true"),
        (0.0, "0"),
        (60.0, "60"),
        (0.15, "0.15"),
        ((), "none"),
        (frozenset({"b", "a"}), "a,b"),
        ({"a": 0.5}, "a=0.5"),
        (Address("::1", 80), "[::1]:80"),
        ("http://me:pw@db/otel", "…@db/otel"),
    ],
)
def test_a_value_is_shown_as_one_would_write_it(value: object, expected: str) -> None:
    """Without a password."""
    assert shown(value) == expected
