"""The review of pending cases in a terminal, and the decision on a case."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.text import clip, printable
from otel_rt4chart.verify.core.model import Label
from rt4chart_clustering.evalset.case import (
    INELIGIBLE_REASONS,
    EvalCase,
    case_row,
    ineligible_exchange,
    parse_case,
)
from rt4chart_collector.store.issues.eval_sets import CaseState, StoredCase

PROMPT = "[a]pprove  [r]eject  [w]rite a good answer  [s]kip  [q]uit > "
MAX_PASSAGE = 1_200


def review_cases(
    cases: Sequence[StoredCase],
    *,
    actor: str,
    ask: Callable[[str], str],
    say: Callable[[str], None],
) -> Iterator[StoredCase]:
    """Each case that the person has decided; skipped ones are left out. EOF quits, as q does."""
    for number, stored in enumerate(cases, start=1):
        say(f"\n{number} of {len(cases)}\n{format_case(parse_stored_case(stored))}")
        try:
            found = _ask_decision(stored, actor, ask)
        except EOFError:
            return
        if found is None:
            return
        if found is not stored:
            yield found


def _ask_decision(stored: StoredCase, actor: str, ask: Callable[[str], str]) -> StoredCase | None:
    """The decided case; the same case if it was skipped, None if the person quits."""
    while True:
        match ask(PROMPT).strip().lower()[:1]:
            case "a":
                return decide_case(stored, CaseState.APPROVED, actor=actor)
            case "r":
                return decide_case(stored, CaseState.REJECTED, actor=actor, note=ask("why? > "))
            case "w":
                if text := ask("a good answer > ").strip():
                    return decide_case(stored, CaseState.APPROVED, actor=actor, reference=text)
            case "s":
                return stored
            case "q":
                return None


def decide_case(
    stored: StoredCase,
    state: CaseState,
    *,
    actor: str,
    note: str = "",
    reference: str | None = None,
) -> StoredCase:
    """The case after a person's decision; a `reference` replaces its good answer.

    Raises InputError if a case that lacks a text is to be approved.
    """
    case = parse_stored_case(stored)
    if state is CaseState.APPROVED and (why := ineligible_exchange(case.exchange)):
        raise InputError(
            f"{stored.id}: expected a case with all its texts, but {INELIGIBLE_REASONS[why]}: "
            "reject the case"
        )
    if reference is not None and reference.strip() != case.reference:
        stored = replace(stored, body=case_body(replace(case, reference=reference.strip())))
    return replace(stored, state=state, actor=actor, note=note.strip())


def format_case(case: EvalCase) -> str:
    """A case for a terminal, without control characters."""
    exchange = case.exchange
    lines = [f"question  {printable(exchange.question)}"]
    lines += [
        f"passage   [{printable(one.id)}] {printable(clip(one.text, MAX_PASSAGE))}"
        for one in exchange.passages
    ]
    lines.append(f"answer    {printable(exchange.answer)}")
    lines += [
        f"  {one.verdict:12} {printable(one.text)}"
        for one in case.claims
        if one.label is not Label.NOT_A_CLAIM
    ]
    lines += [f"left out  {printable(clip(one, MAX_PASSAGE))}" for one in case.limits]
    if case.reference:
        lines.append(f"reference {printable(case.reference)}")
    if case.source.trace_id:
        lines.append(f"trace     {printable(case.source.trace_id)}  {printable(case.source.route)}")
    return "\n".join(lines) + "\n"


def parse_stored_case(stored: StoredCase) -> EvalCase:
    """The case in a stored body."""
    return parse_case(json.loads(stored.body))


def case_body(case: EvalCase) -> str:
    """A case's body for the store."""
    return json.dumps(case_row(case), ensure_ascii=False, sort_keys=True)
