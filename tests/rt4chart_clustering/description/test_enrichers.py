"""Enrichers help the rules, and grouping works without them."""

from __future__ import annotations

import json

import pytest

from otel_rt4chart.core.errors import SettingsError
from otel_rt4chart.core.settings import load
from otel_rt4chart.verify.core.model import Clash, Label
from otel_rt4chart.verify.findings.failure_kinds import FailureKind
from rt4chart_clustering.core.settings import ClusteringSettings
from rt4chart_clustering.description.describe import describe_failure, describe_failures
from rt4chart_clustering.description.embedding import HashingEmbedder
from rt4chart_clustering.description.enrichers import NO_ENRICHERS, CrossEncoderTagger, Enrichers
from rt4chart_clustering.description.model_writer import Writer
from rt4chart_clustering.grouping.engine import HdbscanGrouping
from rt4chart_clustering.grouping.run import group_failures
from rt4chart_collector.store.answers.verdicts import insert_verdicts
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.issues.issues import list_issues
from tests.endpoint_server import Answer, Seen, error, text
from tests.otel_rt4chart.verify.llm.served import served
from tests.rt4chart_clustering.made import NOON, SECOND, added, failure, numbers, verdict

CLAIM = "State media reports that a gold mine in the north of the country gave way."
SOURCE = "A pit in the north collapsed in the morning, and miners are missing, it was said."
PHRASE = "a support channel is promised that the source lacks"


def test_without_enrichers_the_rules_and_templates_are_alone() -> None:
    """The fingerprint and the description of each failure, in order."""
    failures = [*numbers(2), *added()[:1]]

    found = describe_failures(failures, NO_ENRICHERS)

    assert found == [describe_failure(one) for one in failures]
    assert [one.fingerprint for one in found] == [
        "fp6:unfaithful:number",
        "fp6:unfaithful:number",
        "fp6:baseless:prior_knowledge",
    ]


def test_marks_are_asked_for_where_the_judge_gave_none() -> None:
    """And never where it did."""
    enrichers = Enrichers(tagger=CrossEncoderTagger())
    open_, judged = (
        failure(1, CLAIM, SOURCE, clashes=clashes) for clashes in ((), (Clash("number", "1", "2"),))
    )

    assert NO_ENRICHERS.difference(open_).kind is FailureKind.ADDITION
    assert enrichers.difference(open_).kind is not FailureKind.ADDITION
    assert enrichers.difference(judged) == NO_ENRICHERS.difference(judged)


def test_a_phrase_describes_what_the_rules_do_not_explain() -> None:
    """And nothing else: what they explain is grouped by its fingerprint."""
    failures = [*numbers(1), *added()[:1]]
    with served(lambda seen: text(json.dumps({"phrase": PHRASE}))) as (server, endpoint):
        texts = [
            one.text for one in describe_failures(failures, Enrichers(writer=Writer(endpoint)))
        ]

    assert texts == [describe_failure(failures[0]).text, f"baseless: {PHRASE}"]
    assert len(server.chats) == 1


def test_an_endpoint_that_is_away_changes_nothing() -> None:
    """Descriptions and names are the templates."""
    failures = added()[:3]
    with served(lambda seen: error(500, "away")) as (_, endpoint):
        enrichers = Enrichers(writer=Writer(endpoint))

        assert describe_failures(failures, enrichers) == describe_failures(failures, NO_ENRICHERS)
        assert enrichers.name("Added to the source · shop", "shop", failures).summary == ""


def test_a_name_is_the_models_where_it_holds() -> None:
    """With a summary."""
    reply = {"title": "Support is promised beyond the source", "summary": "It is made up."}
    with served(lambda seen: text(json.dumps(reply))) as (_, endpoint):
        named = Enrichers(writer=Writer(endpoint)).name("Added", "shop", added()[:3])

    assert named.title == "Support is promised beyond the source · shop"
    assert named.summary == "It is made up"


def test_a_run_with_a_model_writes_its_names_and_summaries(client: Client) -> None:
    """As events: phrases for what no rule explains, a title and a summary for each issue."""

    def script(seen: Seen) -> Answer:
        if '{"phrase"' in seen.system:
            return text(json.dumps({"phrase": PHRASE}))
        return text(json.dumps({"title": "Values are told otherwise", "summary": "It is so."}))

    insert_verdicts(client, [verdict(one) for one in (*numbers(5), *added())])
    with served(script) as (server, endpoint):
        enrichers = Enrichers(writer=Writer(endpoint))
        group_failures(
            client,
            HashingEmbedder(),
            HdbscanGrouping(),
            since_ns=0,
            now_ns=NOON + 3600 * SECOND,
            enrichers=enrichers,
        )

    issues = list_issues(client)
    assert {one.fingerprint for one in issues} == {
        "fp6:unfaithful:number",
        "fp6:baseless:prior_knowledge",
    }
    assert {(one.title, one.summary) for one in issues} == {
        ("Values are told otherwise · billing", "It is so")
    }
    assert len(server.chats) == 12 + 2


def test_a_failure_without_evidence_is_beside_its_nearest_sentence() -> None:
    """Or beside nothing."""
    alone = failure(1, "The trial lasts 60 days.", label=Label.BASELESS)

    assert NO_ENRICHERS.difference(alone).kinds == {FailureKind.NUMBER, FailureKind.ADDITION}


@pytest.mark.parametrize(
    ("field", "default", "other"), [("marks", "none", "local"), ("distill", "none", "llm")]
)
def test_enrichers_are_named_by_variables(field: str, default: str, other: str) -> None:
    """Neither helps unless it is set; another value is refused with the known ones."""
    name = f"RT4CHART_{field.upper()}"

    assert getattr(load(ClusteringSettings, environ={}), field) == default
    assert getattr(load(ClusteringSettings, environ={name: other}), field) == other
    with pytest.raises(SettingsError, match=f"{name}: expected {default} or {other}; got"):
        load(ClusteringSettings, environ={name: "both"})
