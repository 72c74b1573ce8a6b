"""What the subcommands of `rt4chart issues` have in common."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from rt4chart_clustering.triage.find_issue import find_issue
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issues import Issue, list_issues


@dataclass(frozen=True, slots=True)
class IssuesSubcommand:
    """A subcommand: `run` gets the time in nanoseconds and returns the exit status.

    `options` are the shared options that it uses, besides --dsn and --json.
    """

    name: str
    usage: str
    help: str
    configure: Callable[[argparse.ArgumentParser], None]
    run: Callable[[Client, argparse.Namespace, int], int]
    options: tuple[str, ...] = ()


def add_id_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the argument of a subcommand for one issue."""
    parser.add_argument("id", help="the issue's id, or its first digits")


def add_ids_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the argument of a subcommand for one issue or several."""
    parser.add_argument("id", nargs="+", help="the issues' ids, or their first digits")


def issues_from(client: Client, options: argparse.Namespace) -> list[Issue]:
    """The issues that the user named, each once."""
    known = list_issues(client)
    found = [find_issue(known, one) for one in options.id]
    return list({issue.id: issue for issue in found}.values())


def issue_from(client: Client, options: argparse.Namespace) -> Issue:
    """The issue that the user named."""
    return find_issue(list_issues(client), options.id)
