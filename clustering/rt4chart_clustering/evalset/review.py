"""A person's look at the cases that wait: in the terminal, one after another."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.text import printable
from otel_rt4chart.verify.core.model import Label
from rt4chart_clustering.evalset.case import EvalCase, case_from, case_row
from rt4chart_clustering.evalset.fit import WORDS, unfit
from rt4chart_collector.store.issues.eval_sets import CaseState, StoredCase

ASKED = "[a]pprove  [r]eject  [w]rite a good answer  [s]kip  [q]uit > "
SHOWN = 1_200


def reviewed(
    cases: Sequence[StoredCase],
    *,
    actor: str,
    ask: Callable[[str], str],
    say: Callable[[str], None],
) -> Iterator[StoredCase]:
    """Each case as the person leaves it; those skipped are not given. EOF ends it, as q does."""
    for number, stored in enumerate(cases, start=1):
        say(f"\n{number} of {len(cases)}\n{shown(opened(stored))}")
        try:
            found = _asked(stored, actor, ask)
        except EOFError:
            return
        if found is None:
            return
        if found is not stored:
            yield found


def _asked(stored: StoredCase, actor: str, ask: Callable[[str], str]) -> StoredCase | None:
    """The case with its new state; itself where it was skipped, None where the person is done."""
    while True:
        match ask(ASKED).strip().lower()[:1]:
            case "a":
                return decided(stored, CaseState.APPROVED, actor=actor)
            case "r":
                return decided(stored, CaseState.REJECTED, actor=actor, note=ask("why? > "))
            case "w":
                if text := ask("a good answer > ").strip():
                    return decided(stored, CaseState.APPROVED, actor=actor, reference=text)
            case "s":
                return stored
            case "q":
                return None


def decided(
    stored: StoredCase,
    state: CaseState,
    *,
    actor: str,
    note: str = "",
    reference: str | None = None,
) -> StoredCase:
    """The case as a person leaves it, with the good answer that they wrote; None leaves it.

    InputError where it is to be approved and nobody could tell from it what the passages said.
    """
    case = opened(stored)
    if state is CaseState.APPROVED and (why := unfit(case.exchange)):
        raise InputError(
            f"{stored.id}: expected a case with all its texts, but {WORDS[why]}: reject it"
        )
    if reference is not None and reference.strip() != case.reference:
        stored = replace(stored, body=body_of(replace(case, reference=reference.strip())))
    return replace(stored, state=state, actor=actor, note=note.strip())


def shown(case: EvalCase) -> str:
    """A case for a terminal: nothing in it can move the cursor or colour the screen."""
    exchange = case.exchange
    lines = [f"question  {printable(exchange.question)}"]
    for one in exchange.passages:
        more = "…" * (len(one.text) > SHOWN)
        lines.append(f"passage   [{printable(one.id)}] {printable(one.text[:SHOWN])}{more}")
    lines.append(f"answer    {printable(exchange.answer)}")
    lines += [
        f"  {one.label:12} {printable(one.text)}"
        for one in case.claims
        if one.label is not Label.NOT_A_CLAIM
    ]
    if case.reference:
        lines.append(f"reference {printable(case.reference)}")
    if case.source.trace_id:
        lines.append(f"trace     {printable(case.source.trace_id)}  {printable(case.source.route)}")
    return "\n".join(lines) + "\n"


def opened(stored: StoredCase) -> EvalCase:
    """The case of a stored body."""
    return case_from(json.loads(stored.body))


def body_of(case: EvalCase) -> str:
    """A case's body for the store."""
    return json.dumps(case_row(case), ensure_ascii=False, sort_keys=True)
