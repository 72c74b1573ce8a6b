"""All findings of one answer, in the order of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from otel_rt4chart.verify.core.judge import BatchJudge, Judge, ModelJudge
from otel_rt4chart.verify.core.meter import Meter
from otel_rt4chart.verify.core.model import (
    CheckPlan,
    Claim,
    Exchange,
    Finding,
    Label,
    Passage,
    Sentence,
)
from otel_rt4chart.verify.core.steps import Steps
from otel_rt4chart.verify.findings.cherry_picking import (
    CherryPickSearch,
    conflicts,
    main_passage,
    with_both_sides,
)
from otel_rt4chart.verify.findings.citations import (
    BoundedScanner,
    ScanLimitError,
    citation_findings,
)
from otel_rt4chart.verify.findings.dropped_qualifiers import dropped_qualifiers
from otel_rt4chart.verify.findings.failure_kinds import FindingName
from otel_rt4chart.verify.findings.stale import Authority, stale, superseded
from otel_rt4chart.verify.local.rules_judge import RulesJudge

# 200 passages that contradict 300 claims would give 60,000 findings.
MOST_PER_NAME = 20
_LIMITED = (FindingName.CITATION, FindingName.CHERRY_PICKED)
# A baseless claim is on topic if a sentence has this share of its content. Of the faithful answers
# of the training split, .003 have an overreaching claim then (benchmarks/judge/findings.py).
ON_TOPIC = 0.5


class Notes(Protocol):
    """What the pipeline knows about an answer beside its claims."""

    @property
    def scores(self) -> dict[int, float]:
        """Each claim's best lexical link, in [0, 1]."""

    @property
    def linking_error(self) -> str:
        """Why the embedding model was not used; empty if it was."""

    @property
    def compressed(self) -> tuple[int, int] | None:
        """How many sentences a claim was judged on, and of how many; None for all of them."""

    @property
    def context(self) -> Sequence[Sentence]:
        """The sentences of all passages."""

    @property
    def basis(self) -> str:
        """The judge's own sentence on what decided; empty if it gives none."""


def find(
    exchange: Exchange,
    claims: Sequence[Claim],
    notes: Notes,
    search: CherryPickSearch,
    authority: Authority | None = None,
    meter: Meter | None = None,
    plan: CheckPlan | None = None,
) -> Steps[tuple[Finding, ...]]:
    """Every finding; `limit_findings` makes the list of a report from them.

    Only the checks of the `plan` run, or all of them. The search for citations ends at the limit of
    `BoundedScanner`, that for cherry-picked passages at those of `search`.
    """
    # Findings read the finished claims and change no label, so that the rates of labels stay
    # comparable with those of other systems.
    plan = plan or CheckPlan()
    passages = exchange.passages
    picked: tuple[Finding, ...] = ()
    if plan.cherry_picking:
        # What was replaced says nothing against a claim of today.
        left_out = superseded(exchange, authority).keys() | set(map(main_passage, claims))
        unused = [one for one in notes.context if one.passage_id not in left_out]
        picked = yield from search.run(exchange, claims, unused)
        picked = (*picked, *conflicts(claims, notes.context))
    found = [*attribution(with_both_sides(claims, picked), passages)]
    if plan.citations:
        scanner = BoundedScanner(citation_scanner(search.judge), meter)
        cited = citation_findings(exchange.answer, passages, claims, scanner)
        found += _until_limit(FindingName.CITATION, cited)
    found += picked
    if search.problem:
        found.append(_not_searched(FindingName.CHERRY_PICKED, search.problem))
    found += dropped_qualifiers(exchange.answer, claims, exchange.question)
    found += stale(exchange, claims, authority)
    found += overreaching(claims, notes.scores)
    found += _process(notes)
    return tuple(found)


def citation_scanner(judge: Judge | BatchJudge) -> Judge:
    """What compares claims with cited passages: rules, unless the user gave another cheap judge."""
    if isinstance(judge, BatchJudge):
        return RulesJudge()
    return RulesJudge() if isinstance(judge, ModelJudge) else judge


def _until_limit(name: FindingName, found: Iterable[Finding]) -> Iterator[Finding]:
    try:
        yield from found
    except ScanLimitError as error:
        yield _not_searched(name, str(error))


def _not_searched(name: FindingName, reason: str) -> Finding:
    detail = f"{reason}: further findings of {name} were not searched"
    return Finding(FindingName.FINDINGS_LIMITED, detail, kind=name, value=MOST_PER_NAME)


def limit_findings(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings of a report: the first of each name that there can be very many of.

    Statuses are made from all of them before.
    """
    counts: Counter[str] = Counter()
    listed: list[Finding] = []
    for finding in findings:
        counts[finding.name] += 1
        if finding.name not in _LIMITED or counts[finding.name] <= MOST_PER_NAME:
            listed.append(finding)
        elif counts[finding.name] == MOST_PER_NAME + 1:
            what = f"more than {MOST_PER_NAME} findings of {finding.name}"
            detail = f"{what}: the others are not listed"
            name = FindingName.FINDINGS_LIMITED
            listed.append(Finding(name, detail, kind=finding.name, value=MOST_PER_NAME))
    return tuple(listed)


def _process(notes: Notes) -> Iterator[Finding]:
    """How the verdict was reached, if not in the usual way."""
    if notes.compressed is not None:
        read, whole = notes.compressed
        yield Finding(
            FindingName.CONTEXT_COMPRESSED,
            f"the context exceeds one call: a claim was judged on the {read} most relevant of "
            f"{whole} sentences",
            value=read / whole,
        )
    if notes.basis:
        yield Finding(FindingName.DECISION_BASIS, f"the judge, not checked: {notes.basis}")
    if notes.linking_error:
        yield Finding(FindingName.LINKED_BY_WORDS_ONLY, notes.linking_error)


def supporting_passages(claims: Sequence[Claim]) -> frozenset[str]:
    """The ids of the passages that support a claim."""
    return frozenset(
        evidence.passage_id
        for claim in claims
        for evidence in claim.evidence
        if evidence.relation == "supports"
    )


def attribution(claims: Sequence[Claim], passages: Sequence[Passage]) -> Iterator[Finding]:
    """Both findings, for every answer; without passages, utilisation has no value."""
    supporting = supporting_passages(claims)
    ids = tuple(dict.fromkeys(passage.id for passage in passages))
    used = tuple(name for name in ids if name in supporting)
    yield Finding(
        FindingName.CHUNK_ATTRIBUTION,
        f"{len(used)} of {len(ids)} passages support a claim",
        passage_ids=used,
    )
    yield Finding(
        FindingName.CHUNK_UTILISATION,
        "the share of passages that support a claim",
        value=len(used) / len(ids) if ids else None,
    )


def overreaching(claims: Sequence[Claim], scores: Mapping[int, float]) -> Iterator[Finding]:
    """Baseless claims on the topic of the passages: linked to them but not entailed."""
    for number, claim in enumerate(claims):
        if claim.label is Label.BASELESS and scores.get(number, 0.0) >= ON_TOPIC:
            yield Finding(
                FindingName.OVERREACH,
                "the passages cover the topic but do not say it",
                claim=number,
                value=scores[number],
            )
