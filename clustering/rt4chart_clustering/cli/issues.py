"""Options of `rt4chart issues`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pkgutil import resolve_name
from typing import Any

from otel_rt4chart.core.arguments import parse_duration_s, parse_name, positive_integer
from otel_rt4chart.core.errors import InputError
from rt4chart_clustering.core.defaults import (
    EXPLAINED_FAILURES,
    MAX_TOKENS,
    MAX_TURNS,
    TICKET_SYSTEMS,
)
from rt4chart_clustering.grouping.issue_state import IssueAction, IssueState
from rt4chart_collector.core.filters.filter_language import FilterError, FilterTerm, parse_filter

_RUN = "rt4chart_clustering.commands.issues:run_subcommand"
_ACTIONS = "rt4chart_clustering.commands.issues_actions"
_SHOW = "rt4chart_clustering.commands.issues_show"


@dataclass(frozen=True, slots=True)
class IssuesSubcommand:
    """A subcommand; the function that `run` refers to gets the client, the options and the time.

    `options` are the shared options that it uses, besides --dsn and --json.
    """

    name: str
    usage: str
    help: str
    run: str
    configure: Callable[[argparse.ArgumentParser], None]
    options: tuple[str, ...] = ()


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the shared options, which may also stand before the subcommand."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "subcommands (rt4chart issues SUBCOMMAND --help shows the options):\n"
        + "".join(f"  {each.usage:22} {each.help}\n" for each in SUBCOMMANDS.values())
        + "\nAn ID has 16 hexadecimal digits; the first ones suffice if no other issue has them.\n"
    )
    parser.add_argument(
        "words", nargs=argparse.REMAINDER, metavar="[SUBCOMMAND] [ID] …", help="default: list"
    )
    _declare(parser, _SHARED)


def execute(options: argparse.Namespace) -> int:
    """Run the subcommand: `list` if there is none, `show` for an id alone."""
    words = list(options.words)
    subcommand = SUBCOMMANDS.get(words[0]) if words else SUBCOMMANDS["list"]
    if subcommand is None:
        subcommand = SUBCOMMANDS["show"]
    elif words:
        words = words[1:]
    idle = [name for name in _SHARED if getattr(options, name) and name not in subcommand.options]
    if idle:
        raise InputError(f"--{idle[0]} has no effect with issues {subcommand.name}: leave it out")
    parser = argparse.ArgumentParser(
        prog=f"rt4chart issues {subcommand.name}", description=subcommand.help
    )
    _declare(parser, subcommand.options)
    subcommand.configure(parser)
    given = parser.parse_args(words, namespace=options)
    return int(resolve_name(_RUN)(subcommand.run, given))


def _declare(parser: argparse.ArgumentParser, names: Collection[str]) -> None:
    parser.add_argument("--dsn", help="the database (default: RT4CHART_DSN)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    for name in names:
        parser.add_argument(f"--{name}", **_SHARED[name])


def states(text: str) -> frozenset[IssueState]:
    """States by name, separated by commas; `all` for all."""
    names = [one.strip() for one in text.split(",") if one.strip()]
    if names == ["all"]:
        return frozenset(IssueState)
    wrong = [one for one in names if one not in list(IssueState)]
    if wrong or not names:
        raise argparse.ArgumentTypeError(
            f"expected some of {', '.join(IssueState)}, or all, got {text!r}"
        )
    return frozenset(IssueState(one) for one in names)


def issue_terms(text: str) -> tuple[FilterTerm, ...]:
    """The terms of a filter; the list's keys are imported when one is given."""
    keys = resolve_name("rt4chart_clustering.triage.filter:ISSUE_KEYS")
    try:
        return parse_filter(text, keys)
    except FilterError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


_SHARED: Mapping[str, dict[str, Any]] = {
    "route": {"help": "only issues of this route"},
    "state": {
        "type": states,
        "metavar": "STATE,…",
        "help": f"{', '.join(IssueState)}, or all (default: all but closed ones)",
    },
    "since": {
        "type": parse_duration_s,
        "metavar": "TIME",
        "help": "with a failure in the last 90m, 24h, 7d, …",
    },
    "filter": {
        "type": issue_terms,
        "metavar": "TEXT",
        "help": "as the console's box: route:refunds mark:growing -owner:ann words",
    },
    "examples": {
        "type": int,
        "metavar": "N",
        "help": "how many examples (default 3; 0 in tickets)",
    },
    "by": {"metavar": "NAME", "help": "your name (default: the system's user)"},
    "note": {"default": "", "metavar": "TEXT", "help": "a reason, recorded in the history"},
}


def _add_no_arguments(parser: argparse.ArgumentParser) -> None:
    """The shared options suffice."""


def _with_id(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="the issue's id, or its first digits")


def _with_ids(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="+", help="the issues' ids, or their first digits")


def _of_action(action: IssueAction, parser: argparse.ArgumentParser) -> None:
    _with_ids(parser)
    parser.set_defaults(action=action)
    if action is IssueAction.RESOLVE:
        parser.add_argument(
            "--in-release",
            type=parse_name,
            metavar="R",
            help="failures of earlier releases do not count",
        )
    if action is not IssueAction.IGNORE:
        return
    parser.add_argument(
        "--for", dest="until_s", type=parse_duration_s, metavar="TIME", help="for 12h, 7d, …"
    )
    parser.add_argument(
        "--failures", type=positive_integer, metavar="N", help="until N more failures"
    )
    parser.add_argument(
        "--a-day", type=positive_integer, metavar="N", help="until N failures within 24 hours"
    )


def _with_url(parser: argparse.ArgumentParser) -> None:
    _with_id(parser)
    parser.add_argument("url", help="the address of the ticket")
    parser.add_argument("--remove", action="store_true", help="remove the link")


def _of_explain(parser: argparse.ArgumentParser) -> None:
    _with_id(parser)
    parser.add_argument(
        "--failures",
        type=int,
        default=EXPLAINED_FAILURES,
        metavar="N",
        help=f"at most N failures (default {EXPLAINED_FAILURES})",
    )
    parser.add_argument("--trace", default="", metavar="ID", help="only the failures of this trace")
    parser.add_argument(
        "--llm", action="store_true", help="let a model read the traces and find the cause"
    )
    parser.add_argument("--model", help="the model (RT4CHART_JUDGE_MODEL)")
    parser.add_argument(
        "--turns",
        type=int,
        default=MAX_TURNS,
        metavar="N",
        help=f"the model's turns (default {MAX_TURNS})",
    )
    parser.add_argument(
        "--tokens",
        type=int,
        default=MAX_TOKENS,
        metavar="N",
        help=f"the model's tokens (default {MAX_TOKENS})",
    )


def _with_owner(parser: argparse.ArgumentParser) -> None:
    _with_ids(parser)
    parser.add_argument("--owner", required=True, metavar="NAME", help='the owner; "" for none')


def _with_text(parser: argparse.ArgumentParser) -> None:
    _with_id(parser)
    parser.add_argument("text", nargs="+", help="the note")


def _with_other(parser: argparse.ArgumentParser) -> None:
    _with_id(parser)
    parser.add_argument("other", help="the issue to merge into it")
    parser.add_argument("--undo", action="store_true", help="undo the merge")


def _with_title(parser: argparse.ArgumentParser) -> None:
    _with_id(parser)
    parser.add_argument(
        "text", nargs="+", metavar="TITLE", help='the title; "" restores the generated one'
    )


def _with_what(parser: argparse.ArgumentParser) -> None:
    _with_id(parser)
    parser.add_argument("what", choices=("merge", "split"), help="which proposal")


def _with_apply(parser: argparse.ArgumentParser) -> None:
    _with_id(parser)
    parser.add_argument("--apply", action="store_true", help="apply the proposal")


def _of_ticket(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", help="the issue (default: all issues with a ticket)")
    parser.add_argument("--to", choices=TICKET_SYSTEMS, help="the ticket system")


def _state_subcommand(action: IssueAction, text: str) -> IssuesSubcommand:
    run, add = f"{_ACTIONS}:move_state", partial(_of_action, action)
    return IssuesSubcommand(action, f"{action} ID …", text, run, add, _WHO_AND_WHY)


_FILTER = ("route", "state", "since", "filter")
_WHO_AND_WHY = ("by", "note")
SUBCOMMANDS: Mapping[str, IssuesSubcommand] = {
    subcommand.name: subcommand
    for subcommand in (
        IssuesSubcommand(
            "list",
            "list",
            "list the issues: regressed, growing, then the worst first",
            f"{_SHOW}:list_issues",
            _add_no_arguments,
            _FILTER,
        ),
        IssuesSubcommand(
            "show",
            "show ID",
            "show one issue; an ID alone does the same",
            f"{_SHOW}:show",
            _with_id,
            ("examples",),
        ),
        IssuesSubcommand(
            "runs",
            "runs",
            "show the last runs of grouping, and what waits",
            f"{_SHOW}:runs",
            _add_no_arguments,
        ),
        IssuesSubcommand(
            "history",
            "history ID",
            "show what happened to it, and who did it",
            f"{_SHOW}:history",
            _with_id,
        ),
        IssuesSubcommand(
            "families",
            "families",
            "group the issues by failure family, across routes",
            "rt4chart_clustering.commands.issues_families:families",
            _add_no_arguments,
            _FILTER,
        ),
        IssuesSubcommand(
            "explain",
            "explain ID",
            "show where the evidence was lost; --llm: why",
            "rt4chart_clustering.commands.issues_explain:run",
            _of_explain,
            ("by",),
        ),
        _state_subcommand(IssueAction.ACKNOWLEDGE, "acknowledge: somebody is working on it"),
        _state_subcommand(
            IssueAction.RESOLVE,
            "mark it as fixed; another matching failure is a regression; --in-release R: "
            "but not one of an earlier release",
        ),
        _state_subcommand(IssueAction.REOPEN, "reopen it"),
        _state_subcommand(
            IssueAction.IGNORE, "ignore it: --for TIME, --failures N, --a-day N, or for ever"
        ),
        IssuesSubcommand(
            "link",
            "link ID URL",
            "link a ticket that exists",
            f"{_ACTIONS}:link",
            _with_url,
            ("by",),
        ),
        IssuesSubcommand(
            "assign",
            "assign ID … --owner NAME",
            "set its owner",
            f"{_ACTIONS}:assign",
            _with_owner,
            _WHO_AND_WHY,
        ),
        IssuesSubcommand(
            "rename", "rename ID TITLE", "set its title", f"{_ACTIONS}:rename", _with_title, ("by",)
        ),
        IssuesSubcommand(
            "refuse",
            "refuse ID WHAT",
            "refuse a proposed merge or split",
            f"{_ACTIONS}:refuse",
            _with_what,
            _WHO_AND_WHY,
        ),
        IssuesSubcommand(
            "note",
            "note ID TEXT",
            "add a note to its history",
            f"{_ACTIONS}:note",
            _with_text,
            ("by",),
        ),
        IssuesSubcommand(
            "merge",
            "merge ID OTHER",
            "merge the other issue into it",
            f"{_ACTIONS}:merge",
            _with_other,
            _WHO_AND_WHY,
        ),
        IssuesSubcommand(
            "split",
            "split ID",
            "show the proposed split; --apply applies it",
            f"{_ACTIONS}:split",
            _with_apply,
            _WHO_AND_WHY,
        ),
        IssuesSubcommand(
            "ticket",
            "ticket [ID] --to SYSTEM",
            "file a ticket, or update it",
            "rt4chart_clustering.commands.issues_ticket:run",
            _of_ticket,
            ("by", "examples"),
        ),
    )
}
