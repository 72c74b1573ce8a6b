"""Trails in the store: what is written comes back, and a later verdict replaces them."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otel_rt4chart.spans.model.blame import (
    ChainPlace,
    ClaimBlame,
    InterimVerdict,
    RetrievalBlame,
)
from otel_rt4chart.spans.model.verdict import Decision, Verdict
from otel_rt4chart.verify.core.model import Evidence, Label
from rt4chart_collector.store.answers.trails import MAX_WAY_BYTES, TrailRow, trails_of
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.answers.verifications import verifications_of_trace
from rt4chart_collector.store.engine.connect import Client
from tests.rt4chart_collector.records import NOON, SECOND, verdict

SUMMARY = ChainPlace("s1", "b" * 16, "summarise", "LLM", "summarise")
SOURCE = ChainPlace("kb-1", "c" * 16, "search", "RETRIEVER", "search")
QUOTE = Evidence("s1", 0, 8, "60 days.", "supports")
WAY = (
    InterimVerdict(Label.ENTAILED, (SUMMARY,), 0, (QUOTE,), "its words are there"),
    InterimVerdict(Label.CONTRADICTED, (SOURCE,), 7, (), "“60”, “30”"),
)
BLAME = ClaimBlame(
    1, (SUMMARY,), WAY, RetrievalBlame.DROPPED_BY_RERANKER, (QUOTE,), True, 5, "none"
)
text = st.text(max_size=40)
places = st.builds(ChainPlace, text, text, text, text, text)
quotes = st.builds(
    Evidence, text, st.integers(0, 99), st.integers(0, 99), text, st.just("contradicts")
)
ways = st.builds(
    InterimVerdict,
    st.sampled_from(Label),
    st.lists(places, max_size=3).map(tuple),
    st.integers(0, 9),
    st.lists(quotes, max_size=2).map(tuple),
    text,
)


def traced(*blames: ClaimBlame, **changed: object) -> Verdict:
    """A verdict on an answer with an entailed and a baseless claim, and these trails."""
    return replace(verdict(**changed), trail=blames)  # type: ignore[arg-type]


def stored(client: Client) -> list[TrailRow]:
    """The trails in force of the only trace."""
    found = verifications_of_trace(client, f"{1:032x}")
    return [row for verification in found for row in trails_of(client, verification)]


def test_trail_is_stored_with_the_keys_of_its_claim(any_client: Client) -> None:
    """The columns are for queries, the way for people."""
    insert_verdicts(any_client, [traced(BLAME)])

    (row,) = stored(any_client)
    rows = any_client.query(
        "SELECT Label, StepSpanId, StepName, StepKind, Stage, Retrieval, ReachesSources, Calls, "
        "Problem, SampleRate FROM rt4chart_trails FINAL"
    ).result_rows
    assert row.blame == BLAME
    assert rows == [
        (
            *("baseless", "b" * 16, "summarise", "LLM", "summarise", "dropped_by_reranker"),
            *(1, 5, "none", 0.5),
        )
    ]


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    blame=st.builds(
        ClaimBlame,
        st.just(1),
        st.lists(places, max_size=3).map(tuple),
        st.lists(ways, max_size=3).map(tuple),
        st.sampled_from(RetrievalBlame),
        st.lists(quotes, max_size=2).map(tuple),
        st.booleans(),
        st.integers(0, 99),
        text,
    )
)
def test_any_trail_comes_back_as_it_was(client: Client, blame: ClaimBlame) -> None:
    """Whatever texts a trace has."""
    client.command("TRUNCATE TABLE rt4chart_verifications")
    client.command("TRUNCATE TABLE rt4chart_trails")
    insert_verdicts(client, [traced(blame)])

    (row,) = stored(client)
    assert row.blame == blame


def test_repeated_verdict_is_stored_once(any_client: Client) -> None:
    """A retry after a crash writes the same rows."""
    insert_verdicts(any_client, [traced(BLAME)])
    insert_verdicts(any_client, [traced(BLAME)])

    assert len(stored(any_client)) == 1


def test_later_verdict_replaces_the_trails(any_client: Client) -> None:
    """A claim that no longer fails has none."""
    insert_verdicts(any_client, [traced(BLAME)])
    later = traced(labels=(Label.ENTAILED, Label.ENTAILED), decided_ns=NOON + 20 * SECOND)

    insert_verdicts(any_client, [later])

    assert stored(any_client) == []


def test_verdict_that_became_an_error_has_no_trails(any_client: Client) -> None:
    """There are no claims then to which they belong."""
    insert_verdicts(any_client, [traced(BLAME)])
    failed = traced(BLAME, decision=Decision.ERROR, decided_ns=NOON + 20 * SECOND)

    insert_verdicts(any_client, [failed])

    assert stored(any_client) == []


def test_long_way_is_stored_without_its_evidence(client: Client) -> None:
    """The steps still say where it went."""
    long = InterimVerdict(Label.ENTAILED, (SUMMARY,), 0, (replace(QUOTE, text="x" * 20_000),) * 2)

    insert_verdicts(client, [traced(replace(BLAME, way=(long, *WAY)))])

    (row,) = stored(client)
    ((size,),) = client.query("SELECT length(Way) FROM rt4chart_trails").result_rows
    assert size < MAX_WAY_BYTES
    assert [one.read for one in row.blame.way] == [(SUMMARY,), (SUMMARY,), (SOURCE,)]
    assert all(one.evidence == () for one in row.blame.way)


def test_way_of_a_later_version_is_left_out(client: Client) -> None:
    """The columns still say which step it was."""
    insert_verdicts(client, [traced(BLAME)])
    client.command(
        'INSERT INTO rt4chart_trails SELECT * REPLACE (\'{"way":[{"label":"new"}]}\' AS Way, '
        "'future' AS Retrieval, Version + 1 AS Version) FROM rt4chart_trails"
    )

    (row,) = stored(client)
    assert (row.stage, row.blame.way, row.blame.retrieval) == ("summarise", (), "")
