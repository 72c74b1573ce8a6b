"""An eval set whose cases wait for a person."""

from __future__ import annotations

from otel_rt4chart.verify.core.model import Exchange, Label, Passage
from rt4chart_clustering.evalset.case import EvalCase, LabelledClaim
from rt4chart_clustering.evalset.review import case_body
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.eval_sets import CaseState, StoredCase, write_cases

NAME = "regressions"


def fill_set(client: Client, words: str, cases: int = 6) -> None:
    """Cases of the set, each with `words` in all that a person reads."""
    write_cases(client, NAME, [_case(f"case-{at}", words) for at in range(cases)], version=1)


def _case(name: str, words: str) -> StoredCase:
    answer = f"The free trial lasts 30 days. {words}"
    claim = LabelledClaim(f"It lasts 30 days. {words}", Label.CONTRADICTED, 21, 28)
    passages = tuple(Passage(f"kb-{at} {words}", f"It lasts 14 days. {words}") for at in range(3))
    exchange = Exchange(f"How long? {words}", passages, answer)
    body = case_body(EvalCase(name, exchange, (claim,)))
    return StoredCase(name, CaseState.PENDING, 7, body, f"ann {words}", words)
