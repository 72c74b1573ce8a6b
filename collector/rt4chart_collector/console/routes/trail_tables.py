"""The tables of a route's trails: in which steps failed claims entered, and what retrieval did."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from markupsafe import Markup

from rt4chart_collector.console.answers.chain_view import RETRIEVAL_KINDS
from rt4chart_collector.console.view.filters import interval, link, percent, shortened
from rt4chart_collector.console.view.table import Column, Table
from rt4chart_collector.console.view.urls import answer_url
from rt4chart_collector.store.rates.trail_shares import TrailShare, TrailShares

NOT_KNOWN = "not known"
NO_SHARES = TrailShares(0, 0, ())


def trail_tables(
    stages: TrailShares | None,
    retrievals: TrailShares | None,
    answers_of: Callable[[str], str],
) -> tuple[Table[Any], Table[Any]]:
    """The tables `stages` and `retrieval`; without rows where nothing is known.

    `answers_of` is the address of the answers with a claim of a stage.
    """
    return (
        _table(
            "stages", "Where unfaithful claims entered", "Step", stages or NO_SHARES, {}, answers_of
        ),
        _table(
            "retrieval",
            "What became of the passages",
            "Passage",
            retrievals or NO_SHARES,
            RETRIEVAL_KINDS,
        ),
    )


def _table(
    name: str,
    title: str,
    first: str,
    found: TrailShares,
    words: Mapping[str, str],
    answers_of: Callable[[str], str] | None = None,
) -> Table[Any]:
    def cell(row: TrailShare) -> Markup | str:
        text = shortened(words.get(row.kind, row.kind) or NOT_KNOWN, 80)
        return link(answers_of(row.kind), text) if answers_of else text

    columns: tuple[Column[TrailShare], ...] = (
        Column(
            name.removesuffix("s"),
            first,
            lambda row: row.kind,
            cell,
        ),
        Column("share", "Share", lambda row: row.rate.value, _share_cell),
        Column("low", "Low", lambda row: row.rate.low, is_exported_only=True),
        Column("high", "High", lambda row: row.rate.high, is_exported_only=True),
        Column("claims", "Claims", lambda row: row.claims, is_number=True),
        Column("answers", "Answers", lambda row: row.answers, is_number=True),
        Column(
            "example",
            "Example",
            lambda row: "/".join(map(str, row.example)),
            lambda row: link(answer_url(*row.example), row.example[0][:8]),
        ),
    )
    return Table(name, title, found.shares if found.known else (), columns)


def _share_cell(row: TrailShare) -> Markup:
    return Markup('{} <span class="interval">{}</span>').format(
        percent(row.rate.value), interval(row.rate)
    )
