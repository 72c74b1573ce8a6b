"""The `rt4chart` command: finds the subcommands that the installed packages declare."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points, version

from otel_rt4chart.core.errors import RT4ChartError

GROUP = "rt4chart.commands"
# An option that makes another subcommand of one: the service's package adds it, not ours.
MEANT = {("verify", "--from-store"): "backfill"}


@dataclass(frozen=True, slots=True)
class Command:
    """One subcommand: `run` returns the exit status (0 done, 1 done with failures, 2 wrong use)."""

    name: str
    help: str
    configure: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def main(argv: Sequence[str] | None = None) -> int:
    """Parse the command line, run one subcommand, and turn our errors into one line each."""
    argv = meant(sys.argv[1:] if argv is None else argv)
    commands, missing = load_commands(argv[0] if argv else "")
    if argv and argv[0] in missing:
        sys.stderr.write(_lacks(argv[0], missing[argv[0]]))
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


def meant(argv: Sequence[str]) -> list[str]:
    """The command line with the subcommand that an option of `MEANT` stands for."""
    for (command, option), other in MEANT.items():
        if list(argv[:1]) == [command] and option in argv:
            return [other, *(word for word in argv[1:] if word != option)]
    return list(argv)


def load_commands(wanted: str = "") -> tuple[dict[str, Command], dict[str, str]]:
    """The subcommands whose packages are installed, and for the others the module they lack.

    Where `wanted` is one of them it alone is loaded: `verify` must not pay for the database.
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


def _lacks(name: str, module: str) -> str:
    return f"rt4chart {name} needs {module}: pip install 'otel-rt4chart[all]'\n"


def build_parser(commands: dict[str, Command], missing: dict[str, str]) -> argparse.ArgumentParser:
    """The parser; a subcommand that lacks a package is named with the extra that brings it."""
    epilog = "".join(_lacks(name, module) for name, module in missing.items())
    parser = argparse.ArgumentParser(
        prog="rt4chart",
        description="What share of a RAG application's claims its passages do not support.",
        epilog=epilog or None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=version("otel-rt4chart"))
    chosen = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in commands.values():
        command.configure(
            chosen.add_parser(command.name, help=command.help, description=command.help)
        )
    return parser
