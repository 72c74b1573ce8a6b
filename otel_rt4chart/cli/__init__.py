"""The `rt4chart` command: finds the subcommands that the installed packages declare.

A subcommand is declared apart from its code, so that help and a wrong option are answered before a
database, a model or a web server is imported.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.metadata import entry_points, version
from pkgutil import resolve_name

from otel_rt4chart.core.errors import RT4ChartError
from otel_rt4chart.core.extras import missing_packages

# Each entry point of this group is a sequence of commands.
GROUP = "rt4chart.commands"
# This option of `verify` runs a subcommand that the collector package provides: the core must not
# import the store.
COMMAND_BY_OPTION = {("verify", "--from-store"): "backfill"}


@dataclass(frozen=True, slots=True)
class Command:
    """A subcommand. `options` and `run` are references, `module:function`, imported when needed.

    `options` declares the arguments on a parser; its module imports nothing heavy. `run` gets the
    parsed arguments and returns the exit status: 0 success, 1 failures, 2 wrong usage. `extra` is
    the extra of the distribution that the command needs.
    """

    name: str
    help: str
    options: str
    run: str
    extra: str = ""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the subcommand of the command line; print an RT4ChartError as one line, status 2."""
    argv = resolve_command(sys.argv[1:] if argv is None else argv)
    wanted = argv[0] if argv else ""
    # The version needs none of the subcommands.
    commands = {} if wanted == "--version" else load_commands()
    if wanted and not wanted.startswith("-") and wanted not in commands:
        sys.stderr.write(_unknown_command_message(wanted, [*commands]))
        return 2
    if unreadable := next(filter(_is_unreadable, argv), ""):
        sys.stderr.write(f"rt4chart: expected words in UTF-8; got {unreadable[:80]!a}\n")
        return 2
    options = build_parser(commands, wanted).parse_args(argv)
    try:
        return int(resolve_name(options.run)(options))
    except ModuleNotFoundError as error:
        extra = commands[options.command].extra or "all"
        sys.stderr.write(f"rt4chart {options.command}: {_needs(error.name or '', extra)}")
        return 2
    except RT4ChartError as error:
        sys.stderr.write(f"rt4chart {options.command}: {error}\n")
        return 2
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        return 130


def _is_unreadable(word: str) -> bool:
    """True for a word with a byte that is not UTF-8, unless it is a file's name."""
    is_text = not any("\ud800" <= character <= "\udfff" for character in word)
    return not is_text and not os.path.lexists(word)


def resolve_command(argv: Sequence[str]) -> list[str]:
    """The command line with the subcommand that an option of `COMMAND_BY_OPTION` selects."""
    for (command, option), target in COMMAND_BY_OPTION.items():
        if list(argv[:1]) == [command] and option in argv:
            return [target, *(word for word in argv[1:] if word != option)]
    return list(argv)


def load_commands() -> dict[str, Command]:
    """The subcommands of the installed packages by name, in alphabetical order."""
    declared = (command for entry in entry_points(group=GROUP) for command in entry.load())
    return {command.name: command for command in sorted(declared, key=lambda one: one.name)}


def _unknown_command_message(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name, known, n=1)
    advice = f"did you mean {near[0]}?" if near else "rt4chart --help lists all"
    return f"rt4chart: no command {name!r}: {advice}\n"


def build_parser(commands: Mapping[str, Command], wanted: str = "") -> argparse.ArgumentParser:
    """The parser, with the options of the wanted command alone.

    Its epilog says how to install what other commands lack.
    """
    parser = argparse.ArgumentParser(
        prog="rt4chart",
        description="What share of a RAG application's claims its passages do not support.",
        epilog="" if wanted in commands else "".join(_missing_lines(commands)),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=version("otel-rt4chart"))
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in commands.values():
        subparser = subparsers.add_parser(command.name, help=command.help, description=command.help)
        if command.name == wanted:
            subparser.set_defaults(run=command.run)
            resolve_name(command.options)(subparser)
    return parser


def _missing_lines(commands: Mapping[str, Command]) -> Iterator[str]:
    """A line for each extra that some commands need and this environment lacks."""
    for extra in dict.fromkeys(command.extra for command in commands.values()):
        if missing := missing_packages(extra):
            names = ", ".join(one.name for one in commands.values() if one.extra == extra)
            yield f"{names}: {_needs(', '.join(missing), extra)}"


def _needs(missing: str, extra: str) -> str:
    return f"needs {missing}: pip install 'otel-rt4chart[{extra}]'\n"
