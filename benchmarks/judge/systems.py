"""The systems that the judge's table compares; one is added by a name and a maker in `SYSTEMS`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from otel_rt4chart.verify.core.evidence import and_join
from otel_rt4chart.verify.core.judge import BatchJudge, Judge
from otel_rt4chart.verify.core.model import (
    AnswerLabel,
    AnswerRange,
    DraftClaim,
    Exchange,
    Label,
    Report,
)
from otel_rt4chart.verify.decompose.grounding import locate_claim, repair_drafts
from otel_rt4chart.verify.decompose.rules import decompose
from otel_rt4chart.verify.rates.population import score_of
from otel_rt4chart.verify.text.segment import segment

if TYPE_CHECKING:  # each system loads what it needs alone: its memory and its start are measured
    from otel_rt4chart.verify import Verifier


class Said(NamedTuple):
    """A claim with its verdict: where the answer says it, and which characters are flagged.

    `confidence` is of the label, `unfaithful` is the probability that the claim is contradicted or
    baseless; both lie in [0, 1].
    """

    label: Label
    confidence: float
    unfaithful: float
    range: AnswerRange
    flagged: AnswerRange


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a system says of one answer; `claims` has no sentence that states nothing."""

    label: AnswerLabel
    unfaithful: float
    claims: tuple[Said, ...]


System = Callable[[Exchange], Verdict]


def system(name: str) -> System:
    """The system of that name: one of `SYSTEMS`, else a judge by its name on the command line."""
    return SYSTEMS[name]() if name in SYSTEMS else built(name)


def joined(claims: tuple[Said, ...]) -> Verdict:
    """The AND-join of the labels; the answer is as doubtful as its most doubtful claim."""
    label = and_join(claim.label for claim in claims)
    return Verdict(label, max((claim.unfaithful for claim in claims), default=0.0), claims)


def claims_of(answer: str) -> Iterator[DraftClaim]:
    """The claims by rule, as the embedded judge makes them."""
    return (draft for draft in decompose(segment(answer)) if draft.is_claim)


def flag_all() -> System:
    """Every answer is unfaithful, and every claim of it."""

    def verify(exchange: Exchange) -> Verdict:
        ranges = [draft.range for draft in claims_of(exchange.answer)]
        claims = tuple(Said(Label.BASELESS, 1.0, 1.0, where, where) for where in ranges)
        return Verdict(AnswerLabel.BASELESS, 1.0, claims)

    return verify


def coverage() -> System:
    """Overlap of content words."""
    from benchmarks.judge.coverage import verify

    return verify


def ai_evaluation() -> System:
    """Another tool's path without a model."""
    from benchmarks.judge.heuristic import verify

    return verify


def rules() -> System:
    """The embedded judge by its rules alone; only here is it made."""
    from otel_rt4chart.verify import RulesJudge, Verifier

    return partial(verified, Verifier(RulesJudge()))


DECIDES = ("entailed_below", "contradicted_from", "baseless_from", "marks_from")


def network() -> System:
    """The embedded judge by its network alone: the likelier of entailed and not, without heads."""
    alone = {"intercept": 0.0, "slope": 1.0, "offset": 0.0, "threshold": 0.5}
    heads = {
        "unfaithful": alone | {"weights": {"network": 1.0}},
        "contradicted": alone | {"weights": {"network_kind": 1.0}},
        "decides": dict.fromkeys(DECIDES, 0.5),
    }
    return with_heads(lambda shipped: shipped | heads)


def forced() -> System:
    """The embedded judge where it has to decide every claim, by one threshold."""
    return with_heads(
        lambda shipped: (
            shipped | {"decides": dict.fromkeys(DECIDES, shipped["unfaithful"]["threshold"])}
        )
    )


def with_heads(change: Callable[[dict[str, Any]], dict[str, Any]]) -> System:
    """The embedded judge with other heads than those that ship."""
    import json
    import shutil
    import tempfile
    from pathlib import Path

    from otel_rt4chart.verify import LocalJudge, Verifier
    from rt4chart_models import folder

    with tempfile.TemporaryDirectory() as directory:
        models = shutil.copytree(folder(), Path(directory) / "models")
        heads = models / "head.json"
        heads.write_text(json.dumps(change(json.loads(heads.read_text("utf-8")))), "utf-8")
        judge = LocalJudge(models, threads=int(os.environ.get("RT4CHART_ONNX_THREADS", "0")))
    return partial(verified, Verifier(judge))


def built(name: str) -> System:
    """A judge of the package by its name, through the whole pipeline."""
    from otel_rt4chart.judges.build import build_verifier

    return partial(verified, build_verifier(name))


def verified(verifier: Verifier, exchange: Exchange) -> Verdict:
    """What the pipeline's report says of the answer's claims."""
    report = verifier.verify(exchange)
    return joined(tuple(_said(report, exchange.answer, verifier.judge)))


def _said(report: Report, answer: str, judge: Judge | BatchJudge) -> Iterator[Said]:
    for claim, where in zip(report.claims, _ranges(report, answer, judge), strict=True):
        if claim.label is not Label.NOT_A_CLAIM:
            doubt = score_of(claim.label, claim.confidence)
            sure = 0.0 if claim.confidence is None else claim.confidence
            yield Said(claim.label, sure, doubt, where, claim.answer_range)


def _ranges(report: Report, answer: str, judge: Judge | BatchJudge) -> list[AnswerRange]:
    """Where each claim is said: a report tells only the part of it that is wrong."""
    sentences = segment(answer)
    if not isinstance(judge, BatchJudge) and sentences:
        drafts = repair_drafts(judge.decompose(sentences), sentences)
        if [draft.text for draft in drafts] == [claim.text for claim in report.claims]:
            return [draft.range for draft in drafts]
    return [
        locate_claim(claim.text, sentences[claim.sentence])
        if claim.label.is_unfaithful and claim.sentence >= 0
        else claim.answer_range
        for claim in report.claims
    ]


SYSTEMS: dict[str, Callable[[], System]] = {
    "flag-all": flag_all,
    "coverage": coverage,
    "ai-evaluation": ai_evaluation,
    "rules": rules,
    "network": network,
    "forced": forced,
    "local": partial(built, "local"),
}
