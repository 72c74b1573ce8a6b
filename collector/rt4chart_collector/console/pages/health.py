"""The pipeline's health: what arrived, what was decided, what failed, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from rt4chart_collector.console.filters import count
from rt4chart_collector.console.health_tables import (
    DEAD,
    DECISIONS,
    PRECISION,
    REASONS,
    WHY,
    Decided,
)
from rt4chart_collector.console.params import ID, bad, text_of
from rt4chart_collector.console.section import Section
from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.coverage import coverage
from rt4chart_collector.store.dead_letters import Letter, letter_counts, letters_of
from rt4chart_collector.store.feedback import judge_precision
from rt4chart_collector.store.given_up import given_up_reasons, last_given_up
from rt4chart_collector.store.trace_decisions import TraceDecision, span_count, trace_decisions

if TYPE_CHECKING:
    from rt4chart_collector.console.console import Console

LETTERS = 100


@dataclass(frozen=True, slots=True)
class Found:
    """What is known of a trace that somebody asks for."""

    trace_id: str
    spans: int
    decisions: Sequence[TraceDecision]
    letters: Mapping[tuple[str, str], Letter]


class Health:
    """GET /health."""

    def __init__(self, console: Console) -> None:
        """Nothing is read yet."""
        self._console = console

    def show(self, request: Request) -> Response:
        """With `?trace=`, what became of the answers of that trace."""
        console = self._console
        since_ns, until_ns = console.window(request)
        verifier, trace = console.verifier(request), text_of(request, "trace", longest=128)
        if trace and not ID.fullmatch(trace):
            raise bad("trace", "a trace id, 32 hexadecimal digits", trace)
        with console.store() as client:
            covered = coverage(client, since_ns=since_ns, until_ns=until_ns, verifier=verifier)
            reasons = given_up_reasons(client, since_ns=since_ns)
            letters = last_given_up(client, since_ns=since_ns, limit=LETTERS)
            waiting = letter_counts(client, verifier).waiting
            precision = judge_precision(client, since_ns=since_ns, until_ns=until_ns)
            found = _found(client, trace.lower(), verifier) if trace else None
        totals: dict[str, int] = {}
        for one in covered.values():
            for decision, answers in one.decisions.items():
                totals[decision] = totals.get(decision, 0) + answers
        return console.tables(
            request,
            [
                DECISIONS.of(_shares(totals)),
                REASONS.of(reasons),
                DEAD.of(letters),
                PRECISION.of(precision),
            ],
            "health.html",
            title="Health",
            figures=_lines(console.facts.status() if console.facts.status else {}),
            has_figures=console.facts.status is not None,
            waiting=waiting,
            trace=trace,
            found=found,
            why=WHY,
            verifier=verifier,
        )


def _found(client: Client, trace_id: str, verifier: str) -> Found:
    return Found(
        trace_id,
        span_count(client, trace_id),
        trace_decisions(client, trace_id),
        letters_of(client, [trace_id], verifier),
    )


def _shares(totals: Mapping[str, int]) -> list[Decided]:
    total = sum(totals.values())
    ordered = sorted(totals.items(), key=lambda one: (-one[1], one[0]))
    return [Decided(name, answers, answers / total) for name, answers in ordered if answers]


def _lines(told: Mapping[str, object]) -> list[tuple[str, str]]:
    """The status of the service, one line a figure."""
    return [(name.replace("_", " "), _said(value)) for name, value in told.items()]


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_said(one)}" for name, one in value.items()) or "none"
    return count(value) if isinstance(value, int | float) else str(value)


def routes(console: Console) -> Sequence[BaseRoute]:
    """GET /health."""
    return [Route("/health", Health(console).show, methods=["GET"])]


SECTION = Section("Health", "/health", routes, order=80)
