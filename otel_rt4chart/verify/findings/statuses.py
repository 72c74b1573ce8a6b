"""The status of each claim: what its label and its findings together say is wrong with it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from otel_rt4chart.verify.core.model import (
    CheckPlan,
    Claim,
    ClaimStatus,
    Finding,
    Label,
)
from otel_rt4chart.verify.findings.cherry_picking import with_both_sides
from otel_rt4chart.verify.findings.failure_kinds import MISLEADING, FindingName

_ORDER = {status: at for at, status in enumerate(ClaimStatus)}


def with_statuses(
    claims: Sequence[Claim], findings: Sequence[Finding], plan: CheckPlan
) -> tuple[Claim, ...]:
    """The claims with the worst status that applies to each, and the rate of the check behind it.

    A status that several checks would give has the highest of their rates: checks are drawn
    together, so this one ran whenever any of the others did, and the weight is unbiased.
    """
    claims = with_both_sides(claims, findings)
    of_claim: defaultdict[int, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.claim is not None:
            of_claim[finding.claim].append(finding)
    return tuple(_with_status(claim, of_claim[number], plan) for number, claim in enumerate(claims))


def _with_status(claim: Claim, findings: Sequence[Finding], plan: CheckPlan) -> Claim:
    names = {finding.name for finding in findings}
    if claim.label is not Label.ENTAILED:
        return replace(claim, status=_unless_entailed(claim, names, plan))
    found = [MISLEADING[name] for name in names & MISLEADING.keys()]
    if not found:
        return replace(claim, status=ClaimStatus.SUPPORTED)
    worst = min((status for status, _ in found), key=_ORDER.__getitem__)
    rate = max(1.0 if check is None else plan.rate(check) for _, check in found)
    # The reason says what is wrong with the claim, no more what supports it.
    reason = next(one.detail for one in findings if MISLEADING.get(one.name, ("",))[0] is worst)
    return replace(claim, status=worst, check_rate=rate, reason=reason)


def _unless_entailed(claim: Claim, names: set[str], plan: CheckPlan) -> ClaimStatus:
    """The status of a claim that the passages do not entail.

    It has no weight, so a check names it only where that check runs on all answers.
    """
    if claim.label is Label.CONTRADICTED:
        supported = any(evidence.relation == "supports" for evidence in claim.evidence)
        is_picked = supported and plan.cherry_picking == 1.0
        return ClaimStatus.CHERRY_PICKED if is_picked else ClaimStatus.CONTRADICTED
    if claim.label is not Label.BASELESS:
        return ClaimStatus(claim.label)
    if FindingName.SYCOPHANTIC in names and plan.sycophancy == 1.0:
        return ClaimStatus.RESTATES_PREMISE
    if FindingName.OVERREACH in names:
        return ClaimStatus.OVERREACH
    return ClaimStatus.UNLINKED if claim.reason == "unlinked" else ClaimStatus.UNSUPPORTED
