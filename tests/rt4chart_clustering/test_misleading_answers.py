"""Answers that mislead with true sentences: from verdicts to issues, eval cases and the gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from otel_rt4chart.redaction import build_redactor
from otel_rt4chart.spans.exchange.exchanges import find_candidates
from otel_rt4chart.spans.model.record import SpanRecord
from otel_rt4chart.spans.model.verdict import Candidate, Decision, Verdict
from otel_rt4chart.testing import Script, ScriptedJudge
from otel_rt4chart.verify.core.model import (
    AnswerLabel,
    AnswerRange,
    CheckPlan,
    Claim,
    ClaimStatus,
    Evidence,
    Finding,
    Label,
    Relation,
    Report,
)
from otel_rt4chart.verify.core.rates import Measure
from otel_rt4chart.verify.local.rules_judge import RulesJudge
from otel_rt4chart.verify.pipeline import Verifier
from rt4chart_clustering.description.embedding import HashingEmbedder
from rt4chart_clustering.evalset.case import EvalCase
from rt4chart_clustering.evalset.load import load_release
from rt4chart_clustering.evalset.promote import promote_issue
from rt4chart_clustering.evalset.review import decide_case
from rt4chart_clustering.explain.diagnosis import diagnose, load_failures
from rt4chart_clustering.explain.loss_stage import LossStage
from rt4chart_clustering.gate.answers import NewAnswer
from rt4chart_clustering.gate.evaluate import GateLimits, GateOutcome, evaluate_gate
from rt4chart_clustering.gate.verify_answers import verify_answers
from rt4chart_clustering.grouping.engine import HdbscanGrouping
from rt4chart_clustering.grouping.run import group_failures
from rt4chart_clustering.tickets.build import build_ticket
from rt4chart_clustering.tickets.markup import example_texts
from rt4chart_clustering.triage.ranking import RankedIssue, rank_issues
from rt4chart_collector.store.answers.spans import insert_spans
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.eval_sets import (
    CaseState,
    release,
    stored_cases,
    write_cases,
)
from rt4chart_collector.store.issues.issues import Issue
from tests.rt4chart_clustering.evalset.made import NOON, trace

LATER = NOON + 10**12
TREATMENTS = (
    "outpatient MRI", "dental work", "acupuncture", "laser surgery", "home nursing",
    "spa treatment", "speech therapy", "hearing care", "foot care", "travel medicine",
)  # fmt: skip
GOODS = (
    "books", "shoes", "lamps", "chairs", "phones", "tents", "watches", "bicycles", "carpets",
    "guitars",
)  # fmt: skip


def covered(treatment: str) -> tuple[str, str, str]:
    """A cherry-picked claim, the passage that it stands on, and the one that excludes it."""
    return (
        f"The policy covers {treatment}.",
        f"The policy covers {treatment} at every partner clinic.",
        f"Exclusions: {treatment} is not covered unless pre-authorized.",
    )


def refunded(goods: str) -> tuple[str, str, str]:
    """A claim without its condition, the passage that has it, and one about something else."""
    return (
        f"We refund {goods}.",
        f"We refund {goods} if the receipt is enclosed.",
        "Shops open at nine.",
    )


def spans_and_answer(
    number: int, route: str, claim: str, passages: Sequence[str]
) -> tuple[list[SpanRecord], Candidate]:
    """The trace of an answer that is this claim, and the answer on its route."""
    spans = trace(number, "Tell me about it, please.", claim, passages)
    (answer,) = find_candidates(spans)
    return spans, replace(answer, route=route)


def sentence(number: int, text: str, relation: Relation) -> Evidence:
    """A whole passage as evidence."""
    return Evidence(f"kb-{number}", 0, len(text), text, relation)


def verdict(answer: Candidate, report: Report, sample_rate: float = 1.0) -> Verdict:
    """That report on the answer."""
    return Verdict(
        answer, Decision.VERIFIED, "hand/1", sample_rate, answer.start_ns + 10**9, report
    )


def by_hand(
    claim: str,
    status: ClaimStatus,
    finding: Finding,
    evidence: tuple[Evidence, ...],
    rate: float = 1.0,
) -> Report:
    """The report on one misleading claim; a check found it on that share of the answers."""
    misled = Claim(
        claim, Label.ENTAILED, Label.ENTAILED, 0.9, "hand/1", "attribute",
        AnswerRange(0, len(claim)), 0, evidence, status=status, check_rate=rate,
    )  # fmt: skip
    plan = CheckPlan(cherry_picking=rate)
    return Report(AnswerLabel.ENTAILED, (misled,), "hand/1", (finding,), plan=plan)


def cherry_picked(number: int, treatment: str, *, rate: float = 1.0) -> Verdict:
    """An answer about a treatment that another passage excludes; its spans are stored apart."""
    claim, used, excluded = covered(treatment)
    _, answer = spans_and_answer(number, "coverage", claim, (used, excluded))
    against = sentence(1, excluded, "contradicts")
    found = Finding("cherry_picked", "…", "exclusion", 0, ("kb-1",), (against,))
    evidence = (sentence(0, used, "supports"), sentence(1, excluded, "limits"))
    return verdict(answer, by_hand(claim, ClaimStatus.CHERRY_PICKED, found, evidence, rate))


def without_condition(number: int, goods: str) -> Verdict:
    """An answer that leaves out the condition of its own passage."""
    claim, used, other = refunded(goods)
    _, answer = spans_and_answer(number, "support/refunds", claim, (used, other))
    support = (sentence(0, used, "supports"),)
    found = Finding("dropped_qualifier", "…", "condition", 0, ("kb-0",), support)
    return verdict(answer, by_hand(claim, ClaimStatus.QUALIFIER_DROPPED, found, support))


def store_twenty(client: Client, *, rate: float = 1.0) -> None:
    """Ten answers of each kind, on a route each, with their spans."""
    found = [cherry_picked(at, one, rate=rate) for at, one in enumerate(TREATMENTS, 1)]
    found += [without_condition(at, one) for at, one in enumerate(GOODS, 21)]
    for one in found:
        exchange = one.candidate.exchange
        texts = [passage.text for passage in exchange.passages]
        number = int(one.candidate.trace_id, 16)
        insert_spans(client, trace(number, exchange.question, exchange.answer, texts))
    insert_verdicts(client, found)


def ranked(client: Client) -> list[RankedIssue]:
    """The issues of one grouping run, by title."""
    group_failures(client, HashingEmbedder(), HdbscanGrouping(), since_ns=0, now_ns=LATER)
    return sorted(rank_issues(client, now_ns=LATER), key=lambda one: one.issue.title)


def promoted(client: Client, issue: Issue, name: str) -> list[EvalCase]:
    """The released cases of an issue, all approved."""
    promote_issue(
        client,
        issue,
        name,
        number=10,
        actor="ann",
        now_ns=LATER,
        embedder=HashingEmbedder(),
        redactor=build_redactor(),
    )
    approved = [
        decide_case(one, CaseState.APPROVED, actor="ann") for one in stored_cases(client, name)
    ]
    write_cases(client, name, approved, version=LATER + 1)
    release(client, name, actor="ann", now_ms=LATER // 10**6)
    return load_release(client, name)[1]


def gate(
    cases: Sequence[EvalCase],
    answers: dict[str, NewAnswer],
    verifier: Verifier,
    count: Measure = Measure.EITHER,
) -> GateOutcome:
    """The gate over these answers."""
    result = verify_answers("set", cases, answers, verifier, jobs=1, show=lambda done: None)
    return evaluate_gate(result, GateLimits(0.05, count=count), None)


def test_twenty_misleading_answers_are_two_named_issues(client: Client) -> None:
    """Each with its share of the claims that were checked, as misleading ones."""
    store_twenty(client)

    cherry, condition = ranked(client)

    assert [one.issue.title for one in (cherry, condition)] == [
        "Cherry-picked exclusion · coverage",
        "Condition left out · support/refunds",
    ]
    assert [(one.issue.claims, one.measure, one.traffic.share) for one in (cherry, condition)] == [
        (10, "misleading", 1.0),
        (10, "misleading", 1.0),
    ]
    assert cherry.issue.fingerprint == "fp6:entailed:cherry_picked_exclusion"
    failures = load_failures(client, cherry.issue, limit=10)
    assert {(len(one.used), next(at.relation for at in one.against)) for one in failures} == {
        (1, "limits")
    }
    found = diagnose(client, failures)
    assert dict(found.counts) == {LossStage.LEFT_OUT: 10}


def limited(number: int, limit: str, kind: str) -> Verdict:
    """An answer that leaves out this limit of its own passage."""
    claim, used = "We refund books.", f"We refund books {limit}."
    _, answer = spans_and_answer(number, "support/refunds", claim, (used, "Shops open at nine."))
    support = (sentence(0, used, "supports"),)
    found = Finding("dropped_qualifier", "…", kind, 0, ("kb-0",), support)
    return verdict(answer, by_hand(claim, ClaimStatus.QUALIFIER_DROPPED, found, support))


RARE = (
    ("if the receipt is enclosed", "condition"), ("except audio books", "exclusion"),
    ("within 30 days", "time_limit"), ("of members only", "population"), ("up to $50", "bound"),
)  # fmt: skip


def test_limits_of_many_kinds_on_one_route_are_one_issue(client: Client) -> None:
    """None of them has claims enough for an issue of its own; later ones join it one by one."""
    insert_verdicts(client, [limited(at, *one) for at, one in enumerate(RARE[:4], 1)])
    assert ranked(client) == []

    insert_verdicts(client, [limited(5, *RARE[4])])
    (issue,) = ranked(client)
    insert_verdicts(client, [limited(6, "according to the manager", "source")])
    (later,) = ranked(client)

    assert issue.issue.title == "Qualifier left out · support/refunds"
    assert issue.issue.fingerprint == "fp6:entailed:qualifier"
    assert (issue.issue.claims, later.issue.claims, later.issue.id) == (5, 6, issue.issue.id)


def test_a_kind_with_claims_enough_is_an_issue_beside_the_rare_ones(client: Client) -> None:
    """Also where the rare ones share an issue already."""
    insert_verdicts(client, [limited(at, *one) for at, one in enumerate(RARE, 1)])
    (before,) = ranked(client)
    insert_verdicts(client, [without_condition(at, one) for at, one in enumerate(GOODS, 21)])

    found = ranked(client)

    assert [(one.issue.title, one.issue.claims) for one in found] == [
        ("Condition left out · support/refunds", 10),
        ("Qualifier left out · support/refunds", 5),
    ]
    assert before.issue.id in {one.issue.id for one in found}


def test_a_claim_that_a_check_found_on_a_part_counts_for_all(client: Client) -> None:
    """Drawn on half of the answers, each stands for two."""
    store_twenty(client, rate=0.5)

    cherry, condition = ranked(client)

    assert (cherry.issue.claims, cherry.issue.weighted, cherry.traffic.misleading) == (10, 20, 20)
    assert (condition.issue.weighted, condition.traffic.misleading) == (10, 10)


def test_a_claim_that_misleads_no_longer_leaves_its_issue(client: Client) -> None:
    """A later verdict on the answer replaces the one before."""
    store_twenty(client)
    cherry, _ = ranked(client)
    again = cherry_picked(1, TREATMENTS[0])
    assert again.report is not None
    claims = (replace(again.report.claims[0], status=ClaimStatus.SUPPORTED),)
    report = replace(again.report, claims=claims, findings=())

    insert_verdicts(client, [replace(again, report=report, decided_ns=again.decided_ns + 1)])

    after = next(one for one in ranked(client) if one.issue.id == cherry.issue.id)
    assert (cherry.issue.claims, after.issue.claims) == (10, 9)


def test_ten_answers_that_repeat_the_question_say_so(client: Client) -> None:
    """Not that an exclusion is ignored, which the passage would suggest."""
    asked = "Doesn't the policy cover {}?"
    verifier = Verifier(RulesJudge())
    found = []
    for at, one in enumerate(TREATMENTS, 1):
        passages = (f"{one} is excluded from the policy.", "Members call the desk.")
        (answer,) = find_candidates(
            trace(at, asked.format(one), f"Yes, the policy covers {one}.", passages)
        )
        answer = replace(answer, route="coverage")
        found.append(verdict(answer, verifier.verify(answer.exchange)))
    insert_verdicts(client, found)

    (issue,) = ranked(client)

    assert issue.issue.title == "Repeats the question, not the source · coverage"
    assert issue.measure is Measure.UNFAITHFUL


def test_a_ticket_shows_both_passages(client: Client) -> None:
    """The one that was used, and the one against it."""
    store_twenty(client)
    cherry, condition = ranked(client)
    texts = []
    for one in (cherry, condition):
        failures = load_failures(client, one.issue, limit=10)
        first = min(failures, key=lambda failure: failure.trace_id)
        texts += example_texts(build_ticket(one, diagnose(client, failures), [first]))

    claim, used, excluded = covered(TREATMENTS[0])
    refund, conditional, _ = refunded(GOODS[0])
    assert texts == [
        f"entailed, cherry_picked: {claim}\nused: {used}\nagainst: {excluded}\ntrace: {1:032x}",
        f"entailed, qualifier_dropped: {refund}\nused: {conditional}\ntrace: {21:032x}",
    ]


def test_cases_of_a_misleading_issue_say_what_was_left_out(client: Client) -> None:
    """And which status no new answer should have."""
    store_twenty(client)
    cherry, _ = ranked(client)

    cases = promoted(client, cherry.issue, "coverage")

    assert len(cases) == 10
    assert {one.unwanted for one in cases} == {(ClaimStatus.CHERRY_PICKED,)}
    assert {one.limits for one in cases} == {(covered(name)[2],) for name in TREATMENTS}


@pytest.mark.parametrize(
    ("count", "is_open"),
    [(Measure.EITHER, False), (Measure.MISLEADING, False), (Measure.UNFAITHFUL, True)],
)
def test_the_same_answers_close_the_gate(client: Client, count: Measure, is_open: bool) -> None:
    """Unless only unfaithful claims count."""
    store_twenty(client)
    _, condition = ranked(client)
    cases = promoted(client, condition.issue, "refunds")
    same = {one.id: NewAnswer(one.exchange.answer) for one in cases}

    found = gate(cases, same, Verifier(RulesJudge()), count)

    assert found.is_open == is_open
    assert found.result.statuses == {"qualifier_dropped": 10}
    assert {one.returned for one in found.result.cases} == {("qualifier_dropped",)}


def scripted() -> Verifier:
    """A verifier whose judge reads one passage for each claim, and whose scanner reads the rest."""
    texts = [covered(one) for one in TREATMENTS]
    scripts = {claim: Script(Label.ENTAILED, evidence=(used,)) for claim, used, _ in texts}
    scripts |= {
        f"{one} is not covered unless pre-authorized": Script(
            Label.ENTAILED, evidence=(f"Exclusions: {one}",)
        )
        for one in TREATMENTS
    }
    return Verifier(ScriptedJudge(scripts), scanner=RulesJudge())


def test_verified_answers_go_the_same_way(client: Client) -> None:
    """From the verifier to the issue, its cases, and a gate that the whole truth opens."""
    verifier = scripted()
    for at, one in enumerate(TREATMENTS, 1):
        claim, used, excluded = covered(one)
        spans, answer = spans_and_answer(at, "coverage", claim, (used, excluded))
        insert_spans(client, spans)
        insert_verdicts(client, [verdict(answer, verifier.verify(answer.exchange))])

    (issue,) = ranked(client)
    cases = promoted(client, issue.issue, "coverage")
    same = {one.id: NewAnswer(one.exchange.answer) for one in cases}
    whole = {
        one.id: NewAnswer(f"{one.exchange.answer} But {name} is not covered unless pre-authorized.")
        for one in cases
        for name in TREATMENTS
        if name in one.exchange.answer
    }

    assert issue.issue.title == "Cherry-picked exclusion · coverage"
    assert not gate(cases, same, verifier).is_open
    assert gate(cases, whole, verifier).reasons == ()
