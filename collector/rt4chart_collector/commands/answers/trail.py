"""`rt4chart trail`: in which step of the chain the failed claims of an answer entered."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.settings import load
from otel_rt4chart.core.text import one_line
from otel_rt4chart.spans.model.blame import ChainPlace, InterimVerdict
from otel_rt4chart.verify.core.model import Label
from rt4chart_collector.console.answers.answer_view import MISLEADING_LABEL
from rt4chart_collector.console.answers.chain_view import RETRIEVALS
from rt4chart_collector.core.printing import write
from rt4chart_collector.core.settings import ServiceSettings
from rt4chart_collector.store.answers.claims import ClaimRow, claims_in
from rt4chart_collector.store.answers.trails import TrailRow, trails_of
from rt4chart_collector.store.answers.verifications import Verification, verifications_of_trace
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.open_database import open_database

CLAIM_CHARS, QUOTE_CHARS, NAME_CHARS = 300, 160, 60
MAX_NAMES = 4
WORDS: Mapping[Label, str] = {
    Label.ENTAILED: "says it",
    Label.CONTRADICTED: "contradicts it",
    Label.BASELESS: "does not say it",
    Label.UNDECIDED: "not decided",
}


@dataclass(frozen=True, slots=True)
class TracedAnswer:
    """A verdict on an answer of the trace, with its failed claims and their trails."""

    verdict: Verification
    trails: Sequence[TrailRow]
    claims: Mapping[int, ClaimRow]


def execute(options: argparse.Namespace) -> int:
    """Print the trails of a trace's answers."""
    dsn = load(ServiceSettings, {"dsn": options.dsn}).dsn
    with open_database(dsn, needs="rt4chart_trails") as client:
        found = traced_answers(client, options.trace_id.strip().lower(), options.verifier)
    document = {"answers": [_as_json(answer) for answer in found]}
    write(document, "\n".join(trail_lines(found)), as_json=options.json)
    return 0


def traced_answers(client: Client, trace_id: str, verifier: str = "") -> list[TracedAnswer]:
    """The verdicts on the answers of a trace; InputError for one that is not stored."""
    verdicts = [
        one
        for one in verifications_of_trace(client, trace_id)
        if one.verifier == (verifier or one.verifier)
    ]
    if not verdicts:
        raise InputError(
            f"expected the id of a trace with a verified answer, got {one_line(trace_id, 80)!r}"
            f"{f' with a verdict of {verifier}' if verifier else ''}: the page of an answer shows "
            "its trace"
        )
    found = []
    for verdict in verdicts:
        trails = trails_of(client, verdict)
        claims = claims_in(client, verdict, [row.index for row in trails])
        found.append(TracedAnswer(verdict, trails, {claim.index: claim for claim in claims}))
    return found


def trail_lines(found: Sequence[TracedAnswer]) -> Iterator[str]:
    """The way of each failed claim, from the answer towards its sources."""
    for answer in found:
        verdict = answer.verdict
        name = one_line(verdict.route, NAME_CHARS) or "(no route)"
        failed = verdict.counts.unfaithful
        yield (
            f"{name} {verdict.span_id}: {failed} of {verdict.counts.decided} decided claims "
            f"unfaithful, by {one_line(verdict.verifier, NAME_CHARS)}"
        )
        if not answer.trails:
            yield _why_none(verdict)
        for row in answer.trails:
            yield ""
            yield from _claim_lines(row, answer.claims.get(row.index))


def _why_none(verdict: Verification) -> str:
    if verdict.decision != "verified":
        return f"  not verified: {verdict.decision.replace('_', ' ')}"
    if not verdict.counts.unfaithful:
        return "  nothing to trace"
    return (
        "  not traced: it was made in one step, or trails were off (RT4CHART_LAYERS, layer trail)"
    )


def _claim_lines(row: TrailRow, claim: ClaimRow | None) -> Iterator[str]:
    text = one_line(claim.text, CLAIM_CHARS) if claim is not None else "(no longer stored)"
    label = row.label if row.label.is_unfaithful else MISLEADING_LABEL
    yield f"claim {row.index}, {label}: {text}"
    blamed = {place.node for place in row.way.blamed}
    is_answer = bool(blamed) and not any(
        place.node in blamed for step in row.way.way for place in step.read
    )
    yield f"  answer{_guilt(row) if is_answer else ''}"
    for depth, step in enumerate(row.way.way, 1):
        yield from _step_lines(row, step, "  " * depth, blamed)
    if row.problem:
        yield f"  not known in which step: {row.problem}"
    if row.retrieval in RETRIEVALS:
        yield f"  {RETRIEVALS[row.retrieval]}"
    for one in row.way.lost:
        yield f"    {one_line(one.passage_id, NAME_CHARS)}: “{one_line(one.text, QUOTE_CHARS)}”"


def _step_lines(
    row: TrailRow, step: InterimVerdict, indent: str, blamed: set[str]
) -> Iterator[str]:
    """What was read in one step of the search, what it says, and the guilty step among it."""
    guilty = [place for place in step.read if place.node in blamed]
    others = [place for place in step.read if place.node not in blamed]
    for place in guilty:
        yield f"{indent}└ {_name(place)}: {WORDS.get(step.label, step.label)}{_guilt(row)}"
    if others:
        more = len(others) + step.more - MAX_NAMES
        names = ", ".join(map(_name, others[:MAX_NAMES])) + (f" and {more} more" * (more > 0))
        said = "" if guilty else f": {WORDS.get(step.label, step.label)}"
        yield f"{indent}└ {names}{said}"
    for one in step.evidence[:2]:
        yield f"{indent}    “{one_line(one.text, QUOTE_CHARS)}”"


def _guilt(row: TrailRow) -> str:
    if not row.label.is_unfaithful:
        return "   ✗ left out here"
    return "   ✗ entered here" if len(row.way.blamed) == 1 else "   ? may have entered here"


def _name(place: ChainPlace) -> str:
    stage = one_line(place.stage or place.name, NAME_CHARS)
    is_own = place.node.startswith(place.span_id) if place.span_id else not place.node
    return stage if is_own else f"{stage} {one_line(place.node, NAME_CHARS)}".strip()


def _as_json(answer: TracedAnswer) -> dict[str, object]:
    verdict = answer.verdict
    return {
        "trace_id": verdict.trace_id,
        "span_id": verdict.span_id,
        "service": verdict.service,
        "route": verdict.route,
        "verifier": verdict.verifier,
        "unfaithful": verdict.counts.unfaithful,
        "decided": verdict.counts.decided,
        "trails": [
            {
                **asdict(row.blame),
                "text": answer.claims[row.index].text if row.index in answer.claims else None,
                "label": row.label,
                "stage": row.stage,
            }
            for row in answer.trails
        ],
    }
