from __future__ import annotations

from dataclasses import replace

from otel_rt4chart.spans.model.verdict import Decision, Stage, StagedPassage
from otel_rt4chart.verify.core.model import Label, Passage
from rt4chart_collector.store.answers.claims import (
    CLAIMS,
    ClaimRow,
    EvidenceRange,
    claim_outlines,
    claims_in,
    first_claims,
    outline_of,
)
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.answers.verifications import findings_from, verifications_of
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.rows import read
from rt4chart_collector.store.issues.assignments import Assignment, insert_assignments
from rt4chart_collector.store.issues.issue_events import IssueEvent, record_events, record_merge
from rt4chart_collector.store.issues.issues import Issue, insert_issues, issues_of_answer
from tests.rt4chart_collector.records import NOON, SECOND, VERIFIER, claim, verdict

TRACE, SPAN = f"{1:032x}", f"{1:016x}"
LATER = NOON + 20 * SECOND
CLAIMS_IN_FORCE = f"""
SELECT {CLAIMS.select()} FROM rt4chart_claims FINAL
WHERE IsDeleted = 0 AND TraceId = {{trace:String}} AND VerifierId = {{verifier:String}}
ORDER BY ClaimIndex
"""  # noqa: S608 - our own names


def test_an_answer_comes_back_whole(client: Client) -> None:
    """What the verifier saw and found: texts, counts, cost, findings, passages."""
    told = verdict(1, [Label.ENTAILED, Label.CONTRADICTED, Label.UNDECIDED])
    staged = (
        StagedPassage(Passage("p1", "is 14 days"), (Stage.RETRIEVED, Stage.PROMPT)),
        StagedPassage(Passage("p2", "is lost"), (Stage.RETRIEVED,)),
    )
    insert_verdicts(client, [replace(told, candidate=replace(told.candidate, staged=staged))])

    (found,) = verifications_of(client, TRACE, SPAN)

    assert (found.question, found.answer) == ("How long?", "It is 14 days.")
    assert (found.service, found.route, found.start_ns) == ("shop", "support", NOON + 1)
    assert (found.counts.decided, found.counts.unfaithful, found.counts.undecided) == (2, 1, 1)
    assert (found.cost.calls, found.cost.cache_hits, found.sample_rate) == (3, 1, 0.5)
    assert [(one.name, one.claim, one.passage_ids) for one in found.findings] == [
        ("citation", 0, ("p1",))
    ]
    assert [(one.id, one.is_context) for one in found.passages] == [("p1", True), ("p2", False)]
    assert found.passages[1].stages == {Stage.RETRIEVED}


def test_every_verifier_that_decided_is_there_once(client: Client) -> None:
    """What was judged stands before what was not, the last judgement first."""
    insert_verdicts(client, [verdict(1)])
    insert_verdicts(client, [verdict(1, decided_ns=LATER)])
    insert_verdicts(client, [replace(verdict(1, decided_ns=LATER + 1), verifier="other/1")])
    skipped = verdict(1, decision=Decision.NOT_SAMPLED, decided_ns=LATER + 9)
    insert_verdicts(client, [replace(skipped, verifier="none/1")])

    found = verifications_of(client, TRACE, SPAN)

    assert [(one.verifier, one.decision, one.label) for one in found] == [
        ("other/1", Decision.VERIFIED, "baseless"),
        (VERIFIER, Decision.VERIFIED, "baseless"),
        ("none/1", Decision.NOT_SAMPLED, "none"),
    ]
    assert found[1].version == LATER


def test_an_answer_that_nobody_knows_is_none(client: Client) -> None:
    """A wrong address is no error of the store."""
    assert verifications_of(client, "f" * 32, "f" * 16) == []


def test_claims_come_in_outline_and_whole(client: Client) -> None:
    """The outline has all of them and no words, a page has the wanted ones with everything."""
    insert_verdicts(client, [verdict(1, [Label.ENTAILED, Label.BASELESS, Label.CONTRADICTED])])
    insert_verdicts(client, [replace(verdict(1), verifier="other/1")])
    found = {one.verifier: one for one in verifications_of(client, TRACE, SPAN)}

    outline = claim_outlines(client, found[VERIFIER])
    page = claims_in(client, found[VERIFIER], [2, 7])

    assert [(one.index, one.label) for one in outline] == [
        (0, Label.ENTAILED),
        (1, Label.BASELESS),
        (2, Label.CONTRADICTED),
    ]
    assert outline[0].answer_range == (4, 11)
    assert outline[0].places == (EvidenceRange("p1", 2, 9, "supports"),)
    assert [(one.index, one.claim) for one in page] == [(2, claim(Label.CONTRADICTED))]
    assert claims_in(client, found[VERIFIER], []) == []


def test_a_later_verdict_with_fewer_claims_leaves_none_behind(client: Client) -> None:
    """The claims shown are those of the verdict in force."""
    insert_verdicts(client, [verdict(1, [Label.ENTAILED, Label.BASELESS])])
    insert_verdicts(client, [verdict(1, [Label.ENTAILED], decided_ns=LATER)])

    (found,) = verifications_of(client, TRACE, SPAN)

    assert [one.index for one in claim_outlines(client, found)] == [0]


def test_claims_are_those_of_a_plain_statement_however_they_are_read(client: Client) -> None:
    """In outline, the first of them and by index: replaced and withdrawn ones are not there."""
    client.command("SYSTEM STOP MERGES rt4chart_claims")
    insert_verdicts(client, [verdict(1, [Label.ENTAILED, Label.BASELESS, Label.ENTAILED])])
    insert_verdicts(client, [verdict(2, [Label.UNDECIDED] * 3)])
    insert_verdicts(client, [replace(verdict(1), verifier="other/1")])
    told = verdict(1, [Label.CONTRADICTED, Label.ENTAILED], decided_ns=LATER)
    insert_verdicts(client, [told])

    for one in verifications_of(client, TRACE, SPAN):
        parameters = {"trace": TRACE, "verifier": one.verifier}
        plain = read(client, ClaimRow, CLAIMS_IN_FORCE, parameters)

        assert first_claims(client, one, 9) == plain
        assert first_claims(client, one, 1) == plain[:1]
        assert claims_in(client, one, [1, 2]) == [row for row in plain if row.index in (1, 2)]
        assert claim_outlines(client, one) == list(map(outline_of, plain))
        assert [row.index for row in plain] == [0, 1]
    client.command("SYSTEM START MERGES rt4chart_claims")


def test_the_issues_of_its_claims_are_named_as_they_are_now(client: Client) -> None:
    """A renamed issue has its new name, an alias is its root, a later verdict has none."""
    insert_verdicts(client, [verdict(1, [Label.ENTAILED, Label.BASELESS])])
    (found,) = verifications_of(client, TRACE, SPAN)
    issue = Issue(7, "late", "a:b", "shop", "support", NOON, NOON, 3, (0.5,), "run")
    insert_issues(client, [issue, replace(issue, id=8, title="later")], version=1)
    place = Assignment(
        (TRACE, SPAN, 1), NOON + 1, 7, ("shop", "support", "b"), 0.1, "match", found.version + 1
    )
    insert_assignments(client, [place])
    assert [(one.claim, one.issue, one.title) for one in issues_of_answer(client, found)] == [
        (1, 7, "late")
    ]

    record_events(client, [IssueEvent(8, LATER, "renamed", "Refunds denied")])
    record_merge(client, 7, 8, actor="me", at_ns=LATER)
    assert [(one.issue, one.title) for one in issues_of_answer(client, found)] == [
        (8, "Refunds denied")
    ]

    assert issues_of_answer(client, replace(found, version=found.version + 1)) == []


def test_findings_that_cannot_be_read_are_left_out() -> None:
    """A later version's rows do not break the page."""
    assert findings_from("") == ()
    assert findings_from("{") == ()
    assert findings_from('[1, {"detail": "no name"}, {"name": "new", "unheard_of": 1}]')[
        0
    ].name == ("new")
    (told,) = findings_from('[{"name":"x","evidence":[{"passage_id":"p","text":"t"}],"value":0.5}]')
    assert (told.evidence[0].passage_id, told.value) == ("p", 0.5)
