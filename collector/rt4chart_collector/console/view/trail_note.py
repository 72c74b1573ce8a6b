"""Where the failed claims of a route entered: one sentence, and a link to an example."""

from __future__ import annotations

from dataclasses import dataclass

from rt4chart_collector.console.view.filters import interval, percent, plural
from rt4chart_collector.console.view.urls import answer_url
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.rates.trail_shares import TrailShares, stage_shares


@dataclass(frozen=True, slots=True)
class TrailNote:
    """The stage in which most failed claims entered: `share` of `claims`, and the share not known.

    `example_url` is the newest answer with such a claim.
    """

    stage: str
    share: str
    claims: str
    unknown: str
    example_url: str

    @property
    def sentence(self) -> str:
        """For readers without links."""
        unknown = f"; of {self.unknown} it is not known" if self.unknown else ""
        return f"{self.share} of {self.claims} entered in “{self.stage}”{unknown}"


def trail_note(shares: TrailShares | None) -> TrailNote | None:
    """The note on a route's shares; None where no stage is known."""
    top = shares.top if shares is not None else None
    if shares is None or top is None:
        return None
    unknown = next((one.rate.value for one in shares.shares if not one.kind), 0.0)
    return TrailNote(
        stage=top.kind,
        share=f"{percent(top.rate.value)} ({interval(top.rate)})",
        claims=plural(shares.claims, "traced unfaithful claim"),
        unknown=percent(unknown) if unknown else "",
        example_url=answer_url(*top.example),
    )


def route_trail_note(client: Client, scope: QueryScope) -> TrailNote | None:
    """The note on one route in a time; `scope` names the service and the route."""
    return trail_note(stage_shares(client, scope).get((scope.service or "", scope.route or "")))
