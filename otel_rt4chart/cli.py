"""The `rt4chart` command: finds the subcommands that the installed packages declare."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.metadata import entry_points, version

from otel_rt4chart.core.errors import RT4ChartError

GROUP = "rt4chart.commands"
# This option of `verify` runs a subcommand that the collector package provides: the core must not
# import the store.
COMMAND_BY_OPTION = {("verify", "--from-store"): "backfill"}


@dataclass(frozen=True, slots=True)
class Command:
    """One subcommand. `run` returns the exit status: 0 success, 1 failures, 2 wrong usage."""

    name: str
    help: str
    configure: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the subcommand of the command line; print an RT4ChartError as one line, status 2."""
    argv = resolve_command(sys.argv[1:] if argv is None else argv)
    wanted = argv[0] if argv else ""
    # The version needs none of the subcommands.
    commands, missing = ({}, {}) if wanted == "--version" else load_commands(wanted)
    if wanted in missing:
        sys.stderr.write(_missing_package_message(wanted, missing[wanted]))
        return 2
    if wanted and not wanted.startswith("-") and wanted not in commands:
        sys.stderr.write(_unknown_command_message(wanted, [*commands, *missing]))
        return 2
    parser = build_parser(commands, missing)
    options = parser.parse_args(argv)
    try:
        return commands[options.command].run(options)
    except RT4ChartError as error:
        sys.stderr.write(f"rt4chart {options.command}: {error}\n")
        return 2
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        return 130


def resolve_command(argv: Sequence[str]) -> list[str]:
    """The command line with the subcommand that an option of `COMMAND_BY_OPTION` selects."""
    for (command, option), target in COMMAND_BY_OPTION.items():
        if list(argv[:1]) == [command] and option in argv:
            return [target, *(word for word in argv[1:] if word != option)]
    return list(argv)


def load_commands(wanted: str = "") -> tuple[dict[str, Command], dict[str, str]]:
    """The installed subcommands by name, and for the others the missing module by name.

    If `wanted` names one of them, only that one is imported: `verify` must not pay for the import
    of the database.
    """
    commands: dict[str, Command] = {}
    missing: dict[str, str] = {}
    known = entry_points(group=GROUP)
    entries = [entry for entry in known if entry.name == wanted] or known
    for entry in sorted(entries, key=lambda entry: entry.name):
        try:
            commands[entry.name] = entry.load()
        except ModuleNotFoundError as error:
            missing[entry.name] = error.name or "a package"
    return commands, missing


def _missing_package_message(name: str, module: str) -> str:
    return f"rt4chart {name} needs {module}: pip install 'otel-rt4chart[all]'\n"


def _unknown_command_message(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name, known, n=1)
    advice = f"did you mean {near[0]}?" if near else "rt4chart --help lists all"
    return f"rt4chart: no command {name!r}: {advice}\n"


def build_parser(commands: dict[str, Command], missing: dict[str, str]) -> argparse.ArgumentParser:
    """The parser; its epilog lists subcommands with a missing package and how to install it."""
    epilog = "".join(_missing_package_message(name, module) for name, module in missing.items())
    parser = argparse.ArgumentParser(
        prog="rt4chart",
        description="What share of a RAG application's claims its passages do not support.",
        epilog=epilog or None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=version("otel-rt4chart"))
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in commands.values():
        command.configure(
            subparsers.add_parser(command.name, help=command.help, description=command.help)
        )
    return parser
