"""Databases that were grouped by an earlier version."""

from __future__ import annotations

from dataclasses import replace

from rt4chart_clustering.description.embedding import HashingEmbedder
from rt4chart_clustering.description.fingerprint import FINGERPRINT_VERSION
from rt4chart_clustering.grouping.run import run
from rt4chart_collector.store.connect import Client
from rt4chart_collector.store.issue_events import events_of
from rt4chart_collector.store.issues import Issue, insert_issues, list_issues
from rt4chart_collector.store.verdicts import insert_verdicts
from tests.rt4chart_clustering.made import NOON, SECOND, added, numbers, verdict

LATER = NOON + 3600 * SECOND
FORMER = Issue(
    id=77,
    title="Number differs from the source · billing · 5 claims",
    fingerprint=f"{FINGERPRINT_VERSION}:contradicted:number",
    service="shop",
    route="billing",
    first_ns=NOON - 9_000_000,
    last_ns=NOON,
    claims=5,
    centroid=(),
    run="5",
    state="acknowledged",
)


def former(client: Client) -> None:
    """What an earlier version left: two issues, one of them clustered, and their members by run."""
    made = [*numbers(5), *added()[:6]]
    insert_verdicts(client, [verdict(one) for one in made])
    texts = HashingEmbedder().embed(["trial include priority email support"])[0].tolist()
    clustered = replace(
        FORMER,
        id=78,
        fingerprint=f"{FINGERPRINT_VERSION}:baseless:addition",
        centroid=tuple(texts),
        state="open",
    )
    insert_issues(client, [FORMER, clustered], version=1)
    for at, one in enumerate(made):
        client.command(
            "INSERT INTO rt4chart_issue_members VALUES ({issue:UInt64}, {run:String}, "
            "{trace:String}, {span:String}, {index:Int32}, 0.5, "
            "fromUnixTimestamp64Nano({at:Int64}), {version:UInt64})",
            {
                "issue": 77 if at < 5 else 78,
                "run": "5" if at else "4",
                "trace": one.trace_id,
                "span": one.span_id,
                "index": one.claim_index,
                "at": one.time_ns,
                "version": one.time_ns + 2 * SECOND,
            },
        )


def test_issues_of_an_earlier_version_keep_their_ids(client: Client) -> None:
    """Their last members are theirs, what they match joins them, and no id is minted."""
    former(client)

    outcome = run(client, HashingEmbedder(), since_ns=0, now_ns=LATER, min_size=5)

    assert outcome.new == 0
    assert {(one.id, one.claims, one.state) for one in list_issues(client)} == {
        (77, 5, "acknowledged"),
        (78, 6, "open"),
    }
    assert [event.kind for event in events_of(client, 77)] == ["born", "titled", "state"]
    assert {one.first_ns for one in list_issues(client)} == {FORMER.first_ns}


def test_taking_over_is_done_once(client: Client) -> None:
    """The next run finds nothing to take over, and changes nothing."""
    former(client)
    run(client, HashingEmbedder(), since_ns=0, now_ns=LATER, min_size=5)
    before = list_issues(client), events_of(client, 77)

    run(client, HashingEmbedder(), since_ns=0, now_ns=LATER + SECOND, min_size=5)

    assert (list_issues(client), events_of(client, 77)) == before
