"""In which step an exception got lost that limits what an answer says.

A misleading claim is entailed all the way, so a trail of it ends at the sources. What tells the
step is the sentence that limits the claim: the step has read it and does not say it. Wherever that
is in doubt, no step is named.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import Enum, auto

from otel_rt4chart.spans.graph.chain import TraceChain
from otel_rt4chart.spans.model.values import normalize_text
from otel_rt4chart.spans.model.verdict import Verdict
from otel_rt4chart.verify import Node
from otel_rt4chart.verify.core.model import Claim, ClaimStatus, Evidence, Finding, Label
from otel_rt4chart.verify.findings.failure_kinds import FindingName
from otel_rt4chart.verify.language.tokens import content
from otel_rt4chart.verify.text.segment import segment

# A text says the limit if one of its sentences has this share of the limit's words. It leaves the
# limit out if it has no more than that share of the words that the limit adds to the claim.
SAID, LEFT_OUT = 0.8, 0.25
MAX_STEPS = 12  # that are read for one claim

# The verdict on a text by one node alone.
Says = Callable[[str, Node], Label]


class _Told(Enum):
    """What a text says of the limit."""

    STATED = auto()
    LEFT_OUT = auto()
    UNCLEAR = auto()


def limited_claims(verdict: Verdict) -> list[tuple[int, Claim, Evidence]]:
    """The claims that leave out a limit, with their numbers and the sentence that states it.

    A claim that several sentences limit is left out: each may have got lost in another step.
    """
    report = verdict.report
    found = []
    for number, claim in enumerate(report.claims if report is not None else ()):
        limits = _limits_of(number, claim, report.findings) if report is not None else {}
        if claim.label is Label.ENTAILED and len(limits) == 1:
            found.append((number, claim, next(iter(limits.values()))))
    return found


def _limits_of(number: int, claim: Claim, findings: Sequence[Finding]) -> dict[str, Evidence]:
    """The sentences that limit the claim, by their words."""
    limits: Sequence[Evidence] = ()
    if claim.status is ClaimStatus.CHERRY_PICKED:
        limits = [one for one in claim.evidence if one.relation != "supports"]
    elif claim.status is ClaimStatus.QUALIFIER_DROPPED:
        # The sentence that supports the claim limits it, too.
        named = (one for one in findings if one.name == FindingName.DROPPED_QUALIFIER)
        limits = [evidence for one in named if one.claim == number for evidence in one.evidence]
    return {normalize_text(one.text): one for one in limits}


def step_that_left_out(chain: TraceChain, claim: str, limit: str, says: Says) -> str | None:
    """The node that has read the limit of a claim and says the claim without it; None in doubt."""
    nodes = {node.id: node for node in chain.nodes}
    wanted = normalize_text(limit)
    stated = {one.id for one in chain.nodes if wanted in normalize_text(one.text)}
    sources = {name for name in stated if not nodes[name].inputs}
    steps = _steps_over(chain.answer, nodes, sources)
    if not steps or len(steps) > MAX_STEPS or chain.answer in stated:
        return None
    told = dict.fromkeys(sources, _Told.STATED)
    losing: list[str] = []
    for name in steps:
        read = {told.get(one, _Told.LEFT_OUT) for one in nodes[name].inputs}
        if _Told.UNCLEAR in read:
            return None
        if _Told.STATED not in read:
            told[name] = _Told.LEFT_OUT
            continue
        told[name] = _Told.STATED if name in stated else _told(nodes[name], claim, limit, says)
        if told[name] is _Told.UNCLEAR:
            return None
        if told[name] is _Told.LEFT_OUT:
            losing.append(name)
    if told[chain.answer] is _Told.STATED:
        return None
    if chain.answer in losing:
        return chain.answer
    saying = [name for name in losing if says(claim, nodes[name]) is Label.ENTAILED]
    return saying[0] if len(saying) == 1 else None


def _steps_over(answer: str, nodes: Mapping[str, Node], sources: set[str]) -> list[str]:
    """The steps on the ways from these sources to the answer, each after its inputs."""
    ordered: dict[str, bool] = {}
    waiting = [(answer, False)]
    while waiting:
        name, is_done = waiting.pop()
        inputs = nodes[name].inputs
        if is_done:
            ordered[name] = any(one in sources or ordered.get(one, False) for one in inputs)
        elif name not in ordered and inputs:
            waiting.append((name, True))
            waiting += [(one, False) for one in inputs]
    return [name for name, is_over in ordered.items() if is_over]


def _told(node: Node, claim: str, limit: str, says: Says) -> _Told:
    """What the text says of the limit: the judge and the words must agree."""
    stated = content(limit)
    added = {word: weight for word, weight in stated.items() if word not in content(claim)}
    if not added:
        return _Told.UNCLEAR
    sentences = [content(one.text) for one in segment(node.text)]
    best = max((_share(stated, one) for one in sentences), default=0.0)
    whole = _share(added, {word for one in sentences for word in one})
    label = says(limit, node)
    if label is Label.ENTAILED and best >= SAID:
        return _Told.STATED
    if label.is_unfaithful and whole <= LEFT_OUT:
        return _Told.LEFT_OUT
    return _Told.UNCLEAR


def _share(wanted: Mapping[str, float], words: Collection[str]) -> float:
    shared = sum(weight for word, weight in wanted.items() if word in words)
    return shared / sum(wanted.values())
