"""Has a model rewrite an answer that failed, and verifies what it wrote."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from otel_rt4chart.core.errors import JudgeError, SettingsError
from otel_rt4chart.verify.core.cascade import judge_tiers
from otel_rt4chart.verify.core.meter import Meter
from otel_rt4chart.verify.core.model import Action, Exchange, Report
from otel_rt4chart.verify.link.chunks import tokens_of
from otel_rt4chart.verify.llm.conversation import EndpointJudge
from otel_rt4chart.verify.llm.rewrite_task import RewriteTask
from otel_rt4chart.verify.pipeline import Verifier
from otel_rt4chart.verify.text.segment import segment_passages


@dataclass(frozen=True, slots=True)
class Revision:
    """A rewritten answer, and the report on it, in which nothing fails."""

    answer: str
    report: Report


def revise_with(verifier: Verifier, exchange: Exchange, report: Report) -> Revision | None:
    """The answer as the verifier's model rewrites it, if every claim of it is then supported.

    One rewriting and one verification: None if the model fails, if the passages exceed one call, or
    if the new answer is not accepted. `report` is the one on the exchange; without a failure in it
    nothing is asked. SettingsError where no judge of the verifier is at an endpoint.
    """
    judge = judge_tiers(verifier.judge, strict=True)[-1].judge
    if not isinstance(judge, EndpointJudge):
        raise SettingsError(f"expected a judge at an endpoint, such as openai, got {judge.id}")
    sentences = segment_passages(exchange.passages)
    if not report.failures or not sentences or tokens_of(sentences) > judge.input_limit:
        return None
    problems = tuple(_problems(report))
    task = RewriteTask(judge.id, exchange.answer, problems, sentences, exchange.question)
    written = judge.ask(task, Meter(verifier.budget))
    if isinstance(written, JudgeError) or not isinstance(written, str):
        return None
    again = verifier.verify(replace(exchange, answer=written))
    is_accepted = again.advice.action is Action.ACCEPT and again.decided > 0
    return Revision(written, again) if is_accepted else None


def _problems(report: Report) -> Iterator[str]:
    """What is wrong with each failed claim, with the words of the passages."""
    for number, claim in enumerate(report.claims):
        if not claim.is_failure:
            continue
        found = [one for one in report.findings if one.claim == number]
        texts = [one.text for one in claim.evidence if one.relation == "contradicts"]
        texts += [evidence.text for one in found for evidence in one.evidence]
        details = [claim.reason, *(one.detail for one in found), *texts]
        said = "; ".join(dict.fromkeys(filter(None, details)))
        yield f"“{claim.text}” is {claim.status}" + (f": {said}" if said else "")
