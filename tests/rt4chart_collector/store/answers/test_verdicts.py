"""Verdicts in the store: what comes twice counts once, in the tables and in the rollup."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otel_rt4chart.spans.model.verdict import Decision, Stage, StagedPassage
from otel_rt4chart.verify import Budget, RulesJudge, Verifier
from otel_rt4chart.verify.core.model import Label, Passage
from rt4chart_collector.store.answers.claims import claims_since
from rt4chart_collector.store.answers.verdicts import already_decided, insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.rates.rollup import repair_rollup
from tests.rt4chart_collector.records import NOON, SECOND, VERIFIER, verdict

COUNTS = "ClaimCount, EntailedCount, ContradictedCount, BaselessCount, UndecidedCount"
ALL = [Label.ENTAILED, Label.CONTRADICTED, Label.BASELESS, Label.UNDECIDED, Label.NOT_A_CLAIM]


def rollup(client: Client) -> tuple[float, ...]:
    """The rollup's sums, all routes together."""
    names = "Answers UnfaithfulAnswers Claims Entailed Contradicted Baseless Undecided WClaims"
    sums = ", ".join(f"sum({name})" for name in names.split())
    query = f"SELECT {sums} FROM rt4chart_route_1m"  # noqa: S608 - names written here
    return tuple(client.query(query).result_rows[0])


def verified(client: Client) -> tuple[float, ...]:
    """What the rollup should say, from the verifications in force."""
    row = client.query(
        "SELECT count(), countIf(Label IN ('contradicted', 'baseless')), sum(ClaimCount), "
        "sum(EntailedCount), sum(ContradictedCount), sum(BaselessCount), sum(UndecidedCount), "
        "sum(SampleWeight * ClaimCount) FROM rt4chart_verifications FINAL "
        "WHERE Decision = 'verified' AND IsDeleted = 0"
    ).result_rows[0]
    return tuple(row)


def rows(client: Client, table: str, columns: str = "count()", *, final: str = "FINAL") -> object:
    """The rows of a table, those in force or all that lie there."""
    query = f"SELECT {columns} FROM {table} {final} ORDER BY ALL"  # noqa: S608 - names written here
    return client.query(query).result_rows


def test_verdict_is_stored_with_its_claims(any_client: Client) -> None:
    """Labels, counts, evidence, clashes, findings and costs are in their columns."""
    insert_verdicts(any_client, [verdict(labels=ALL)])

    assert rows(any_client, "rt4chart_verifications", f"Decision, Label, {COUNTS}") == [
        ("verified", "baseless", 4, 1, 1, 1, 1)
    ]
    assert rows(
        any_client,
        "rt4chart_verifications",
        "JudgeCalls, InputTokens, OutputTokens, CacheHits, Findings, SampleWeight, Version",
    ) == [
        (
            *(3, 100, 20, 1),
            '[{"name":"citation","detail":"unknown id [9]","claim":0,"passage_ids":["p1"]}]',
            *(2.0, NOON + 10 * SECOND),
        )
    ]
    assert rows(any_client, "rt4chart_claims", "ClaimIndex, Label") == list(
        enumerate(map(str, ALL))
    )
    assert rows(
        any_client, "rt4chart_claims", "DISTINCT Evidence.DocId, Evidence.Text, Clashes.Found"
    ) == [(["p1"], ["14 days"], ["30"])]


def test_passages_are_stored_with_their_stages(any_client: Client) -> None:
    """Those of the context and those lost before it are told apart, whatever was decided."""
    done = verdict(decision=Decision.NOT_SAMPLED)
    passage = done.candidate.exchange.passages[0]
    staged = (
        StagedPassage(passage, (Stage.RETRIEVED, Stage.PROMPT)),
        StagedPassage(Passage("p2", "Lost."), (Stage.RETRIEVED,)),
    )
    candidate = replace(done.candidate, staged=staged, session="s-1")

    insert_verdicts(any_client, [replace(done, candidate=candidate)])

    columns = "SessionId, Passages.Id, Passages.Stages, Passages.IsContext"
    assert rows(any_client, "rt4chart_verifications", columns) == [
        ("s-1", ["p1", "p2"], ["retrieved,prompt", "retrieved"], [1, 0])
    ]


def test_same_batch_twice_changes_nothing(any_client: Client) -> None:
    """Raw rows, rows in force and rollup are the same after a batch is written again."""
    batch = [verdict(1), verdict(2, [Label.ENTAILED])]
    insert_verdicts(any_client, batch)
    before = rollup(any_client)

    insert_verdicts(any_client, batch[::-1])

    assert rollup(any_client) == before == (2, 2, 3, 2, 0, 1, 0, 6.0)
    assert rows(any_client, "rt4chart_verifications", final="") == [(2,)]
    assert rows(any_client, "rt4chart_claims", final="") == [(3,)]


def test_redelivered_verdict_counts_once(any_client: Client) -> None:
    """The same answer verified again, in another batch, at another time: still one in the rates."""
    insert_verdicts(any_client, [verdict(1), verdict(2)])

    insert_verdicts(any_client, [verdict(1, decided_ns=NOON + 99 * SECOND), verdict(3)])

    assert rows(any_client, "rt4chart_verifications") == [(3,)]
    assert rollup(any_client) == verified(any_client) == (3, 3, 6, 3, 0, 3, 0, 12.0)


def test_later_verdict_takes_its_earlier_claims_away(any_client: Client) -> None:
    """A verification with fewer claims leaves none of the old ones in force."""
    insert_verdicts(any_client, [verdict(1, ALL)])

    insert_verdicts(any_client, [verdict(1, [Label.ENTAILED], decided_ns=NOON + 99 * SECOND)])

    assert rows(any_client, "rt4chart_claims", "ClaimIndex, Label") == [(0, "entailed")]
    assert rollup(any_client) == verified(any_client)
    assert rollup(any_client)[2:4] == (1, 1)


def test_answer_that_changes_its_route_is_in_one_route(any_client: Client) -> None:
    """The route is part of the key, so the row under the old route is taken away."""
    insert_verdicts(any_client, [verdict(1, route="unknown")])

    insert_verdicts(any_client, [verdict(1, route="refunds", decided_ns=NOON + 99 * SECOND)])

    assert rows(any_client, "rt4chart_verifications", "Route") == [("refunds",)]
    assert rows(any_client, "rt4chart_claims", "DISTINCT Route") == [("refunds",)]
    assert any_client.query(
        "SELECT Route, sum(Claims) FROM rt4chart_route_1m GROUP BY Route ORDER BY Route"
    ).result_rows == [("refunds", 2), ("unknown", 0)]


def test_answer_that_was_not_verified_is_recorded_and_rated_nowhere(any_client: Client) -> None:
    """A decision without a report has a row with the label none."""
    insert_verdicts(any_client, [verdict(1, decision=Decision.NOT_SAMPLED)])

    assert rows(any_client, "rt4chart_verifications", f"Decision, Label, {COUNTS}") == [
        ("not_sampled", "none", 0, 0, 0, 0, 0)
    ]
    assert rollup(any_client)[0] == 0


def test_already_decided_knows_verifier_and_answer(any_client: Client) -> None:
    """Decisions are found by answer; another verifier has decided nothing."""
    first, second, third = verdict(1), verdict(2, decision=Decision.NO_CONTEXT), verdict(3)
    insert_verdicts(any_client, [first, second])
    asked = [v.candidate for v in (first, second, third)]

    assert already_decided(any_client, asked, VERIFIER) == {
        (first.candidate.trace_id, first.candidate.span_id): Decision.VERIFIED,
        (second.candidate.trace_id, second.candidate.span_id): Decision.NO_CONTEXT,
    }
    assert already_decided(any_client, asked, "other") == {}
    assert already_decided(any_client, [], VERIFIER) == {}


def test_repair_makes_the_rollup_exact(any_client: Client) -> None:
    """What a crash counted twice or not at all is put right; a second repair changes nothing."""
    insert_verdicts(any_client, [verdict(1), verdict(2, ALL)])
    exact = rollup(any_client)
    any_client.command("INSERT INTO rt4chart_route_1m SELECT * FROM rt4chart_route_1m")
    insert_verdicts(any_client, [verdict(3)])
    any_client.command("TRUNCATE TABLE rt4chart_route_1m")
    any_client.command(
        "INSERT INTO rt4chart_route_1m (ServiceName, Minute, Claims) "
        "SELECT 'ghost', toStartOfMinute(Timestamp), 7 FROM rt4chart_verifications LIMIT 1"
    )

    repair_rollup(any_client, NOON - SECOND)
    repair_rollup(any_client, NOON - SECOND)

    assert rollup(any_client) == verified(any_client) != exact
    assert any_client.query(
        "SELECT sum(Claims) FROM rt4chart_route_1m WHERE ServiceName = 'ghost'"
    ).result_rows == [(0,)]


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    writes=st.lists(
        st.tuples(st.integers(1, 3), st.lists(st.sampled_from(ALL), max_size=4), st.integers(0, 3)),
        min_size=1,
        max_size=5,
    )
)
def test_rollup_always_equals_the_verifications(
    client: Client, writes: list[tuple[int, list[Label], int]]
) -> None:
    """Whatever is written again and again, the rollup says what the verdicts in force say."""
    for step, (number, labels, batch) in enumerate(writes):
        again = verdict(number, labels, decided_ns=NOON + step)
        insert_verdicts(client, [replace(again, duration_ns=batch)])

    assert rollup(client) == verified(client)


def test_a_verdict_has_the_kind_of_its_question(any_client: Client) -> None:
    """An answer that was not verified has none: its rate is not known."""
    insert_verdicts(any_client, [verdict(1), verdict(2, decision=Decision.NOT_SAMPLED)])

    assert rows(any_client, "rt4chart_verifications", "Decision, QuestionKind") == [
        ("not_sampled", ""),
        ("verified", "how many"),
    ]


def test_a_long_question_is_stored_shortened(any_client: Client) -> None:
    """It would be stored with each of the answers of a trace."""
    one = verdict(1)
    exchange = replace(one.candidate.exchange, question="q" * 4_000_000)

    insert_verdicts(any_client, [replace(one, candidate=replace(one.candidate, exchange=exchange))])

    stored = rows(any_client, "rt4chart_verifications", "length(Question), right(Question, 30)")
    assert stored == [(32_768, "[shortened from 4000000 bytes]")]


def test_an_answer_that_is_too_large_is_stored_as_undecided(any_client: Client) -> None:
    """Its one claim is of no sentence; the row has the first."""
    one = verdict(1)
    judge = Verifier(RulesJudge(), budget=Budget(sentences=0))
    report = judge.verify(one.candidate.exchange)

    insert_verdicts(any_client, [replace(one, report=report)])

    claims = any_client.query("SELECT Label, SentenceIndex FROM rt4chart_claims").result_rows
    assert claims == [("undecided", 0)]


def test_what_was_not_said_of_a_claim_is_read_as_unknown(any_client: Client) -> None:
    """A judge that states no confidence, and a claim of which no chunk was asked."""
    given = verdict(labels=[Label.ENTAILED, Label.BASELESS])
    assert given.report is not None
    first, second = given.report.claims
    silent = replace(first, confidence=None, local_label=None)
    told = replace(given, report=replace(given.report, claims=(silent, second)))
    insert_verdicts(any_client, [told])

    found = claims_since(any_client, NOON - SECOND)

    assert [(one.confidence, one.local_label) for one in found] == [
        (None, None),
        (0.75, Label.BASELESS),
    ]
    assert found[0].claim.confidence is None
